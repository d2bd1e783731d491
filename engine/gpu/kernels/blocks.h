#pragma once

#include "engine/gguf/type.h"
#include "engine/gpu/kernel.h"

/// The block formats of GGUF (formats §1.7) as kernels read them: 16 values at a time, as signed or unsigned bytes in four
/// words, value = scale · code − minimum.
namespace hearth::gpu::kernels {

using gguf::Type;

struct Group {
    int codes[4];
    float scale, minimum;
};

/// Blocks begin at any byte for MXFP4, at even ones otherwise: words are read in halves.
HEARTH_KERNEL_FUNCTION uint32_t half16(DevPtr<const uint8_t> p) { return p[0] | static_cast<uint32_t>(p[1]) << 8; }
HEARTH_KERNEL_FUNCTION uint32_t word(DevPtr<const uint8_t> p) {
    const DevPtr<const uint16_t> halves = p.as<const uint16_t>();
    return halves[0] | static_cast<uint32_t>(halves[1]) << 16;
}
HEARTH_KERNEL_FUNCTION uint32_t bytes4(DevPtr<const uint8_t> p) { return half16(p) | half16(p + 2) << 16; }
HEARTH_KERNEL_FUNCTION float half(DevPtr<const uint8_t> p) { return halfAsFloat(p.as<const uint16_t>()[0]); }

/// Four bits to the bottom of four bytes.
HEARTH_KERNEL_FUNCTION uint32_t spreadBits(uint32_t bits) {
    return (bits & 1u) | (bits & 2u) << 7 | (bits & 4u) << 14 | (bits & 8u) << 21;
}
/// Four pairs of bits to the bottom of four bytes.
HEARTH_KERNEL_FUNCTION uint32_t spreadCrumbs(uint32_t bits) {
    return (bits & 3u) | (bits & 12u) << 6 | (bits & 48u) << 12 | (bits & 192u) << 18;
}
constexpr uint32_t kNibbles = 0x0f0f0f0fu, kCrumbs = 0x03030303u, kBits = 0x01010101u;

/// Entry n (0..15) of a table of signed bytes packed into four words.
HEARTH_KERNEL_FUNCTION uint32_t entry(const uint32_t (&table)[4], uint32_t n) {
    return table[n / 4] >> (n % 4 * 8) & 255u;
}
HEARTH_KERNEL_FUNCTION uint32_t lookUp(const uint32_t (&table)[4], uint32_t nibbles) {
    return entry(table, nibbles & 15u) | entry(table, nibbles >> 8 & 15u) << 8 |
           entry(table, nibbles >> 16 & 15u) << 16 | entry(table, nibbles >> 24 & 15u) << 24;
}
/// −127 −104 −83 −65 −49 −35 −22 −10 1 13 25 38 53 69 89 113
#define HEARTH_NONLINEAR_TABLE {0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u}
/// FP4 doubled: 0 1 2 3 4 6 8 12 and the same negated
#define HEARTH_FP4_TABLE {0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu}

/// Values and bytes of a block, and its g-th group of 16.
template <Type>
struct Format;

template <>
struct Format<Type::Q4_0> {
    static constexpr unsigned values = 32, bytes = 18;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = half(b);
        out.minimum = 8 * out.scale;
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(word(b + 2 + 4 * k) >> 4 * g & kNibbles);
        return out;
    }
};

template <>
struct Format<Type::Q4_1> {
    static constexpr unsigned values = 32, bytes = 20;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = half(b);
        out.minimum = -half(b + 2);
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(word(b + 4 + 4 * k) >> 4 * g & kNibbles);
        return out;
    }
};

/// Five bits: four in nibbles, the fifth of all 32 values in a word before them.
HEARTH_KERNEL_FUNCTION void fiveBits(DevPtr<const uint8_t> high, unsigned g, int (&codes)[4]) {
    const uint32_t fifth = word(high) >> 16 * g;
    for (unsigned k = 0; k < 4; ++k)
        codes[k] = static_cast<int>((word(high + 4 + 4 * k) >> 4 * g & kNibbles) | spreadBits(fifth >> 4 * k) << 4);
}

template <>
struct Format<Type::Q5_0> {
    static constexpr unsigned values = 32, bytes = 22;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = half(b);
        out.minimum = 16 * out.scale;
        fiveBits(b + 2, g, out.codes);
        return out;
    }
};

template <>
struct Format<Type::Q5_1> {
    static constexpr unsigned values = 32, bytes = 24;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = half(b);
        out.minimum = -half(b + 2);
        fiveBits(b + 4, g, out.codes);
        return out;
    }
};

template <>
struct Format<Type::Q8_0> {
    static constexpr unsigned values = 32, bytes = 34;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = half(b);
        out.minimum = 0;
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(word(b + 2 + 16 * g + 4 * k));
        return out;
    }
};

