#pragma once

#include <cstddef>
#include <span>

/// Weights with two bits each: what is read of a gate before it is known whether its row is worth reading.
namespace hearth::sparse {

/// Encodes a row as Q2_0: blocks of 64 values, a half-precision step s and codes for −s, 0, s, 2 s, the s of least squared
/// error (negative where the longer tail is). `values`: a multiple of 64; `out`: 18 bytes for each 64. Throws Error for sizes that
/// do not match.
void encodeTwoBits(std::span<const float> values, std::span<std::byte> out);

}  // namespace hearth::sparse
