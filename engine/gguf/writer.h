#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/gguf/file.h"

namespace hearth::gguf {

/// The number that a C++ type has as a metadata value.
template <typename T>
constexpr ValueType valueTypeOf() {
    if constexpr (std::same_as<T, bool>) return ValueType::Bool;
    else if constexpr (std::same_as<T, uint8_t>) return ValueType::U8;
    else if constexpr (std::same_as<T, int8_t>) return ValueType::I8;
    else if constexpr (std::same_as<T, uint16_t>) return ValueType::U16;
    else if constexpr (std::same_as<T, int16_t>) return ValueType::I16;
    else if constexpr (std::same_as<T, uint32_t>) return ValueType::U32;
    else if constexpr (std::same_as<T, int32_t>) return ValueType::I32;
    else if constexpr (std::same_as<T, uint64_t>) return ValueType::U64;
    else if constexpr (std::same_as<T, int64_t>) return ValueType::I64;
    else if constexpr (std::same_as<T, float>) return ValueType::F32;
    else {
        static_assert(std::same_as<T, double>, "metadata holds whole numbers, float, double, bool and strings");
        return ValueType::F64;
    }
}

/// Writes one GGUF file (version 3). Metadata is kept in memory, tensor data never: it is asked for when its turn comes.
/// Throws Error for what a reader would refuse: bad names, duplicates, sizes that do not match a type.
class Writer {
public:
    /// Takes the bytes of one tensor, in order, in pieces of any size.
    using Sink = std::function<void(std::span<const std::byte>)>;
    /// Hands all bytes of one tensor to the sink, exactly as many as its type and shape say. One that reads
    /// from a mapped file calls File::check() at its end: a damaged source must not become a finished file.
    using Source = std::function<void(const Sink&)>;
    using Progress = std::function<void(uint64_t bytes_done, uint64_t bytes_total)>;

    /// `alignment`: a power of two from 8 to 1 MiB, written as a key when it is not 32. `power_infer`: magic PWRI.
    explicit Writer(uint64_t alignment = 32, bool power_infer = false);

    /// Sets a key to a value of exactly the type given; an earlier value of the key is replaced in its place.
    template <typename T>
        requires std::is_arithmetic_v<T>
    void set(std::string_view key, T value) {
        setRaw(key, valueTypeOf<T>(), std::as_bytes(std::span(&value, 1)));
    }
    void set(std::string_view key, std::string_view text);
    void set(std::string_view key, const char* text) { set(key, std::string_view(text)); }
    void set(std::string_view key, const std::string& text) { set(key, std::string_view(text)); }

    template <typename T>
        requires std::is_arithmetic_v<T>
    void setArray(std::string_view key, std::span<const T> values) {
        setRawArray(key, valueTypeOf<T>(), values.size(), std::as_bytes(values));
    }
    void setArray(std::string_view key, std::span<const std::string> texts);
    void setArray(std::string_view key, std::span<const std::string_view> texts);

    /// The value as it stands in another file.
    void copy(std::string_view key, const Value& value);
    /// All keys of a file but those that describe its layout: split.* and general.alignment.
    void copyValues(const File& from);
    void remove(std::string_view key);
    bool contains(std::string_view key) const;

    /// Adds a tensor; ne[0] runs along a row, 1 to 4 dimensions (none: a single value).
    void addTensor(std::string name, Type type, std::span<const uint64_t> ne, Source source);
    /// The same with data in memory, which must live until write() returns.
    void addTensor(std::string name, Type type, std::span<const uint64_t> ne, std::span<const std::byte> data);

    /// Size of the file that write() makes.
    uint64_t fileBytes() const;
    /// Everything before the tensors' data, as File::fromMemory reads it.
    std::vector<std::byte> header() const;

    /// Writes beside `path` under the name path + ".part" and renames at the end, so that `path` is either what it was or
    /// complete. The space is checked first. On an error or a stop request (Stopped) the partial file is removed.
    void write(const std::filesystem::path& path, std::stop_token stop = {}, const Progress& progress = {}) const;

private:
    struct Entry {
        std::string key;
        ValueType type, element;
        std::vector<std::byte> bytes;  ///< as in the file, after the type number
    };
    struct NewTensor {
        std::string name;
        Type type;
        std::vector<uint64_t> ne;
        uint64_t bytes, offset;
        Source source;
    };

    void setRaw(std::string_view key, ValueType type, std::span<const std::byte> bytes);
    void setRawArray(std::string_view key, ValueType element, uint64_t count, std::span<const std::byte> elements);
    template <typename Text>
    void setTexts(std::string_view key, std::span<const Text> texts);
    void put(Entry entry);

    uint64_t alignment_;
    bool power_infer_;
    uint64_t data_bytes_ = 0;  ///< of all tensors so far, each padded
    std::vector<Entry> entries_;
    std::vector<NewTensor> tensors_;
    std::unordered_map<std::string, size_t> entry_index_, tensor_index_;
};

}  // namespace hearth::gguf
