#pragma once

// The vector vocabulary in plain C++: 8 lanes, no fused multiply-add. Each vec_*.h gives the same names in the namespace
// of its level; unnamed, so that no function compiled for one processor is ever linked into code for another.
// Kernel bodies (*.inc) use these names only, and no function or template of any other header.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/base/half.h"
#include "engine/cpu/kernels.h"

namespace hearth::cpu::generic {
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

inline float sqrt1(float a) { return __builtin_sqrtf(a); }

}  // namespace
}  // namespace hearth::cpu::generic
