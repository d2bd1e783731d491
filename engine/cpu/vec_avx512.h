#pragma once

// The vector vocabulary (vec_generic.h says what the names mean) in AVX-512 F, BW, VL, DQ and VNNI: 16 lanes.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/cpu/kernels.h"

namespace hearth::cpu::HEARTH_LEVEL {
namespace {

constexpr size_t kLanes = 16;
using F = __m512;
using I = __m512i;
using M = __mmask16;

HEARTH_INLINE F fset1(float a) { return _mm512_set1_ps(a); }
HEARTH_INLINE F fzero() { return _mm512_setzero_ps(); }
HEARTH_INLINE F fload(const float* p) { return _mm512_loadu_ps(p); }
HEARTH_INLINE void fstore(float* p, F a) { _mm512_storeu_ps(p, a); }
HEARTH_INLINE M partMask(size_t n) { return static_cast<M>((1u << n) - 1u); }
HEARTH_INLINE F floadPart(const float* p, size_t n, float fill = 0.0f) { return _mm512_mask_loadu_ps(_mm512_set1_ps(fill), partMask(n), p); }
HEARTH_INLINE void fstorePart(float* p, F a, size_t n) { _mm512_mask_storeu_ps(p, partMask(n), a); }
HEARTH_INLINE F fadd(F a, F b) { return _mm512_add_ps(a, b); }
HEARTH_INLINE F fsub(F a, F b) { return _mm512_sub_ps(a, b); }
HEARTH_INLINE F fmul(F a, F b) { return _mm512_mul_ps(a, b); }
HEARTH_INLINE F fdiv(F a, F b) { return _mm512_div_ps(a, b); }
HEARTH_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
HEARTH_INLINE F fmax(F a, F b) { return _mm512_max_ps(a, b); }
HEARTH_INLINE F fmin(F a, F b) { return _mm512_min_ps(a, b); }
HEARTH_INLINE M fless(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
HEARTH_INLINE F fselect(M m, F yes, F no) { return _mm512_mask_blend_ps(m, no, yes); }
HEARTH_INLINE float reduceAdd(F a) {
    const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
/// In each quarter, the sums of four vectors' values there.
HEARTH_INLINE F quarterSums(const F* a) {
    const F ab = _mm512_add_ps(_mm512_unpacklo_ps(a[0], a[1]), _mm512_unpackhi_ps(a[0], a[1]));
    const F cd = _mm512_add_ps(_mm512_unpacklo_ps(a[2], a[3]), _mm512_unpackhi_ps(a[2], a[3]));
    const auto low = _mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd)),
               high = _mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
    return _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
}
HEARTH_INLINE F reduceEach(const F* a) {
    const F s0 = quarterSums(a), s1 = quarterSums(a + 4), s2 = quarterSums(a + 8), s3 = quarterSums(a + 12);
    const F s01 = _mm512_add_ps(_mm512_shuffle_f32x4(s0, s1, 0x88), _mm512_shuffle_f32x4(s0, s1, 0xdd));
    const F s23 = _mm512_add_ps(_mm512_shuffle_f32x4(s2, s3, 0x88), _mm512_shuffle_f32x4(s2, s3, 0xdd));
    return _mm512_add_ps(_mm512_shuffle_f32x4(s01, s23, 0x88), _mm512_shuffle_f32x4(s01, s23, 0xdd));
}
HEARTH_INLINE float reduceMax(F a) {
    const __m256 h = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

HEARTH_INLINE I iset1(int32_t a) { return _mm512_set1_epi32(a); }
HEARTH_INLINE I iadd(I a, I b) { return _mm512_add_epi32(a, b); }
HEARTH_INLINE I isub(I a, I b) { return _mm512_sub_epi32(a, b); }
HEARTH_INLINE I imul(I a, I b) { return _mm512_mullo_epi32(a, b); }
HEARTH_INLINE I iand(I a, I b) { return _mm512_and_si512(a, b); }
HEARTH_INLINE I ior(I a, I b) { return _mm512_or_si512(a, b); }
HEARTH_INLINE I ixor(I a, I b) { return _mm512_xor_si512(a, b); }
template <unsigned N> HEARTH_INLINE I ishl(I a) { return _mm512_slli_epi32(a, N); }
template <unsigned N> HEARTH_INLINE I ishr(I a) { return _mm512_srli_epi32(a, N); }
template <unsigned N> HEARTH_INLINE I isra(I a) { return _mm512_srai_epi32(a, N); }
HEARTH_INLINE I fbits(F a) { return _mm512_castps_si512(a); }
HEARTH_INLINE F ibits(I a) { return _mm512_castsi512_ps(a); }
HEARTH_INLINE F toFloat(I a) { return _mm512_cvtepi32_ps(a); }
HEARTH_INLINE I roundToInt(F a) { return _mm512_cvtps_epi32(a); }

HEARTH_INLINE F loadHalf(const void* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p))); }
HEARTH_INLINE void storeHalf(void* p, F a) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}
HEARTH_INLINE F loadBf16(const void* p) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(p))), 16));
}
HEARTH_INLINE float loadHalf1(const void* p) { uint16_t h; std::memcpy(&h, p, 2); return _cvtsh_ss(h); }
HEARTH_INLINE void storeHalf1(void* p, float a) { const uint16_t h = _cvtss_sh(a, _MM_FROUND_TO_NEAREST_INT); std::memcpy(p, &h, 2); }
HEARTH_INLINE I loadInt8(const void* p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))); }
HEARTH_INLINE void storeInt8(void* p, I a) { _mm_storeu_si128(static_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a)); }