/// Word k of the two-bit codes of group g of 256 values: 32 bytes hold 128, 32 at each shift.
HEARTH_KERNEL_FUNCTION uint32_t crumbs(DevPtr<const uint8_t> codes, unsigned g, unsigned k) {
    return word(codes + g / 8 * 32 + g % 2 * 16 + 4 * k) >> g % 8 / 2 * 2 & kCrumbs;
}

template <>
struct Format<Type::Q2_K> {
    static constexpr unsigned values = 256, bytes = 84;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = half(b + 80) * static_cast<float>(b[g] & 15);
        out.minimum = half(b + 82) * static_cast<float>(b[g] >> 4);
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(crumbs(b + 16, g, k));
        return out;
    }
};

template <>
struct Format<Type::Q3_K> {
    static constexpr unsigned values = 256, bytes = 110;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        const DevPtr<const uint8_t> scales = b + 96;
        const int low = g < 8 ? scales[g] & 15 : scales[g - 8] >> 4;
        const int scale = low | (scales[8 + g % 4] >> 2 * (g / 4) & 3) << 4;
        Group out;
        out.scale = half(b + 108) * static_cast<float>(scale - 32);
        out.minimum = 4 * out.scale;
        for (unsigned k = 0; k < 4; ++k) {
            const uint32_t high = word(b + g % 2 * 16 + 4 * k) >> g / 2 & kBits;
            out.codes[k] = static_cast<int>(crumbs(b + 32, g, k) | high << 2);
        }
        return out;
    }
};

/// Scale and minimum of sub-block s of Q4_K and Q5_K: six bits each, packed in 12 bytes.
HEARTH_KERNEL_FUNCTION void pairOf(DevPtr<const uint8_t> packed, unsigned s, Group& out, float d, float d_min) {
    const int scale = s < 4 ? packed[s] & 63 : (packed[s + 4] & 15) | (packed[s - 4] >> 6) << 4;
    const int minimum = s < 4 ? packed[s + 4] & 63 : packed[s + 4] >> 4 | (packed[s] >> 6) << 4;
    out.scale = d * static_cast<float>(scale);
    out.minimum = d_min * static_cast<float>(minimum);
}

template <>
struct Format<Type::Q4_K> {
    static constexpr unsigned values = 256, bytes = 144;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        pairOf(b + 4, g / 2, out, half(b), half(b + 2));
        for (unsigned k = 0; k < 4; ++k)
            out.codes[k] = static_cast<int>(word(b + 16 + g / 4 * 32 + g % 2 * 16 + 4 * k) >> g / 2 % 2 * 4 & kNibbles);
        return out;
    }
};

template <>
struct Format<Type::Q5_K> {
    static constexpr unsigned values = 256, bytes = 176;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        pairOf(b + 4, g / 2, out, half(b), half(b + 2));
        for (unsigned k = 0; k < 4; ++k) {
            const uint32_t low = word(b + 48 + g / 4 * 32 + g % 2 * 16 + 4 * k) >> g / 2 % 2 * 4 & kNibbles;
            const uint32_t high = word(b + 16 + g % 2 * 16 + 4 * k) >> g / 2 & kBits;
            out.codes[k] = static_cast<int>(low | high << 4);
        }
        return out;
    }
};

template <>
struct Format<Type::Q6_K> {
    static constexpr unsigned values = 256, bytes = 210;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        const unsigned part = g % 8 / 2, from = g % 2 * 16;
        Group out;
        out.scale = half(b + 208) * static_cast<float>(static_cast<int8_t>(b[192 + g]));
        out.minimum = 32 * out.scale;
        for (unsigned k = 0; k < 4; ++k) {
            const uint32_t low = word(b + g / 8 * 64 + part % 2 * 32 + from + 4 * k) >> part / 2 * 4 & kNibbles;
            const uint32_t high = word(b + 128 + g / 8 * 32 + from + 4 * k) >> part * 2 & kCrumbs;
            out.codes[k] = static_cast<int>(low | high << 4);
        }
        return out;
    }
};

template <>
struct Format<Type::IQ4_NL> {
    static constexpr unsigned values = 32, bytes = 18;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        constexpr uint32_t table[4] = HEARTH_NONLINEAR_TABLE;
        Group out;
        out.scale = half(b);
        out.minimum = 0;
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(lookUp(table, word(b + 2 + 4 * k) >> 4 * g));
        return out;
    }
};

