#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::quant::detail {

/// Encoders of `count` blocks, one after another. `importance` is nullptr or one weight in [kLeastImportance, 2) per
/// value; values are finite and at most kLargest in magnitude.
using EncodeBlocks = void (*)(const float* values, const float* importance, size_t count, uint8_t* out);

/// Larger values are cut to this before encoding: it keeps sums of squares finite and no format reaches further.
constexpr float kLargest = 3e8f;
/// Values that count for nothing still count this much, so that a block of them comes out sensibly.
constexpr float kLeastImportance = 1e-8f;

/// The encoders compiled for one instruction-set level. All levels write the same bytes: the searches keep candidates in
/// lanes, so that every sum runs over the values in order whatever the width of a register.
struct EncodeLevel {
    std::string_view name;
    EncodeBlocks q4_0, q4_1, q5_0, q5_1, q8_0, q4_k, q5_k, q6_k;
};

extern const EncodeLevel encode_generic;
#if defined(__x86_64__)
extern const EncodeLevel encode_avx2, encode_avx512;
#endif

/// The levels that this processor runs, lowest first.
std::span<const EncodeLevel* const> encodeLevels();

/// `value` rounded to half precision, cut to the largest finite half.
float roundToHalf(float value);
/// The bits of a value that is a half already.
void writeHalf(float value, uint8_t* bytes);

}  // namespace hearth::quant::detail