HEARTH_INLINE I loadBytes(const void* p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))); }
template <int kOffset> HEARTH_INLINE F nibbleFloat(I a) {
    return _mm512_permutexvar_ps(a, _mm512_setr_ps(0 - kOffset, 1 - kOffset, 2 - kOffset, 3 - kOffset, 4 - kOffset, 5 - kOffset, 6 - kOffset,
                                                   7 - kOffset, 8 - kOffset, 9 - kOffset, 10 - kOffset, 11 - kOffset, 12 - kOffset,
                                                   13 - kOffset, 14 - kOffset, 15 - kOffset));
}
/// Bits 4 to 7 put behind the exponent of 2^19 stand for whole numbers there: no shift and no second permutation, whose ports
/// are the busy ones.
template <int kOffset> HEARTH_INLINE F highNibbleFloat(I a) {
    return fsub(ibits(_mm512_ternarylogic_epi32(a, iset1(0xf0), iset1(0x49000000), 0xea)), fset1(524288.0f + kOffset));
}
HEARTH_INLINE F tableFloat(const float* table, I a) { return _mm512_permutexvar_ps(a, fload(table)); }
HEARTH_INLINE I bitLanes(uint32_t bits) { return _mm512_maskz_set1_epi32(static_cast<M>(bits), 1); }
template <int S> HEARTH_INLINE I crumbLanes(const uint8_t* p) {
    const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    const I twice = _mm512_cvtepu8_epi32(_mm_unpacklo_epi64(eight, eight));
    const I shift = _mm512_mask_blend_epi32(0xff00, iset1(4 * S), iset1(4 * S + 2));
    return iand(_mm512_srlv_epi32(twice, shift), iset1(3));
}
HEARTH_INLINE size_t storeLanes(M m, uint32_t first, uint32_t* out) {
    const I lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(m, iadd(lanes, iset1(static_cast<int32_t>(first)))));
    return static_cast<size_t>(__builtin_popcount(m));
}

HEARTH_INLINE I loadI(const void* p) { return _mm512_loadu_si512(p); }
HEARTH_INLINE void storeI(void* p, I a) { _mm512_storeu_si512(p, a); }
HEARTH_INLINE int32_t word(const void* p) { int32_t w; std::memcpy(&w, p, 4); return w; }
HEARTH_INLINE I splat(const void* p) { return _mm512_set1_epi32(word(p)); }