template <>
struct Format<Type::IQ4_XS> {
    static constexpr unsigned values = 256, bytes = 136;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        constexpr uint32_t table[4] = HEARTH_NONLINEAR_TABLE;
        const unsigned s = g / 2;
        const int low = b[4 + s / 2] >> s % 2 * 4 & 15;
        const int scale = low | static_cast<int>(half16(b + 2) >> 2 * s & 3u) << 4;
        Group out;
        out.scale = half(b) * static_cast<float>(scale - 32);
        out.minimum = 0;
        for (unsigned k = 0; k < 4; ++k)
            out.codes[k] = static_cast<int>(lookUp(table, word(b + 8 + s * 16 + 4 * k) >> g % 2 * 4));
        return out;
    }
};

template <>
struct Format<Type::TQ1_0> {
    static constexpr unsigned values = 256, bytes = 54;
    /// Base-3 digit n of a byte, most significant first, as a fraction of 256.
    HEARTH_KERNEL_FUNCTION static uint32_t digit(uint32_t byte, unsigned n) {
        const uint32_t power = n == 0 ? 1 : n == 1 ? 3 : n == 2 ? 9 : n == 3 ? 27 : 81;
        return (byte * power & 255u) * 3 >> 8;
    }
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = out.minimum = half(b + 52);
        for (unsigned k = 0; k < 4; ++k) {
            uint32_t codes = 0;
            for (unsigned i = 0; i < 4; ++i) {
                const unsigned j = 4 * k + i;  // 32 bytes of five digits, 16 of five, 4 of four
                const uint32_t value = g < 10   ? digit(b[g % 2 * 16 + j], g / 2)
                                       : g < 15 ? digit(b[32 + j], g - 10)
                                                : digit(b[48 + j % 4], j / 4);
                codes |= value << 8 * i;
            }
            out.codes[k] = static_cast<int>(codes);
        }
        return out;
    }
};

template <>
struct Format<Type::TQ2_0> {
    static constexpr unsigned values = 256, bytes = 66;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = out.minimum = half(b + 64);
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(crumbs(b, g, k));
        return out;
    }
};

template <>
struct Format<Type::MXFP4> {
    static constexpr unsigned values = 32, bytes = 17;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        constexpr uint32_t table[4] = HEARTH_FP4_TABLE;
        const uint32_t e = b[0];  // 2^(e − 128): half the scale, because the table is doubled
        Group out;
        out.scale = bitsAsFloat(e < 2 ? 0x00200000u << e : (e - 1) << 23);
        out.minimum = 0;
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(lookUp(table, bytes4(b + 1 + 4 * k) >> 4 * g));
        return out;
    }
};

template <>
struct Format<Type::NVFP4> {
    static constexpr unsigned values = 64, bytes = 36;
    /// Half of an unsigned float of four exponent and three mantissa bits; its NaN reads as zero.
    HEARTH_KERNEL_FUNCTION static float halfScale(uint32_t bits) {
        const uint32_t exponent = bits >> 3 & 15u, mantissa = bits & 7u;
        if (bits == 0x7f) return 0.0f;
        if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
        return static_cast<float>(8 + mantissa) * bitsAsFloat((exponent + 127 - 7 - 3 - 1) << 23);
    }
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        constexpr uint32_t table[4] = HEARTH_FP4_TABLE;
        Group out;
        out.scale = halfScale(b[g]);
        out.minimum = 0;
        for (unsigned k = 0; k < 4; ++k)
            out.codes[k] = static_cast<int>(lookUp(table, word(b + 4 + 8 * g + k % 2 * 4) >> k / 2 * 4));
        return out;
    }
};

template <>
struct Format<Type::Q1_0> {
    static constexpr unsigned values = 128, bytes = 18;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.minimum = half(b);
        out.scale = 2 * out.minimum;
        const uint32_t bits = half16(b + 2 + 2 * g);
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(spreadBits(bits >> 4 * k));
        return out;
    }
};

template <>
struct Format<Type::Q2_0> {
    static constexpr unsigned values = 64, bytes = 18;
    HEARTH_KERNEL_FUNCTION static Group group(DevPtr<const uint8_t> b, unsigned g) {
        Group out;
        out.scale = out.minimum = half(b);
        for (unsigned k = 0; k < 4; ++k) out.codes[k] = static_cast<int>(spreadCrumbs(b[2 + 4 * g + k]));
        return out;
    }
};

/// Every type that has a Format.
#define HEARTH_BLOCK_TYPES(X)                                                                                       \
    X(Q4_0)                                                                                                         \
    X(Q4_1)                                                                                                         \
    X(Q5_0)                                                                                                         \
    X(Q5_1)                                                                                                         \
    X(Q8_0) X(Q2_K) X(Q3_K) X(Q4_K) X(Q5_K) X(Q6_K) X(IQ4_NL) X(IQ4_XS) X(TQ1_0) X(TQ2_0) X(MXFP4) X(NVFP4) X(Q1_0) \
        X(Q2_0)

}  // namespace hearth::gpu::kernels
