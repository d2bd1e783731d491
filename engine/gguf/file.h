#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/gguf/type.h"

namespace hearth::gguf {

/// Thrown by File::fromMemory when the bytes given end inside the header of a longer file: fetch more and try again.
class HeaderTooShort : public Error {
public:
    using Error::Error;
};

/// Value types of metadata, by their number in the file.
enum class ValueType : int32_t {
    U8 = 0,
    I8 = 1,
    U16 = 2,
    I16 = 3,
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    String = 8,
    Array = 9,
    U64 = 10,
    I64 = 11,
    F64 = 12,
};

/// One metadata value: a view into the mapped file, nothing copied.
class Value {
public:
    ValueType type() const { return type_; }
    bool isArray() const { return type_ == ValueType::Array; }
    ValueType elementType() const { return element_; }   ///< of an array, else type()
    uint64_t count() const { return count_; }            ///< elements of an array, 1 for a scalar

    /// Element `i` as an integer; throws Error when it is no integer or Bool.
    int64_t integer(uint64_t i = 0) const;
    /// As a number; integers are converted.
    double number(uint64_t i = 0) const;
    bool boolean(uint64_t i = 0) const;
    /// A string scalar. For arrays of strings use strings().
    std::string_view string() const;
    /// All strings of an array, views into the file, in one pass: O(n).
    std::vector<std::string_view> strings() const;
    /// All elements of a numeric array (or one for a scalar).
    std::vector<int64_t> integers() const;
    std::vector<double> numbers() const;

    /// The bytes as they stand in the file, without a scalar string's length; with each string's length in a list.
    std::span<const std::byte> raw() const { return raw_; }

private:
    friend class Reader;
    friend class File;
    ValueType type_ = ValueType::U8, element_ = ValueType::U8;
    uint64_t count_ = 1;
    std::span<const std::byte> raw_;   ///< the elements as they stand in the file
    std::string_view key_;             ///< for messages
};

struct Tensor {
    std::string name;
    Type type = Type::F32;
    uint32_t n_dims = 0;
    std::array<uint64_t, 4> ne{1, 1, 1, 1};   ///< ne[0] runs along a row (contiguous)
    uint64_t bytes = 0;
    uint32_t shard = 0;                       ///< 0-based
    uint64_t file_offset = 0;                 ///< of the data, from the start of its shard
    const std::byte* data = nullptr;          ///< into the mapping; nullptr in a file opened without data
    uint64_t rows() const { return ne[1] * ne[2] * ne[3]; }
    uint64_t rowBytes() const { return rows() ? bytes / rows() : 0; }
};

/// A GGUF file (or a split set, or PowerInfer's PWRI variant), mapped and validated: every offset, size, count and type
/// has been checked against the real file before open() returns. Little-endian, v2 and v3.
class File {
public:
    /// Opens `path`; for a split set any shard may be named, all must be there. Throws Error.
    static std::shared_ptr<const File> open(const std::filesystem::path& path);
    /// Reads header and directory from memory, without tensor data (fuzzing, ranges fetched from a server).
    /// `file_size` is the size that offsets are checked against.
    static std::shared_ptr<const File> fromMemory(std::vector<std::byte> header, uint64_t file_size);
    ~File();

    bool isPowerInfer() const;  ///< magic PWRI
    uint32_t version() const;
    uint64_t alignment() const;
    const std::filesystem::path& path() const;
    std::vector<std::filesystem::path> shards() const;
    uint64_t fileBytes() const;  ///< all shards

    const std::vector<Tensor>& tensors() const;
    const Tensor* find(std::string_view name) const;  ///< nullptr when absent
    const Tensor& require(std::string_view name) const;  ///< throws Error when absent

    const Value* value(std::string_view key) const;  ///< nullptr when absent
    const std::vector<std::pair<std::string_view, Value>>& values() const;  ///< in file order

    /// Typed access; nullopt when absent, Error when the value has another kind.
    std::optional<std::string_view> string(std::string_view key) const;
    std::optional<int64_t> integer(std::string_view key) const;
    std::optional<double> number(std::string_view key) const;
    std::optional<bool> boolean(std::string_view key) const;

    /// Error when the mapping was damaged while in use (see MappedFile).
    void check() const;

private:
    friend class Reader;
    struct State;
    explicit File(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hearth::gguf
