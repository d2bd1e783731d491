#pragma once

// The encoders of all block types, compiled once per instruction-set level: a source file defines HEARTH_QUANT_LEVEL and
// includes this. Nothing here may call an inline function that other files see too: the linker would keep one copy of it,
// perhaps the one for a processor that is not there.

#include "engine/quant/encode_levels.h"

namespace hearth::quant::detail {
namespace {

#include "engine/quant/encode_search.h"

inline void clear(uint8_t* bytes, int n) {
    for (int i = 0; i < n; ++i) bytes[i] = 0;
}

/// 32 codes of four bits: first 16 in the low nibbles, then 16 in the high ones.
inline void packNibbles(const int8_t* codes, uint8_t* out) {
    for (int j = 0; j < 16; ++j) out[j] = static_cast<uint8_t>((codes[j] & 15) | (codes[j + 16] & 15) << 4);
}

/// The fifth bits of 32 codes, code 0 first.
inline void packFifthBits(const int8_t* codes, uint8_t* out) {
    clear(out, 4);
    for (int j = 0; j < 32; ++j) out[j / 8] = static_cast<uint8_t>(out[j / 8] | (codes[j] >> 4 & 1) << (j % 8));
}

// ------------------------------------------------------------------------------------------- types of 32 values

template <bool Weighted, int Bits>
void signedBlock(const float* x, const float* w, uint8_t* out) {
    constexpr float low = -(1 << (Bits - 1)), high = -low - 1;
    const float scale = roundToHalf(fitSigned<Weighted>(x, w, 32, low, high).scale);
    int8_t codes[32];
    nearestCodes(x, 32, scale, 0.0f, low, high, codes);
    for (int j = 0; j < 32; ++j) codes[j] = static_cast<int8_t>(codes[j] + (1 << (Bits - 1)));
    writeHalf(scale, out);
    if constexpr (Bits == 5) packFifthBits(codes, out + 2);
    packNibbles(codes, out + (Bits == 5 ? 6 : 2));
}

template <bool Weighted, int Bits>
void affineBlock(const float* x, const float* w, uint8_t* out) {
    constexpr float top = (1 << Bits) - 1;
    const AffineFit fit = fitAffine<Weighted>(x, w, 32, top, false);
    const float scale = roundToHalf(fit.scale), minimum = roundToHalf(fit.minimum);
    int8_t codes[32];
    nearestCodes(x, 32, scale, minimum, 0.0f, top, codes);
    writeHalf(scale, out);
    writeHalf(minimum, out + 2);
    if constexpr (Bits == 5) packFifthBits(codes, out + 4);
    packNibbles(codes, out + (Bits == 5 ? 8 : 4));
}

/// Eight bits leave nothing to search for: the peak gets code ±127.
void eightBitBlock(const float* x, uint8_t* out) {
    const float scale = roundToHalf(__builtin_fabsf(peak(x, 32)) / 127.0f);
    int8_t codes[32];
    nearestCodes(x, 32, scale, 0.0f, -127.0f, 127.0f, codes);
    writeHalf(scale, out);
    for (int j = 0; j < 32; ++j) out[2 + j] = static_cast<uint8_t>(codes[j]);
}

#include "engine/quant/encode_super.h"

// ------------------------------------------------------------------------------------------- whole rows

using BlockEncoder = void (*)(const float* x, const float* w, uint8_t* out);

template <BlockEncoder Plain, BlockEncoder Weighted, int Elements, int Bytes>
void encodeBlocks(const float* values, const float* importance, size_t count, uint8_t* out) {
    for (size_t b = 0; b < count; ++b) {
        if (importance) Weighted(values + b * Elements, importance + b * Elements, out + b * Bytes);
        else Plain(values + b * Elements, nullptr, out + b * Bytes);
    }
}

void encodeQ8_0(const float* values, const float*, size_t count, uint8_t* out) {
    for (size_t b = 0; b < count; ++b) eightBitBlock(values + b * 32, out + b * 34);
}

}  // namespace

#define HEARTH_QUANT_JOIN2(a, b) a##b
#define HEARTH_QUANT_JOIN(a, b) HEARTH_QUANT_JOIN2(a, b)
#define HEARTH_QUANT_TEXT2(a) #a
#define HEARTH_QUANT_TEXT(a) HEARTH_QUANT_TEXT2(a)

extern const EncodeLevel HEARTH_QUANT_JOIN(encode_, HEARTH_QUANT_LEVEL) = {
    HEARTH_QUANT_TEXT(HEARTH_QUANT_LEVEL),
    encodeBlocks<signedBlock<false, 4>, signedBlock<true, 4>, 32, 18>,
    encodeBlocks<affineBlock<false, 4>, affineBlock<true, 4>, 32, 20>,
    encodeBlocks<signedBlock<false, 5>, signedBlock<true, 5>, 32, 22>,
    encodeBlocks<affineBlock<false, 5>, affineBlock<true, 5>, 32, 24>,
    encodeQ8_0,
    encodeBlocks<superAffine<false, 4>, superAffine<true, 4>, 256, 144>,
    encodeBlocks<superAffine<false, 5>, superAffine<true, 5>, 256, 176>,
    encodeBlocks<superSigned<false>, superSigned<true>, 256, 210>,
};

}  // namespace hearth::quant::detail
