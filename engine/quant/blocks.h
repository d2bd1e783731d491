#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/quant/quant.h"

/// Pieces of the block formats (formats §1.7) that reading and writing share.
namespace hearth::quant::detail {

/// One block of a type, decoded to its block_elements values.
using DecodeBlock = void (*)(const uint8_t* block, float* out);

void decodeQ4_0(const uint8_t* block, float* out);
void decodeQ4_1(const uint8_t* block, float* out);
void decodeQ5_0(const uint8_t* block, float* out);
void decodeQ5_1(const uint8_t* block, float* out);
void decodeQ8_0(const uint8_t* block, float* out);
void decodeQ2_K(const uint8_t* block, float* out);
void decodeQ3_K(const uint8_t* block, float* out);
void decodeQ4_K(const uint8_t* block, float* out);
void decodeQ5_K(const uint8_t* block, float* out);
void decodeQ6_K(const uint8_t* block, float* out);
void decodeIQ4_NL(const uint8_t* block, float* out);
void decodeIQ4_XS(const uint8_t* block, float* out);
void decodeTQ1_0(const uint8_t* block, float* out);
void decodeTQ2_0(const uint8_t* block, float* out);
void decodeMXFP4(const uint8_t* block, float* out);
void decodeNVFP4(const uint8_t* block, float* out);
void decodeQ1_0(const uint8_t* block, float* out);
void decodeQ2_0(const uint8_t* block, float* out);

/// The little-endian half-precision number at `bytes`, as float32.
float readHalf(const uint8_t* bytes);

/// `elements` of a type's block and its bytes; Error when the sizes of a call do not fit them.
size_t countBlocks(Type type, size_t values, size_t bytes);

}  // namespace hearth::quant::detail
