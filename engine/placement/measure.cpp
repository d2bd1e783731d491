#include "engine/placement/measure.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <set>

#include "engine/base/error.h"
#include "engine/cpu/bandwidth.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/matmul.h"
#include "engine/gguf/writer.h"

namespace hearth::placement {
namespace {

namespace fs = std::filesystem;

/// Of the machine, not of a model.
const sparse::SidecarKind kind{"cpu", 1};
constexpr size_t cols = 4096, piece = size_t{1} << 20, parts = 2;
/// Hand-outs to the pool in a layer: norms and rounding, q k v, rope and cache, attention, output, gate and up, down.
constexpr int hand_outs = 10;

/// Median of the seconds of some runs, after one that warms up. Not the least: decoding is not alone on the machine either.
double typical(int runs, const std::function<void()>& work) {
    work();
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::ranges::nth_element(seconds, seconds.begin() + runs / 2);
    return seconds[static_cast<size_t>(runs / 2)];
}

std::string processorName() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 1);
    return "unknown";
}

bool plausible(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

SpeedProbe::SpeedProbe(ThreadPool& pool, const fs::path& folder)
    : pool_(pool), bytes_((4 * cpu::lastLevelCache() / piece + 1) * piece) {
    const fs::path path = folder / ("probe-" + std::to_string(::getpid()));
    {
        // No OutputFile: nobody needs these bytes on the drive itself.
        std::ofstream file(path, std::ios::binary);
        std::vector<char> bytes(piece);
        uint32_t state = 1;
        for (size_t written = 0; written < parts * bytes_; written += piece) {
            // Bytes that are numbers of ordinary size in every format.
            for (char& b : bytes) b = static_cast<char>(0x20 + ((state = state * 1664525 + 1013904223) >> 27));
            file.write(bytes.data(), static_cast<std::streamsize>(piece));
        }
        file.close();
        if (!file) {
            std::error_code ignored;
            fs::remove(path, ignored);
            throw Error("cannot measure the processor",
                        std::to_string(parts * bytes_ >> 20) + " MiB cannot be written to " + folder.string(),
                        "Make room there and try again");
        }
    }
    std::error_code ignored;
    weights_ = MappedFile::open(path);
    fs::remove(path, ignored);
}

cpu::Weight SpeedProbe::weight(gguf::Type type) {
    const uint64_t row = gguf::rowBytes(type, cols);
    return {type, weights_->bytes().data() + next_++ % parts * bytes_, bytes_ / row, cols, row};
}

double SpeedProbe::dense(gguf::Type type, int runs) {
    const cpu::Weight shape = weight(type);
    const std::vector<float> x(cols, 0.5f);
    std::vector<float> out(shape.rows);
    cpu::Activations activations;
    return static_cast<double>(shape.rows * shape.row_bytes) / typical(runs, [&] {
               activations.set({x.data(), 1, cols});
               cpu::multiply(pool_, {weight(type), &activations, 0, 0, {out.data(), 1, shape.rows}});
           });
}

double SpeedProbe::gathered(gguf::Type type, int runs) {
    const cpu::Weight w = weight(type);
    const std::vector<float> x(cols, 0.5f);
    std::vector<float> out(std::max<size_t>(w.rows, cols)), coefficients(w.rows, 0.0f);
    std::vector<uint32_t> rows;
    uint32_t state = 1;
    for (uint32_t r = 0; r < w.rows; ++r) {
        if ((state = state * 1664525 + 1013904223) >> 29 != 0) continue;
        rows.push_back(r);
        coefficients[r] = 0.5f;
    }
    cpu::Activations activations;
    return 2 * static_cast<double>(rows.size() * w.row_bytes) / typical(runs, [&] {
               activations.set({x.data(), 1, cols});
               cpu::multiplyRows(pool_, weight(type), activations, rows, out.data());
               cpu::multiplyTransposed(pool_, weight(type), {coefficients.data(), 1, w.rows}, {out.data(), 1, cols});
           });
}

double SpeedProbe::manyTokens(gguf::Type type, int runs) {
    constexpr size_t tokens = 128;
    const cpu::Weight w = weight(type);
    const size_t rows = std::min<size_t>(w.rows, 2048);
    const std::vector<float> x(tokens * cols, 0.5f);
    std::vector<float> out(tokens * rows);
    cpu::Activations activations;
    return 2.0 * static_cast<double>(tokens * cols * rows) / typical(runs, [&] {
               activations.set({x.data(), tokens, cols});
               cpu::multiply(pool_, {w.slice(0, rows), &activations, 0, 0, {out.data(), tokens, rows}});
           });
}

double SpeedProbe::layerSeconds() const {
    constexpr int rounds = 200;
    return hand_outs *
           typical(5,
                   [this] {
                       for (int i = 0; i < rounds; ++i) pool_.run(pool_.threads(), [](size_t) {});
                   }) /
           rounds;
}

CpuSpeeds::CpuSpeeds(ThreadPool& pool, fs::path folder)
    : pool_(pool),
      folder_(std::move(folder)),
      sidecars_(folder_),
      identity_(sparse::identityOf(processorName() + ", " + std::string(cpu::isaName(cpu::activeIsa())) + ", " +
                                   std::to_string(pool.threads()) + " threads")) {
    known_.gather = 0;
    load();
}

fs::path CpuSpeeds::defaultFolder() try { return sparse::Sidecars::defaultFolder() / "machine"; } catch (const Error&) {
    return fs::temp_directory_path() / "hearth" / "machine";  // no home: until the next start of the machine
}

fs::path CpuSpeeds::path() const { return sidecars_.pathOf(identity_, kind); }

void CpuSpeeds::load() {
    const auto file = sidecars_.open(identity_, kind);
    if (!file) return;
    Device read;
    read.read_bytes_per_s = file->number("machine.read_bytes_per_s").value_or(0);
    read.flops = file->number("machine.flops").value_or(0);
    read.gather = file->number("machine.gather").value_or(0);
    read.layer_s = file->number("machine.layer_s").value_or(0);
    for (const double value : {read.read_bytes_per_s, read.flops, read.gather, read.layer_s})
        if (!plausible(value)) return;
    constexpr std::string_view prefix = "machine.type.";
    for (const auto& [key, value] : file->values()) {
        if (!key.starts_with(prefix)) continue;
        const auto type = gguf::typeByName(key.substr(prefix.size()));
        if (type && plausible(value.number())) read.type_bytes_per_s[*type] = value.number();
    }
    known_ = std::move(read);
}

void CpuSpeeds::save() const try {
    gguf::Writer writer;
    writer.set("machine.read_bytes_per_s", known_.read_bytes_per_s);
    writer.set("machine.flops", known_.flops);
    writer.set("machine.gather", known_.gather);
    writer.set("machine.layer_s", known_.layer_s);
    for (const auto& [type, rate] : known_.type_bytes_per_s)
        writer.set("machine.type." + std::string(gguf::typeInfo(type).name), rate);
    sidecars_.write(identity_, kind, writer);
} catch (const Error&) {
    // Nothing is lost but the next start's second.
}

void CpuSpeeds::forget() {
    known_ = {};
    known_.gather = 0;
}

void CpuSpeeds::describe(Device& cpu, std::span<const gguf::Type> types) {
    const bool all = known_.read_bytes_per_s == 0;
    std::vector<gguf::Type> missing;
    for (const gguf::Type type : types)
        if (!known_.type_bytes_per_s.contains(type)) missing.push_back(type);
    if (all || !missing.empty()) {
        std::error_code no_folder;
        fs::create_directories(folder_, no_folder);
        SpeedProbe probe(pool_, no_folder ? fs::temp_directory_path() : folder_);
        if (all) {
            known_.read_bytes_per_s = cpu::readBandwidth(pool_);
            known_.layer_s = probe.layerSeconds();
            known_.flops = probe.manyTokens(gguf::Type::Q4_0);
            const double dense = probe.dense(gguf::Type::Q4_0);
            known_.type_bytes_per_s[gguf::Type::Q4_0] = dense;
            known_.gather = std::min(1.0, probe.gathered(gguf::Type::Q4_0) / dense);
        }
        for (const gguf::Type type : missing)
            if (!known_.type_bytes_per_s.contains(type)) known_.type_bytes_per_s[type] = probe.dense(type);
        save();
    }
    cpu.read_bytes_per_s = known_.read_bytes_per_s;
    cpu.flops = known_.flops;
    cpu.gather = known_.gather;
    cpu.layer_s = known_.layer_s;
    cpu.type_bytes_per_s = known_.type_bytes_per_s;
}

std::vector<gguf::Type> weightTypes(const gguf::File& file) {
    std::set<gguf::Type> types;
    for (const gguf::Tensor& tensor : file.tensors())
        if (tensor.n_dims > 1) types.insert(tensor.type);
    return {types.begin(), types.end()};
}

}  // namespace hearth::placement
