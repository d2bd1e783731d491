#include "engine/convert/quantize_file.h"

#include <algorithm>
#include <cmath>
#include <format>
#include <limits>
#include <span>

#include "engine/base/error.h"
#include "engine/gguf/writer.h"
#include "engine/quant/quant.h"

namespace hearth::convert {

using gguf::Type;

namespace {

/// Values that one thread converts between two looks at the stop token: a few milliseconds of work.
constexpr uint64_t kPieceValues = 1 << 16;
/// Pieces that are handed out together, and bytes that are copied at once.
constexpr uint64_t kBatchPieces = 32, kCopyBytes = 4 << 20;

bool isQuantised(Type type) { return gguf::typeInfo(type).block_elements > 1; }

/// Quantising these loses no more than the new type itself does.
bool isGoodSource(Type type) {
    return type == Type::F32 || type == Type::F16 || type == Type::BF16 || type == Type::Q8_0;
}

std::string inGib(uint64_t bytes) { return std::format("{:.2f} GiB", static_cast<double>(bytes) / (1 << 30)); }

void refuseSameFile(const gguf::File& file, const std::filesystem::path& target) {
    std::filesystem::path partial = target;
    partial += ".part";   // what the writer fills before it renames
    for (const std::filesystem::path& shard : file.shards())
        for (const std::filesystem::path& written : {target, partial}) {
            std::error_code not_there;
            if (std::filesystem::equivalent(shard, written, not_there) && !not_there)
                throw Error("cannot write " + target.string(), "that is the file which is to be quantised",
                            "Choose another name for the new file");
        }
}

void refuseLossySources(std::span<const TensorPlan> plan) {
    for (const TensorPlan& part : plan) {
        const Type from = part.tensor->type;
        if (from == part.type || part.type == Type::F32 || isGoodSource(from)) continue;
        throw Error("cannot quantise this file",
                    std::format("it is quantised already ({} is {}), and rounding twice costs quality",
                                part.tensor->name, gguf::typeInfo(from).name),
                    "Take the F16, BF16 or Q8_0 file of the model, or allow requantising");
    }
}

void checkImportance(const Importance& importance, std::span<const TensorPlan> plan) {
    bool any = false;
    for (const TensorPlan& part : plan) {
        const auto found = importance.find(part.tensor->name);
        if (found == importance.end()) continue;
        any = true;
        const uint64_t row = part.tensor->ne[0], all = row * part.tensor->ne[2];
        if (found->second.size() != row && found->second.size() != all)
            throw Error("cannot use this importance matrix",
                        std::format("it has {} weights for {}, whose rows have {} values", found->second.size(),
                                    part.tensor->name, row),
                        "Use an importance matrix made for this model");
    }
    if (!any)
        throw Error("cannot use this importance matrix", "it names no tensor of this model",
                    "Use an importance matrix made for this model");
}

void requireSpace(const QuantizeOptions& options, const std::filesystem::path& target, uint64_t bytes) {
    const std::filesystem::path folder = std::filesystem::absolute(target).parent_path();
    uint64_t free = std::numeric_limits<uint64_t>::max();
    if (options.free_bytes) {
        free = options.free_bytes(folder);
    } else {
        std::error_code unknown;
        const auto space = std::filesystem::space(folder, unknown);
        if (!unknown) free = space.available;
    }
    if (free < bytes)
        throw Error("cannot write " + target.string(),
                    "it needs " + inGib(bytes) + ", but only " + inGib(free) + " are free on its drive",
                    "Free some space, or choose another drive or a smaller type");
}

/// Sets the pool's stop token for as long as it lives.
class StopGuard {
public:
    StopGuard(ThreadPool& pool, std::stop_token token) : pool_(pool) { pool_.setStop(std::move(token)); }
    ~StopGuard() { pool_.setStop({}); }
    StopGuard(const StopGuard&) = delete;
    StopGuard& operator=(const StopGuard&) = delete;

private:
    ThreadPool& pool_;
};

/// Converts the tensors of one file, keeping its buffers from one to the next.
class Converter {
public:
    Converter(const gguf::File& file, const QuantizeOptions& options, ThreadPool& pool)
        : file_(file), options_(options), pool_(pool), scratch_(pool.threads()) {
        for (const gguf::Tensor& tensor : file.tensors()) total_ += tensor.bytes;
    }

    /// Hands all bytes of the tensor in its new type to `sink`.
    void convert(const TensorPlan& part, const gguf::Writer::Sink& sink) {
        report(part.tensor->name);
        if (part.type == part.tensor->type) copy(*part.tensor, sink);
        else requantise(part, sink);
        file_.check();
    }

    void report(std::string_view name) const {
        if (options_.progress) options_.progress({name, done_, total_});
    }

private:
    void copy(const gguf::Tensor& tensor, const gguf::Writer::Sink& sink) {
        for (uint64_t at = 0; at < tensor.bytes; at += kCopyBytes) {
            const uint64_t n = std::min(kCopyBytes, tensor.bytes - at);
            sink({tensor.data + at, static_cast<size_t>(n)});
            done_ += n;
            report(tensor.name);
        }
    }

