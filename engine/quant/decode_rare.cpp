#include <bit>

#include "engine/quant/blocks.h"

/// Types with a table of values, ternary and very small types (formats §1.7).
namespace hearth::quant::detail {

namespace {

constexpr float kNonlinear[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/// FP4 (sign, 2 exponent bits, 1 mantissa bit), doubled so that all values are integers.
constexpr float kFp4Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, -0.0f, -1, -2, -3, -4, -6, -8, -12};

inline int nibble(const uint8_t* codes, int j, int half) { return j < half ? codes[j] & 15 : codes[j - half] >> 4; }

/// 2^(e − 128) of an E8M0 byte: half the scale, because the table is doubled. Denormal in float32 for e < 2.
inline float halfE8M0(uint8_t e) { return std::bit_cast<float>(e < 2 ? 0x00200000u << e : (e - 1u) << 23); }

/// Half of an unsigned 8-bit float with 4 exponent bits (bias 7) and 3 mantissa bits; its NaN reads as zero.
inline float halfUE4M3(uint8_t bits) {
    const uint32_t exponent = bits >> 3 & 15u, mantissa = bits & 7u;
    if (bits == 0x7f) return 0.0f;
    if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
    return static_cast<float>(8 + mantissa) * std::bit_cast<float>((exponent + 127 - 7 - 3 - 1) << 23);
}

/// Base-3 digit n of a byte that holds five, most significant first, as a fraction of 256.
inline int trit(uint8_t byte, int n) {
    constexpr int powers[5] = {1, 3, 9, 27, 81};
    return ((byte * powers[n] & 255) * 3) >> 8;
}

}  // namespace

void decodeIQ4_NL(const uint8_t* block, float* out) {
    const float scale = readHalf(block);
    for (int j = 0; j < 32; ++j) out[j] = kNonlinear[nibble(block + 2, j, 16)] * scale;
}

void decodeIQ4_XS(const uint8_t* block, float* out) {
    const float d = readHalf(block);
    const int high = block[2] | block[3] << 8;
    for (int s = 0; s < 8; ++s) {
        const int low = block[4 + s / 2] >> (s % 2 * 4) & 15;
        const float scale = d * static_cast<float>((low | (high >> (2 * s) & 3) << 4) - 32);
        for (int j = 0; j < 32; ++j) out[s * 32 + j] = scale * kNonlinear[nibble(block + 8 + s * 16, j, 16)];
    }
}

void decodeTQ1_0(const uint8_t* block, float* out) {
    const float d = readHalf(block + 52);
    const auto run = [&](const uint8_t* bytes, int count, int digits) {
        for (int n = 0; n < digits; ++n)
            for (int l = 0; l < count; ++l) *out++ = static_cast<float>(trit(bytes[l], n) - 1) * d;
    };
    run(block, 32, 5);
    run(block + 32, 16, 5);
    run(block + 48, 4, 4);
}

void decodeTQ2_0(const uint8_t* block, float* out) {
    const float d = readHalf(block + 64);
    for (int i = 0; i < 256; ++i) {
        const int code = block[i / 128 * 32 + i % 32] >> (i % 128 / 32 * 2) & 3;
        out[i] = static_cast<float>(code - 1) * d;
    }
}

void decodeMXFP4(const uint8_t* block, float* out) {
    const float scale = halfE8M0(block[0]);
    for (int j = 0; j < 32; ++j) out[j] = kFp4Doubled[nibble(block + 1, j, 16)] * scale;
}

void decodeNVFP4(const uint8_t* block, float* out) {
    for (int s = 0; s < 4; ++s) {
        const float scale = halfUE4M3(block[s]);
        for (int j = 0; j < 16; ++j) out[s * 16 + j] = kFp4Doubled[nibble(block + 4 + s * 8, j, 8)] * scale;
    }
}

void decodeQ1_0(const uint8_t* block, float* out) {
    const float d = readHalf(block);
    for (int i = 0; i < 128; ++i) out[i] = block[2 + i / 8] >> (i % 8) & 1 ? d : -d;
}

void decodeQ2_0(const uint8_t* block, float* out) {
    const float d = readHalf(block);
    for (int i = 0; i < 64; ++i) out[i] = static_cast<float>((block[2 + i / 4] >> (i % 4 * 2) & 3) - 1) * d;
}

}  // namespace hearth::quant::detail
