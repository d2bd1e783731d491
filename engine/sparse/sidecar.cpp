#include "engine/sparse/sidecar.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <format>
#include <fstream>
#include <system_error>

#include "engine/base/error.h"

namespace hearth::sparse {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kSamples = 64, kSampleBytes = 4096, kPiece = 1 << 20;
constexpr size_t kIdentityDigits = 64;

class Sha256 {
public:
    Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
        if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) fail();
    }
    void add(const void* bytes, size_t size) {
        if (EVP_DigestUpdate(context_.get(), bytes, size) != 1) fail();
    }
    void addNumber(uint64_t number) { add(&number, sizeof number); }
    std::string digits() {
        std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
        unsigned size = 0;
        if (EVP_DigestFinal_ex(context_.get(), sum.data(), &size) != 1) fail();
        std::string out;
        for (unsigned i = 0; i < size; ++i) out += std::format("{:02x}", sum[i]);
        return out;
    }

private:
    [[noreturn]] static void fail() { throw Error("cannot compute a checksum", "the library for it refuses to"); }
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

/// Adds the bytes [from, from + count) of a file.
void addRange(Sha256& sum, std::ifstream& in, const fs::path& path, uint64_t from, uint64_t count) {
    std::vector<char> piece(std::min(count, kPiece));
    in.seekg(static_cast<std::streamoff>(from));
    while (count > 0) {
        const uint64_t size = std::min<uint64_t>(count, piece.size());
        if (!in.read(piece.data(), static_cast<std::streamsize>(size)))
            throw Error("cannot read " + path.string(), "the file ends early or the drive does not answer");
        sum.add(piece.data(), size);
        count -= size;
    }
}

bool isIdentity(const std::string& name) {
    return name.size() == kIdentityDigits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Why a file is not the sidecar that is asked for; empty if it is.
std::string mismatch(const gguf::File& file, const std::string& identity, const SidecarKind& kind) {
    if (file.string("hearth.sidecar.kind") != kind.name) return "it holds something else";
    if (file.integer("hearth.sidecar.version") != kind.version) return "another version of Hearth wrote it";
    if (file.string("hearth.sidecar.identity") != identity) return "it belongs to something else";
    return {};
}

}  // namespace

std::string identityOf(const gguf::File& model) {
    Sha256 sum;
    const std::vector<fs::path> shards = model.shards();
    for (size_t s = 0; s < shards.size(); ++s) {
        std::error_code error;
        const uint64_t size = fs::file_size(shards[s], error);
        std::ifstream in(shards[s], std::ios::binary);
        if (error || !in) throw Error("cannot read " + shards[s].string(), "the file is gone or may not be read");
        uint64_t data = size;
        for (const gguf::Tensor& tensor : model.tensors())
            if (tensor.shard == s) data = std::min(data, tensor.file_offset);
        sum.addNumber(size);
        sum.addNumber(data);
        addRange(sum, in, shards[s], 0, data);
        const uint64_t rest = size - data, length = std::min(rest, kSampleBytes);
        for (uint64_t i = 0; i < kSamples && length > 0; ++i)
            addRange(sum, in, shards[s], data + (rest - length) * i / (kSamples - 1), length);
    }
    return sum.digits();
}

std::string identityOf(std::string_view description) {
    Sha256 sum;
    sum.add(description.data(), description.size());
    return sum.digits();
}

fs::path Sidecars::defaultFolder() {
    // An XDG folder that is not absolute is to be ignored (XDG Base Directory Specification).
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && fs::path(cache).is_absolute())
        return fs::path(cache) / "hearth";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0)
        return fs::path(home) / ".cache" / "hearth";
    throw Error("there is no folder for prepared layouts and profiles", "neither XDG_CACHE_HOME nor HOME is set",
                "Set XDG_CACHE_HOME to a folder on a drive with space");
}

Sidecars::Sidecars(fs::path folder) : folder_(std::move(folder)) {}

fs::path Sidecars::pathOf(const std::string& identity, const SidecarKind& kind) const {
    return folder() / identity / (kind.name + ".gguf");
}

std::shared_ptr<const gguf::File> Sidecars::open(const std::string& identity, const SidecarKind& kind,
                                                 std::string* why_not) const {
    const fs::path path = pathOf(identity, kind);
    std::error_code error;
    std::string why;
    if (!fs::exists(path, error)) {
        why = "there is none yet";
    } else {
        try {
            auto file = gguf::File::open(path);
            why = mismatch(*file, identity, kind);
            if (why.empty()) return file;
        } catch (const Error& e) {
            why = e.why();
        }
        fs::remove(path, error);
    }
    if (why_not != nullptr) *why_not = why;
    return nullptr;
}

void Sidecars::write(const std::string& identity, const SidecarKind& kind, gguf::Writer& content, std::stop_token stop,
                     const gguf::Writer::Progress& progress) const {
    const fs::path path = pathOf(identity, kind);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
        throw Error("cannot make the folder " + path.parent_path().string(), error.message(),
                    "Set XDG_CACHE_HOME to a folder that you may write to");
    content.set("general.architecture", "hearth-sidecar");
    content.set("hearth.sidecar.kind", kind.name);
    content.set("hearth.sidecar.version", kind.version);
    content.set("hearth.sidecar.identity", identity);
    content.write(path, stop, progress);
}

std::vector<Sidecars::Entry> Sidecars::list() const {
    std::vector<Entry> entries;
    std::error_code error;
    for (const fs::directory_entry& model : fs::directory_iterator(folder(), error)) {
        const std::string identity = model.path().filename().string();
        if (!isIdentity(identity) || model.is_symlink(error) || !model.is_directory(error)) continue;
        for (const fs::directory_entry& file : fs::directory_iterator(model.path(), error))
            if (file.path().extension() == ".gguf" && !file.is_symlink(error) && file.is_regular_file(error))
                entries.push_back({file.path(), identity, file.path().stem().string(), file.file_size(error)});
    }
    std::ranges::sort(entries, {}, &Entry::path);
    return entries;
}

uint64_t Sidecars::remove(const std::optional<std::string>& identity) const {
    uint64_t freed = 0;
    for (const Entry& entry : list()) {
        std::error_code error;
        if (identity && entry.identity != *identity) continue;
        if (fs::remove(entry.path, error)) freed += entry.bytes;
        fs::remove(entry.path.parent_path(), error);   // only an empty folder goes
    }
    return freed;
}

void Sidecars::remove(const std::string& identity, const SidecarKind& kind) const {
    std::error_code error;
    fs::remove(pathOf(identity, kind), error);
}

}  // namespace hearth::sparse