    void requantise(const TensorPlan& part, const gguf::Writer::Sink& sink) {
        const gguf::Tensor& tensor = *part.tensor;
        const uint64_t rows = tensor.rows(), row_bytes = gguf::rowBytes(part.type, tensor.ne[0]);
        const uint64_t piece = std::max<uint64_t>(1, kPieceValues / std::max<uint64_t>(1, tensor.ne[0]));   // rows
        for (uint64_t first = 0; first < rows; first += kBatchPieces * piece) {
            const uint64_t n = std::min(kBatchPieces * piece, rows - first);
            batch_.resize(static_cast<size_t>(n * row_bytes));
            pool_.run(static_cast<size_t>((n + piece - 1) / piece), [&](size_t p, unsigned thread) {
                const uint64_t begin = p * piece, end = std::min(begin + piece, n);
                for (uint64_t r = begin; r < end; ++r)
                    convertRow(part, first + r, scratch_[thread], std::span(batch_).subspan(r * row_bytes, row_bytes));
            });
            sink(batch_);
            done_ += n * tensor.rowBytes();
            report(tensor.name);
        }
    }

    void convertRow(const TensorPlan& part, uint64_t row, std::vector<float>& values, std::span<std::byte> out) const {
        const gguf::Tensor& tensor = *part.tensor;
        values.resize(tensor.ne[0]);
        quant::decode(tensor.type, {tensor.data + row * tensor.rowBytes(), tensor.rowBytes()}, values);
        checkValues(part, row, values);
        quant::encode(part.type, values, out, isQuantised(part.type) ? weights(tensor, row) : std::span<const float>());
    }

    /// The weights of a row's values; empty where none are known.
    std::span<const float> weights(const gguf::Tensor& tensor, uint64_t row) const {
        if (!options_.importance) return {};
        const auto found = options_.importance->find(tensor.name);
        if (found == options_.importance->end()) return {};
        const std::span<const float> all(found->second);
        if (all.size() == tensor.ne[0]) return all;
        return all.subspan(row / tensor.ne[1] % tensor.ne[2] * tensor.ne[0], tensor.ne[0]);
    }

    static void checkValues(const TensorPlan& part, uint64_t row, std::span<const float> values) {
        const float limit = part.type == Type::F16 ? 65504.0f : std::numeric_limits<float>::max();
        const auto bad = std::ranges::find_if(values, [&](float v) { return !(std::fabs(v) <= limit); });
        if (bad == values.end()) return;
        const std::string what = std::format("cannot quantise {}", part.tensor->name);
        if (std::isfinite(*bad))
            throw Error(what, std::format("it holds the value {} in row {}, too large for F16", *bad, row),
                        "Choose BF16 or Q8_0");
        throw Error(what, std::format("row {} holds a value that is not a number", row),
                    "Get the source file again: it is damaged");
    }

    const gguf::File& file_;
    const QuantizeOptions& options_;
    ThreadPool& pool_;
    std::vector<std::vector<float>> scratch_;   // a row for each thread
    std::vector<std::byte> batch_;
    uint64_t done_ = 0, total_ = 0;
};

}  // namespace

void quantizeFile(const std::filesystem::path& source, const std::filesystem::path& target,
                  const QuantizeOptions& options, ThreadPool& pool) {
    const auto file = gguf::File::open(source);
    refuseSameFile(*file, target);
    const std::vector<TensorPlan> plan = planTypes(*file, options.type, options.pure);
    if (!options.allow_requantizing) refuseLossySources(plan);
    if (options.importance) checkImportance(*options.importance, plan);

    gguf::Writer writer(file->alignment(), file->isPowerInfer());
    writer.copyValues(*file);
    writer.set("general.file_type", static_cast<uint32_t>(options.type));
    const bool quantised = std::ranges::any_of(plan, [](const TensorPlan& part) { return isQuantised(part.type); });
    if (quantised) writer.set("general.quantization_version", uint32_t{2});
    else writer.remove("general.quantization_version");

    Converter converter(*file, options, pool);
    for (const TensorPlan& part : plan)
        writer.addTensor(part.tensor->name, part.type, std::span(part.tensor->ne).first(part.tensor->n_dims),
                         [&converter, &part](const gguf::Writer::Sink& sink) { converter.convert(part, sink); });
    requireSpace(options, target, writer.fileBytes());
    const StopGuard guard(pool, options.stop);
    writer.write(target, options.stop);
    converter.report({});
}

std::string predictorNote(const std::filesystem::path& path) {
    const auto file = gguf::File::open(path);
    const gguf::Tensor *in = file->find("blk.0.fc1.weight"), *out = file->find("blk.0.fc2.weight");
    if (in == nullptr || out == nullptr) return {};
    return "the predictor is kept: fc1 as " + std::string(gguf::typeInfo(in->type).name) + ", fc2 as " +
           std::string(gguf::typeInfo(out->type).name);
}

}  // namespace hearth::convert
