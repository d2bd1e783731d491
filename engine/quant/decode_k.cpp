#include "engine/quant/blocks.h"

/// Types of 256 values with scales of their own per 16 or 32 values ("K" types, formats §1.7).
namespace hearth::quant::detail {

namespace {

struct ScaleAndMinimum {
    int scale, minimum;
};

/// Six-bit scale and minimum of sub-block s (0..7) from their 12 packed bytes.
inline ScaleAndMinimum unpackPair(const uint8_t* packed, int s) {
    if (s < 4) return {packed[s] & 63, packed[s + 4] & 63};
    return {(packed[s + 4] & 15) | (packed[s - 4] >> 6) << 4, (packed[s + 4] >> 4) | (packed[s] >> 6) << 4};
}

/// Six-bit scale i (0..15) of Q3_K from its 12 packed bytes, as stored (32 more than its value).
inline int unpackQ3Scale(const uint8_t* packed, int i) {
    const int low = i < 8 ? packed[i] & 15 : packed[i - 8] >> 4;
    return low | (packed[8 + i % 4] >> (2 * (i / 4)) & 3) << 4;
}

/// Two-bit code i (0..255) of Q2_K and Q3_K: 32 bytes hold 128 codes, 32 at each shift.
inline int crumb(const uint8_t* codes, int i) { return codes[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3; }

/// Four-bit code of sub-block s, element l of Q4_K and Q5_K: 32 bytes hold two sub-blocks.
inline int pairNibble(const uint8_t* codes, int s, int l) { return codes[s / 2 * 32 + l] >> (s % 2 * 4) & 15; }

}  // namespace

void decodeQ2_K(const uint8_t* block, float* out) {
    const uint8_t *scales = block, *codes = block + 16;
    const float d = readHalf(block + 80), d_min = readHalf(block + 82);
    for (int group = 0; group < 16; ++group) {
        const float scale = d * static_cast<float>(scales[group] & 15);
        const float minimum = d_min * static_cast<float>(scales[group] >> 4);
        for (int i = group * 16; i < group * 16 + 16; ++i)
            out[i] = scale * static_cast<float>(crumb(codes, i)) - minimum;
    }
}

void decodeQ3_K(const uint8_t* block, float* out) {
    const uint8_t *high = block, *codes = block + 32, *scales = block + 96;
    const float d = readHalf(block + 108);
    for (int group = 0; group < 16; ++group) {
        const float scale = d * static_cast<float>(unpackQ3Scale(scales, group) - 32);
        for (int i = group * 16; i < group * 16 + 16; ++i) {
            const int below = high[i % 32] >> (i / 32) & 1 ? 0 : 4;
            out[i] = scale * static_cast<float>(crumb(codes, i) - below);
        }
    }
}

void decodeQ4_K(const uint8_t* block, float* out) {
    const float d = readHalf(block), d_min = readHalf(block + 2);
    for (int s = 0; s < 8; ++s) {
        const ScaleAndMinimum pair = unpackPair(block + 4, s);
        const float scale = d * static_cast<float>(pair.scale), minimum = d_min * static_cast<float>(pair.minimum);
        for (int l = 0; l < 32; ++l)
            out[s * 32 + l] = scale * static_cast<float>(pairNibble(block + 16, s, l)) - minimum;
    }
}

void decodeQ5_K(const uint8_t* block, float* out) {
    const uint8_t *high = block + 16, *codes = block + 48;
    const float d = readHalf(block), d_min = readHalf(block + 2);
    for (int s = 0; s < 8; ++s) {
        const ScaleAndMinimum pair = unpackPair(block + 4, s);
        const float scale = d * static_cast<float>(pair.scale), minimum = d_min * static_cast<float>(pair.minimum);
        for (int l = 0; l < 32; ++l) {
            const int code = pairNibble(codes, s, l) | (high[l] >> s & 1) << 4;
            out[s * 32 + l] = scale * static_cast<float>(code) - minimum;
        }
    }
}

void decodeQ6_K(const uint8_t* block, float* out) {
    const uint8_t *low = block, *high = block + 128, *scales = block + 192;
    const float d = readHalf(block + 208);
    for (int i = 0; i < 256; ++i) {
        const int half = i / 128, part = i % 128 / 32, l = i % 32;
        const int nibble = low[half * 64 + part % 2 * 32 + l] >> (part / 2 * 4) & 15;
        const int code = (nibble | (high[half * 32 + l] >> (part * 2) & 3) << 4) - 32;
        out[i] = d * static_cast<float>(static_cast<int8_t>(scales[i / 16])) * static_cast<float>(code);
    }
}

}  // namespace hearth::quant::detail
