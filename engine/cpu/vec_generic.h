#pragma once

// The vector vocabulary in plain C++: 8 lanes, no fused multiply-add. Each vec_*.h gives the same names in the namespace
// of its level; unnamed, so that no function compiled for one processor is ever linked into code for another.
// Kernel bodies (*.inc) use these names only, and no function or template of any other header.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/base/half.h"
#include "engine/cpu/kernels.h"

namespace hearth::cpu::HEARTH_LEVEL {
namespace {

constexpr size_t kLanes = 8;
struct F { float v[kLanes]; };
struct I { uint32_t v[kLanes]; };
struct M { bool v[kLanes]; };

template <typename Out, typename Each>
inline Out lanes(const Each& each) {
    Out out;
    for (size_t i = 0; i < kLanes; ++i) out.v[i] = each(i);
    return out;
}

// float32
inline F fset1(float a) { return lanes<F>([&](size_t) { return a; }); }
inline F fzero() { return fset1(0.0f); }
inline F fload(const float* p) { return lanes<F>([&](size_t i) { return p[i]; }); }
inline void fstore(float* p, F a) { std::memcpy(p, a.v, sizeof a.v); }
inline F floadPart(const float* p, size_t n, float fill = 0.0f) { return lanes<F>([&](size_t i) { return i < n ? p[i] : fill; }); }
inline void fstorePart(float* p, F a, size_t n) { std::memcpy(p, a.v, n * sizeof(float)); }
inline F fadd(F a, F b) { return lanes<F>([&](size_t i) { return a.v[i] + b.v[i]; }); }
inline F fsub(F a, F b) { return lanes<F>([&](size_t i) { return a.v[i] - b.v[i]; }); }
inline F fmul(F a, F b) { return lanes<F>([&](size_t i) { return a.v[i] * b.v[i]; }); }
inline F fdiv(F a, F b) { return lanes<F>([&](size_t i) { return a.v[i] / b.v[i]; }); }
inline F fma(F a, F b, F c) { return lanes<F>([&](size_t i) { return a.v[i] * b.v[i] + c.v[i]; }); }
/// The second operand where one is not a number, as the processor's instruction does.
inline F fmax(F a, F b) { return lanes<F>([&](size_t i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; }); }
inline F fmin(F a, F b) { return lanes<F>([&](size_t i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; }); }
inline M fless(F a, F b) { return lanes<M>([&](size_t i) { return a.v[i] < b.v[i]; }); }
inline F fselect(M m, F yes, F no) { return lanes<F>([&](size_t i) { return m.v[i] ? yes.v[i] : no.v[i]; }); }
inline float reduceAdd(F a) { return ((a.v[0] + a.v[4]) + (a.v[2] + a.v[6])) + ((a.v[1] + a.v[5]) + (a.v[3] + a.v[7])); }
/// The sum of each of kLanes vectors.
inline F reduceEach(const F* a) { return lanes<F>([&](size_t i) { return reduceAdd(a[i]); }); }
inline float reduceMax(F a) {
    float m = a.v[0];
    for (size_t i = 1; i < kLanes; ++i) m = a.v[i] > m ? a.v[i] : m;
    return m;
}

// 32-bit integers
inline I iset1(int32_t a) { return lanes<I>([&](size_t) { return static_cast<uint32_t>(a); }); }
inline I iadd(I a, I b) { return lanes<I>([&](size_t i) { return a.v[i] + b.v[i]; }); }
inline I isub(I a, I b) { return lanes<I>([&](size_t i) { return a.v[i] - b.v[i]; }); }
inline I iand(I a, I b) { return lanes<I>([&](size_t i) { return a.v[i] & b.v[i]; }); }
inline I ior(I a, I b) { return lanes<I>([&](size_t i) { return a.v[i] | b.v[i]; }); }
inline I ixor(I a, I b) { return lanes<I>([&](size_t i) { return a.v[i] ^ b.v[i]; }); }
template <int N> inline I ishl(I a) { return lanes<I>([&](size_t i) { return a.v[i] << N; }); }
template <int N> inline I ishr(I a) { return lanes<I>([&](size_t i) { return a.v[i] >> N; }); }
template <int N> inline I isra(I a) { return lanes<I>([&](size_t i) { return static_cast<uint32_t>(static_cast<int32_t>(a.v[i]) >> N); }); }
inline I fbits(F a) { I out; std::memcpy(out.v, a.v, sizeof a.v); return out; }
inline F ibits(I a) { F out; std::memcpy(out.v, a.v, sizeof a.v); return out; }
inline F toFloat(I a) { return lanes<F>([&](size_t i) { return static_cast<float>(static_cast<int32_t>(a.v[i])); }); }
/// Nearest, ties to even, for |a| < 2^22; anything for the rest.
inline I roundToInt(F a) { return isub(fbits(fadd(a, fset1(12582912.0f))), iset1(0x4b400000)); }

// 16-bit and 8-bit values, kLanes of them
inline F loadHalf(const void* p) {
    uint16_t h[kLanes];
    std::memcpy(h, p, sizeof h);
    return lanes<F>([&](size_t i) { return halfToFloat(h[i]); });
}
inline void storeHalf(void* p, F a) {
    uint16_t h[kLanes];
    for (size_t i = 0; i < kLanes; ++i) h[i] = floatToHalf(a.v[i]);
    std::memcpy(p, h, sizeof h);
}
inline F loadBf16(const void* p) {
    uint16_t h[kLanes];
    std::memcpy(h, p, sizeof h);
    return lanes<F>([&](size_t i) { return bf16ToFloat(h[i]); });
}
inline float loadHalf1(const void* p) { uint16_t h; std::memcpy(&h, p, 2); return halfToFloat(h); }
inline void storeHalf1(void* p, float a) { const uint16_t h = floatToHalf(a); std::memcpy(p, &h, 2); }
inline I loadInt8(const void* p) {
    int8_t b[kLanes];
    std::memcpy(b, p, sizeof b);
    return lanes<I>([&](size_t i) { return static_cast<uint32_t>(static_cast<int32_t>(b[i])); });
}
/// The low byte of each lane.
inline void storeInt8(void* p, I a) {
    uint8_t b[kLanes];
    for (size_t i = 0; i < kLanes; ++i) b[i] = static_cast<uint8_t>(a.v[i]);
    std::memcpy(p, b, sizeof b);
}

// Rows added to sums (axpy.inc): lanes are values of a row.

/// kLanes bytes, each in a lane of its own.
inline I loadBytes(const void* p) {
    uint8_t b[kLanes];
    std::memcpy(b, p, sizeof b);
    return lanes<I>([&](size_t i) { return static_cast<uint32_t>(b[i]); });
}
/// The low four bits of each lane, less kOffset.
template <int kOffset> inline F nibbleFloat(I a) {
    return lanes<F>([&](size_t i) { return static_cast<float>(static_cast<int>(a.v[i] & 15u) - kOffset); });
}
/// Bits 4 to 7 of each lane, whose other bits are 0 from bit 8 on, less kOffset.
template <int kOffset> inline F highNibbleFloat(I a) { return nibbleFloat<kOffset>(ishr<4>(a)); }
/// table[low four bits].
inline F tableFloat(const float* table, I a) { return lanes<F>([&](size_t i) { return table[a.v[i] & 15u]; }); }
/// Bit i in lane i, as 0 or 1.
inline I bitLanes(uint32_t bits) { return lanes<I>([&](size_t i) { return bits >> i & 1u; }); }
/// Two bits a lane: lanes S·kLanes + i of 32, of which byte j holds j, j + 8, j + 16 and j + 24 from the lowest bits up.
template <int S> inline I crumbLanes(const uint8_t* p) {
    return lanes<I>([&](size_t i) { return static_cast<uint32_t>(p[i] >> (2 * S) & 3); });
}
/// Writes first + i for each lane i that m names, in order, and returns how many; up to kLanes values at out may change.
inline size_t storeLanes(M m, uint32_t first, uint32_t* out) {
    size_t count = 0;
    for (size_t i = 0; i < kLanes; ++i)
        if (m.v[i]) out[count++] = first + static_cast<uint32_t>(i);
    return count;
}

// Products (products.inc): lanes are rows of the weight.

inline I loadI(const void* p) { I out; std::memcpy(out.v, p, sizeof out.v); return out; }
inline void storeI(void* p, I a) { std::memcpy(p, a.v, sizeof a.v); }
inline uint32_t word(const void* p) { uint32_t w; std::memcpy(&w, p, 4); return w; }
/// The 4 bytes at p in every lane.
inline I splat(const void* p) { return iset1(static_cast<int32_t>(word(p))); }
inline I imul(I a, I b) { return lanes<I>([&](size_t i) { return a.v[i] * b.v[i]; }); }

/// kLanes rows of a weight, `stride` bytes apart.
struct Rows {
    const uint8_t* base;
    size_t stride;
    const uint8_t* operator[](size_t i) const { return base + i * stride; }
};
/// kLanes rows of a weight, anywhere.
struct ListedRows {
    const uint8_t* first[kLanes];
    const uint8_t* operator[](size_t i) const { return first[i]; }
};

/// 4 bytes of each row.
inline I loadRows32(const auto& rows, size_t offset) {
    return lanes<I>([&](size_t i) { return word(rows[i] + offset); });
}
/// 16 bytes of each row: out[j] holds bytes 4j to 4j + 3.
inline void loadTransposed(const auto& rows, size_t offset, I* out) {
    for (size_t j = 0; j < 4; ++j) out[j] = loadRows32(rows, offset + 4 * j);
}
/// The half-precision number in the low 16 bits of each lane, or in the high ones.
inline F lowHalf(I a) { return lanes<F>([&](size_t i) { return halfToFloat(static_cast<uint16_t>(a.v[i])); }); }
inline F highHalf(I a) { return lowHalf(ishr<16>(a)); }
/// table[nibble] in each byte of `nibbles` (all below 16).
inline I lookup16(const uint8_t* table, I nibbles) {
    return lanes<I>([&](size_t i) {
        const uint32_t n = nibbles.v[i];
        return static_cast<uint32_t>(table[n & 15]) | static_cast<uint32_t>(table[n >> 8 & 15]) << 8 |
               static_cast<uint32_t>(table[n >> 16 & 15]) << 16 | static_cast<uint32_t>(table[n >> 24 & 15]) << 24;
    });
}
/// Bits 4J to 4J + 3 of each lane as bytes of 0 or 255.
template <int J> inline I bitBytes(I a) {
    return lanes<I>([&](size_t i) {
        const uint32_t n = a.v[i] >> (4 * J) & 15u;
        return ((n * 0x00204081u) & 0x01010101u) * 255u;
    });
}

/// start + Σ over N words of (4 codes of a lane · 4 codes at x): weight codes are 0 to kMax, activations −127 to 127.
template <int N, int kMax> inline I dotCodes(I start, const I* w, const int8_t* x) {
    for (int j = 0; j < N; ++j)
        for (size_t i = 0; i < kLanes; ++i) {
            const uint32_t c = w[j].v[i];
            const int8_t* y = x + 4 * j;
            const int sum = static_cast<int>(c & 255u) * y[0] + static_cast<int>(c >> 8 & 255u) * y[1] +
                            static_cast<int>(c >> 16 & 255u) * y[2] + static_cast<int>(c >> 24) * y[3];
            start.v[i] += static_cast<uint32_t>(sum);
        }
    return start;
}
/// Signed codes −128 to 127 in the form that dotWide takes.
inline I toWide(I signed_codes) { return ixor(signed_codes, iset1(static_cast<int32_t>(0x80808080u))); }
/// What a sum of wide products starts at, given −Σ of the activations' codes.
inline I wideStart(I negative_sum) { return ishl<7>(negative_sum); }
template <int N> inline I dotWide(I start, const I* w, const int8_t* x) { return dotCodes<N, 255>(start, w, x); }
inline void prefetch(const void*) {}
constexpr size_t kTile = 4, kFloatTile = 4;  // tokens at a time, with block and float types

inline float sqrt1(float a) { return __builtin_sqrtf(a); }

}  // namespace
}  // namespace hearth::cpu::HEARTH_LEVEL
