#pragma once

#include <concepts>
#include <cstring>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/gguf/file.h"

namespace hearth::gguf {

/// What one file of a set says. Views point into the bytes that it was read from.
struct Shard {
    bool power_infer = false;
    uint32_t version = 0;
    uint64_t alignment = 0, data_start = 0;
    std::vector<std::pair<std::string_view, Value>> values;
    std::vector<Tensor> tensors;

    const Value* value(std::string_view key) const;
};

/// Reads header, metadata and tensor directory of one file, and checks all of it. Trusts nothing: memory grows only with
/// what was really read.
class Reader {
public:
    /// `what` begins each message ("cannot open model.gguf"). `header` holds the first bytes of a file of `file_size`
    /// bytes, or all of them.
    Reader(std::string what, std::span<const std::byte> header, uint64_t file_size);
    /// Throws Error. Tensor::data and Tensor::shard are left for the caller.
    Shard read();

private:
    [[noreturn]] void fail(std::string why, std::string next_step = {}) const;
    [[noreturn]] void failDamaged(std::string why) const;
    [[noreturn]] void failEnd(const std::string& where) const;

    uint64_t left() const { return file_size_ - position_; }
    /// The next `n` bytes; `where` says what they are, for the message.
    std::span<const std::byte> take(uint64_t n, const std::string& where);
    template <typename T>
    T number(const std::string& where) {
        T value;
        std::memcpy(&value, take(sizeof value, where).data(), sizeof value);
        return value;
    }
    std::string_view text(uint64_t cap, const std::string& where);

    void readMagic(Shard& shard);
    uint64_t readCount(const char* of_what, uint64_t least_bytes_each);
    void readValues(Shard& shard, uint64_t n);
    Value readValue(std::string_view key);
    void readArray(Value& value, const std::string& where);
    void checkBooleans(const Value& value, const std::string& where) const;
    void readAlignment(Shard& shard) const;

    void readTensors(Shard& shard, uint64_t n);
    Tensor readTensor(std::unordered_set<std::string_view>& seen);
    void checkType(Tensor& tensor, int32_t id, const std::string& label) const;
    void measure(Tensor& tensor, const std::string& label) const;
    void placeData(Shard& shard) const;
    void checkOverlap(const Shard& shard) const;
    void refuseOldExperts(const Shard& shard) const;

    std::string what_;
    std::span<const std::byte> header_;
    uint64_t file_size_;
    uint64_t position_ = 0;
};

/// What a file that is not GGUF seems to be, as a clause, and what to do; from its first bytes.
std::pair<std::string, std::string> describeForeign(std::span<const std::byte> start);

/// All files of the set that `path` belongs to, in order, given what the file itself says; just `path` when it is not split.
/// Throws Error when the name and the keys disagree.
std::vector<std::filesystem::path> splitPaths(const std::filesystem::path& path, const Shard& shard);
/// Checks what part `index` of `count` says of itself. Throws Error.
void checkSplitPart(const std::filesystem::path& path, const Shard& shard, size_t index, size_t count);
/// Checks that a part has the magic of the first one. Throws Error.
void checkSameKind(const std::filesystem::path& path, const Shard& first, const Shard& shard);
/// Checks the number of tensors of a whole set. Throws Error.
void checkSplitTotal(const std::filesystem::path& path, const Shard& first, size_t tensors);

}  // namespace hearth::gguf
