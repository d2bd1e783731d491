#include "engine/gguf/file.h"

#include <unordered_map>

#include "engine/base/error.h"
#include "engine/base/mapped_file.h"
#include "engine/gguf/limits.h"
#include "engine/gguf/reader.h"

namespace hearth::gguf {

struct File::State {
    std::filesystem::path path;
    std::vector<std::shared_ptr<const MappedFile>> mappings;   // empty for a file from memory
    std::vector<std::byte> memory;
    uint64_t file_bytes = 0, alignment = 0;
    uint32_t version = 0;
    bool power_infer = false;
    std::vector<std::pair<std::string_view, Value>> values;
    std::vector<Tensor> tensors;
    std::unordered_map<std::string_view, size_t> value_index, tensor_index;

    /// Takes over what the first file of a set says of the whole.
    void adopt(Shard& first) {
        power_infer = first.power_infer;
        version = first.version;
        alignment = first.alignment;
        values = std::move(first.values);
    }
    void append(std::vector<Tensor>& more, uint32_t shard) {
        const std::byte* base = mappings.empty() ? nullptr : mappings[shard]->bytes().data();
        for (Tensor& tensor : more) {
            tensor.shard = shard;
            if (base) tensor.data = base + tensor.file_offset;
            tensors.push_back(std::move(tensor));
        }
    }
    /// After this, `tensors` does not change: the index views their names.
    void buildIndex() {
        for (size_t i = 0; i < values.size(); ++i) value_index.emplace(values[i].first, i);
        for (size_t i = 0; i < tensors.size(); ++i) {
            if (tensor_index.emplace(tensors[i].name, i).second) continue;
            throw Error("cannot open " + path.string(),
                        "the tensor " + shownName(tensors[i].name) + " stands in two parts of the model",
                        "Download all parts of the model again");
        }
    }
};

namespace {

Shard readMapped(const MappedFile& file) {
    const std::string what = "cannot open " + file.path().string();
    try {
        Shard shard = Reader(what, file.bytes(), file.bytes().size()).read();
        file.check();
        return shard;
    } catch (const Error&) {
        file.check();   // a file that was cut meanwhile: say that, not what its zeros look like
        throw;
    }
}

}  // namespace

std::shared_ptr<const File> File::open(const std::filesystem::path& path) {
    const auto named = MappedFile::open(path);
    Shard own = readMapped(*named);
    const auto paths = splitPaths(path, own);
    auto state = std::make_unique<State>();
    state->path = paths.front();
    if (paths.size() == 1) {
        state->mappings.push_back(named);
        state->file_bytes = named->bytes().size();
        state->adopt(own);
        state->append(own.tensors, 0);
        state->buildIndex();
        return std::shared_ptr<const File>(new File(std::move(state)));
    }

    Shard first;
    for (size_t i = 0; i < paths.size(); ++i) {
        const bool is_named = paths[i].filename() == path.filename();
        state->mappings.push_back(is_named ? named : MappedFile::open(paths[i]));
        state->file_bytes += state->mappings.back()->bytes().size();
        Shard shard = is_named ? std::move(own) : readMapped(*state->mappings.back());
        checkSplitPart(paths[i], shard, i, paths.size());
        state->append(shard.tensors, static_cast<uint32_t>(i));
        if (i == 0) {
            first = std::move(shard);
        } else {
            checkSameKind(paths[i], first, shard);
        }
    }
    checkSplitTotal(path, first, state->tensors.size());
    state->adopt(first);
    state->buildIndex();
    return std::shared_ptr<const File>(new File(std::move(state)));
}

std::shared_ptr<const File> File::fromMemory(std::vector<std::byte> header, uint64_t file_size) {
    auto state = std::make_unique<State>();
    state->path = "the model header";
    state->memory = std::move(header);
    state->file_bytes = file_size;
    Shard shard = Reader("cannot read the model header", state->memory, file_size).read();
    state->adopt(shard);
    state->append(shard.tensors, 0);
    state->buildIndex();
    return std::shared_ptr<const File>(new File(std::move(state)));
}

File::File(std::unique_ptr<State> state) : state_(std::move(state)) {}
File::~File() = default;

bool File::isPowerInfer() const { return state_->power_infer; }
uint32_t File::version() const { return state_->version; }
uint64_t File::alignment() const { return state_->alignment; }
const std::filesystem::path& File::path() const { return state_->path; }
uint64_t File::fileBytes() const { return state_->file_bytes; }
const std::vector<Tensor>& File::tensors() const { return state_->tensors; }
const std::vector<std::pair<std::string_view, Value>>& File::values() const { return state_->values; }

std::vector<std::filesystem::path> File::shards() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& mapping : state_->mappings) paths.push_back(mapping->path());
    return paths;
}

const Tensor* File::find(std::string_view name) const {
    const auto found = state_->tensor_index.find(name);
    return found == state_->tensor_index.end() ? nullptr : &state_->tensors[found->second];
}

const Tensor& File::require(std::string_view name) const {
    if (const Tensor* tensor = find(name)) return *tensor;
    throw Error("cannot use " + state_->path.string(), "the tensor " + shownName(name) + " is missing",
                "The file is incomplete or of a kind that Hearth does not know; choose another file of this model");
}

const Value* File::value(std::string_view key) const {
    const auto found = state_->value_index.find(key);
    return found == state_->value_index.end() ? nullptr : &state_->values[found->second].second;
}

namespace {

/// Scalar access refuses lists; the kind of the element is checked by the Value itself.
const Value* scalar(const Value* value, std::string_view key) {
    if (!value || !value->isArray()) return value;
    throw Error("cannot use the value of " + shownName(key), "it is a list where a single value was expected",
                "The file was written wrongly; choose another file of this model");
}

}  // namespace

std::optional<std::string_view> File::string(std::string_view key) const {
    const Value* found = scalar(value(key), key);
    return found ? std::optional(found->string()) : std::nullopt;
}

std::optional<int64_t> File::integer(std::string_view key) const {
    const Value* found = scalar(value(key), key);
    return found ? std::optional(found->integer()) : std::nullopt;
}

std::optional<double> File::number(std::string_view key) const {
    const Value* found = scalar(value(key), key);
    return found ? std::optional(found->number()) : std::nullopt;
}

std::optional<bool> File::boolean(std::string_view key) const {
    const Value* found = scalar(value(key), key);
    return found ? std::optional(found->boolean()) : std::nullopt;
}

void File::check() const {
    for (const auto& mapping : state_->mappings) mapping->check();
}

}  // namespace hearth::gguf