struct Rows {
    const uint8_t* base;
    size_t stride;
    HEARTH_INLINE const uint8_t* operator[](size_t i) const { return base + i * stride; }
};
struct ListedRows {
    const uint8_t* first[kLanes];
    HEARTH_INLINE const uint8_t* operator[](size_t i) const { return first[i]; }
};

HEARTH_INLINE I loadRows32(const auto& rows, size_t o) {
    const auto four = [&](size_t i) HEARTH_INLINE_LAMBDA {
        return _mm_setr_epi32(word(rows[i] + o), word(rows[i + 1] + o), word(rows[i + 2] + o), word(rows[i + 3] + o));
    };
    const __m256i low = _mm256_setr_m128i(four(0), four(4)), high = _mm256_setr_m128i(four(8), four(12));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
HEARTH_INLINE __m128i load16(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
/// Rows i, i + 4, i + 8 and i + 12.
HEARTH_INLINE I fourRows(const auto& rows, size_t i, size_t o) {
    I out = _mm512_castsi128_si512(load16(rows[i] + o));
    out = _mm512_mask_broadcast_i32x4(out, 0x00f0, load16(rows[i + 4] + o));
    out = _mm512_mask_broadcast_i32x4(out, 0x0f00, load16(rows[i + 8] + o));
    return _mm512_mask_broadcast_i32x4(out, 0xf000, load16(rows[i + 12] + o));
}
/// Words of four vectors, transposed in each quarter.
HEARTH_INLINE void transpose(I a, I b, I c, I d, I* out) {
    const I ab_low = _mm512_unpacklo_epi32(a, b), ab_high = _mm512_unpackhi_epi32(a, b);
    const I cd_low = _mm512_unpacklo_epi32(c, d), cd_high = _mm512_unpackhi_epi32(c, d);
    out[0] = _mm512_unpacklo_epi64(ab_low, cd_low);
    out[1] = _mm512_unpackhi_epi64(ab_low, cd_low);
    out[2] = _mm512_unpacklo_epi64(ab_high, cd_high);
    out[3] = _mm512_unpackhi_epi64(ab_high, cd_high);
}
HEARTH_INLINE void loadTransposed(const auto& rows, size_t o, I* out) {
    transpose(fourRows(rows, 0, o), fourRows(rows, 1, o), fourRows(rows, 2, o), fourRows(rows, 3, o), out);
}
HEARTH_INLINE F lowHalf(I a) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(a)); }
HEARTH_INLINE F highHalf(I a) { return lowHalf(ishr<16>(a)); }
HEARTH_INLINE I lookup16(const uint8_t* table, I nibbles) {
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(load16(table)), nibbles);
}
template <int J> HEARTH_INLINE I bitBytes(I a) {
    constexpr int b = J / 2 * 0x01010101;
    const I spread = _mm512_shuffle_epi8(a, _mm512_broadcast_i32x4(_mm_setr_epi32(b, b + 0x04040404, b + 0x08080808, b + 0x0c0c0c0c)));
    return _mm512_movm_epi8(_mm512_test_epi8_mask(spread, iset1(J % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010u))));
}

template <int N, int kMax> HEARTH_INLINE I dotCodes(I start, const I* w, const int8_t* x) {
    for (int j = 0; j < N; ++j) start = _mm512_dpbusd_epi32(start, w[j], splat(x + 4 * j));
    return start;
}
HEARTH_INLINE I toWide(I signed_codes) { return ixor(signed_codes, iset1(static_cast<int32_t>(0x80808080u))); }
HEARTH_INLINE I wideStart(I negative_sum) { return ishl<7>(negative_sum); }
template <int N> HEARTH_INLINE I dotWide(I start, const I* w, const int8_t* x) { return dotCodes<N, 255>(start, w, x); }

HEARTH_INLINE void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }
constexpr size_t kTile = 8, kFloatTile = 6;

HEARTH_INLINE float sqrt1(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }

}  // namespace
}  // namespace hearth::cpu::HEARTH_LEVEL
