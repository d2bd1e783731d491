#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth::gguf {

/// Tensor types by their number in the file format (research: formats §1.6).
enum class Type : int32_t {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q2_K = 10,
    Q3_K = 11,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    IQ4_NL = 20,
    IQ4_XS = 23,
    I8 = 24,
    I16 = 25,
    I32 = 26,
    I64 = 27,
    F64 = 28,
    BF16 = 30,
    TQ1_0 = 34,
    TQ2_0 = 35,
    MXFP4 = 39,
    NVFP4 = 40,
    Q1_0 = 41,
    Q2_0 = 42,
};

struct TypeInfo {
    std::string_view name;      ///< as written above
    uint32_t block_elements;    ///< values in a block
    uint32_t block_bytes;       ///< bytes of a block
};

/// Size and name of a type that Hearth reads; throws Error for any other number, naming the type where it is known
/// (removed ids, the IQ1/IQ2/IQ3 families, ids of other forks).
const TypeInfo& typeInfo(Type type);
/// The same without an exception: nullptr for a type that Hearth does not read.
const TypeInfo* findType(Type type) noexcept;

/// Why a type is not read, for messages: "has type 16 (IQ2_XXS), which ..." and what to do instead.
struct TypeRefusal {
    std::string why, next_step;
};
TypeRefusal refusal(Type type);

/// By name, case-insensitively; nullopt when there is none.
std::optional<Type> typeByName(std::string_view name);
/// Bytes of `elements` values (a multiple of block_elements, else Error). Throws Error on overflow.
uint64_t rowBytes(Type type, uint64_t elements);

}  // namespace hearth::gguf
