#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/gguf/file.h"

/// Limits that the reader enforces and the writer keeps (research: formats §1.1, §1.4, §1.5), and helpers of both.
namespace hearth::gguf {

constexpr uint64_t max_string_bytes = uint64_t{16} << 20;
constexpr uint64_t max_key_bytes = 65535;
constexpr uint64_t max_tensor_name_bytes = 64;
constexpr uint64_t max_alignment = uint64_t{1} << 20;
constexpr uint64_t min_alignment = 8;   // the format's own rule; it also keeps F64 and I64 tensors aligned in memory
constexpr uint64_t default_alignment = 32;
constexpr uint32_t max_dims = 4;
constexpr uint64_t max_entries = uint64_t{1}
                                 << 20;  // keys, and tensors of one file: the largest real models have some thousands
constexpr uint32_t newest_version = 3;

/// Bytes of one element in the file; 0 for strings and arrays.
size_t valueBytes(ValueType type) noexcept;
/// "u32", "string" ... or "unknown type 77".
std::string typeName(ValueType type);
bool isValueType(int32_t id) noexcept;

/// A name from a file, safe to show: in quotes, control characters escaped, shortened.
std::string shownName(std::string_view name);
bool hasControlCharacters(std::string_view text) noexcept;
/// Nothing, or what is wrong with it as a clause ("is empty").
std::string keyProblem(std::string_view key);
std::string tensorNameProblem(std::string_view name);

}  // namespace hearth::gguf
