#pragma once

// The vector vocabulary (vec_generic.h says what the names mean) in AVX2 + FMA + F16C: 8 lanes. HEARTH_DPBUSD, where it is
// defined, is the one instruction that a level with VNNI has on top.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/cpu/kernels.h"

namespace hearth::cpu::HEARTH_LEVEL {
namespace {

constexpr size_t kLanes = 8;
using F = __m256;
using I = __m256i;
using M = __m256;

HEARTH_INLINE F fset1(float a) { return _mm256_set1_ps(a); }
HEARTH_INLINE F fzero() { return _mm256_setzero_ps(); }
HEARTH_INLINE F fload(const float* p) { return _mm256_loadu_ps(p); }
HEARTH_INLINE void fstore(float* p, F a) { _mm256_storeu_ps(p, a); }
HEARTH_INLINE I partMask(size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
HEARTH_INLINE F floadPart(const float* p, size_t n, float fill = 0.0f) {
    const I mask = partMask(n);
    return _mm256_blendv_ps(_mm256_set1_ps(fill), _mm256_maskload_ps(p, mask), _mm256_castsi256_ps(mask));
}
HEARTH_INLINE void fstorePart(float* p, F a, size_t n) { _mm256_maskstore_ps(p, partMask(n), a); }
HEARTH_INLINE F fadd(F a, F b) { return _mm256_add_ps(a, b); }
HEARTH_INLINE F fsub(F a, F b) { return _mm256_sub_ps(a, b); }
HEARTH_INLINE F fmul(F a, F b) { return _mm256_mul_ps(a, b); }
HEARTH_INLINE F fdiv(F a, F b) { return _mm256_div_ps(a, b); }
HEARTH_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
HEARTH_INLINE F fmax(F a, F b) { return _mm256_max_ps(a, b); }
HEARTH_INLINE F fmin(F a, F b) { return _mm256_min_ps(a, b); }
HEARTH_INLINE M fless(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
HEARTH_INLINE F fselect(M m, F yes, F no) { return _mm256_blendv_ps(no, yes, m); }
HEARTH_INLINE float reduceAdd(F a) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
HEARTH_INLINE F reduceEach(const F* a) {
    const F ab = _mm256_hadd_ps(_mm256_hadd_ps(a[0], a[1]), _mm256_hadd_ps(a[2], a[3]));
    const F cd = _mm256_hadd_ps(_mm256_hadd_ps(a[4], a[5]), _mm256_hadd_ps(a[6], a[7]));
    return _mm256_add_ps(_mm256_permute2f128_ps(ab, cd, 0x20), _mm256_permute2f128_ps(ab, cd, 0x31));
}
HEARTH_INLINE float reduceMax(F a) {
    __m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

HEARTH_INLINE I iset1(int32_t a) { return _mm256_set1_epi32(a); }
HEARTH_INLINE I iadd(I a, I b) { return _mm256_add_epi32(a, b); }
HEARTH_INLINE I isub(I a, I b) { return _mm256_sub_epi32(a, b); }
HEARTH_INLINE I imul(I a, I b) { return _mm256_mullo_epi32(a, b); }
HEARTH_INLINE I iand(I a, I b) { return _mm256_and_si256(a, b); }
HEARTH_INLINE I ior(I a, I b) { return _mm256_or_si256(a, b); }
HEARTH_INLINE I ixor(I a, I b) { return _mm256_xor_si256(a, b); }
template <int N> HEARTH_INLINE I ishl(I a) { return _mm256_slli_epi32(a, N); }
template <int N> HEARTH_INLINE I ishr(I a) { return _mm256_srli_epi32(a, N); }
template <int N> HEARTH_INLINE I isra(I a) { return _mm256_srai_epi32(a, N); }
HEARTH_INLINE I fbits(F a) { return _mm256_castps_si256(a); }
HEARTH_INLINE F ibits(I a) { return _mm256_castsi256_ps(a); }
HEARTH_INLINE F toFloat(I a) { return _mm256_cvtepi32_ps(a); }
HEARTH_INLINE I roundToInt(F a) { return _mm256_cvtps_epi32(a); }

HEARTH_INLINE F loadHalf(const void* p) { return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(p))); }
HEARTH_INLINE void storeHalf(void* p, F a) { _mm_storeu_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT)); }
HEARTH_INLINE F loadBf16(const void* p) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(p))), 16));
}
HEARTH_INLINE float loadHalf1(const void* p) { uint16_t h; std::memcpy(&h, p, 2); return _cvtsh_ss(h); }
HEARTH_INLINE void storeHalf1(void* p, float a) { const uint16_t h = _cvtss_sh(a, _MM_FROUND_TO_NEAREST_INT); std::memcpy(p, &h, 2); }
HEARTH_INLINE I loadInt8(const void* p) { return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p))); }
HEARTH_INLINE void storeInt8(void* p, I a) {
    const I low = _mm256_shuffle_epi8(a, _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                                          0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
    const __m128i both = _mm_unpacklo_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    _mm_storel_epi64(static_cast<__m128i*>(p), both);
}

HEARTH_INLINE I loadBytes(const void* p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(p))); }
template <int kOffset> HEARTH_INLINE F nibbleFloat(I a) {
    const I code = iand(a, iset1(15));
    return toFloat(kOffset == 0 ? code : isub(code, iset1(kOffset)));
}
/// Bits 4 to 7 put behind the exponent of 2^19 stand for whole numbers there.
template <int kOffset> HEARTH_INLINE F highNibbleFloat(I a) {
    return fsub(ibits(ior(iand(a, iset1(0xf0)), iset1(0x49000000))), fset1(524288.0f + kOffset));
}
HEARTH_INLINE F tableFloat(const float* table, I a) {
    const F low = _mm256_permutevar8x32_ps(fload(table), a), high = _mm256_permutevar8x32_ps(fload(table + 8), a);
    return _mm256_blendv_ps(low, high, ibits(ishl<28>(a)));
}
HEARTH_INLINE I bitLanes(uint32_t bits) {
    const I of_lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return iand(_mm256_cmpeq_epi32(iand(iset1(static_cast<int32_t>(bits)), of_lane), of_lane), iset1(1));
}
template <int S> HEARTH_INLINE I crumbLanes(const uint8_t* p) { return iand(ishr<2 * S>(loadBytes(p)), iset1(3)); }
HEARTH_INLINE size_t storeLanes(M m, uint32_t first, uint32_t* out) {
    size_t count = 0;
    for (auto bits = static_cast<unsigned>(_mm256_movemask_ps(m)); bits != 0; bits &= bits - 1)
        out[count++] = first + static_cast<uint32_t>(__builtin_ctz(bits));
    return count;
}

HEARTH_INLINE I loadI(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
HEARTH_INLINE void storeI(void* p, I a) { _mm256_storeu_si256(static_cast<__m256i*>(p), a); }
HEARTH_INLINE int32_t word(const void* p) { int32_t w; std::memcpy(&w, p, 4); return w; }
HEARTH_INLINE I splat(const void* p) { return _mm256_set1_epi32(word(p)); }

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
    return _mm256_setr_epi32(word(rows[0] + o), word(rows[1] + o), word(rows[2] + o), word(rows[3] + o), word(rows[4] + o),
                             word(rows[5] + o), word(rows[6] + o), word(rows[7] + o));
}
HEARTH_INLINE I twoRows(const uint8_t* low, const uint8_t* high) {
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low))),
                                   _mm_loadu_si128(reinterpret_cast<const __m128i*>(high)), 1);
}
/// Words of four vectors, transposed in each half.
HEARTH_INLINE void transpose(I a, I b, I c, I d, I* out) {
    const I ab_low = _mm256_unpacklo_epi32(a, b), ab_high = _mm256_unpackhi_epi32(a, b);
    const I cd_low = _mm256_unpacklo_epi32(c, d), cd_high = _mm256_unpackhi_epi32(c, d);
    out[0] = _mm256_unpacklo_epi64(ab_low, cd_low);
    out[1] = _mm256_unpackhi_epi64(ab_low, cd_low);
    out[2] = _mm256_unpacklo_epi64(ab_high, cd_high);
    out[3] = _mm256_unpackhi_epi64(ab_high, cd_high);
}
HEARTH_INLINE void loadTransposed(const auto& rows, size_t o, I* out) {
    transpose(twoRows(rows[0] + o, rows[4] + o), twoRows(rows[1] + o, rows[5] + o), twoRows(rows[2] + o, rows[6] + o),
              twoRows(rows[3] + o, rows[7] + o), out);
}
HEARTH_INLINE F lowHalf(I a) {
    const I words = _mm256_shuffle_epi8(a, _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1,
                                                            0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1));
    return _mm256_cvtph_ps(_mm256_castsi256_si128(_mm256_permute4x64_epi64(words, 0x08)));
}
HEARTH_INLINE F highHalf(I a) { return lowHalf(ishr<16>(a)); }
HEARTH_INLINE I lookup16(const uint8_t* table, I nibbles) {
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))), nibbles);
}
template <int J> HEARTH_INLINE I bitBytes(I a) {
    constexpr char b = J / 2;
    const I spread = _mm256_shuffle_epi8(a, _mm256_setr_epi8(b, b, b, b, b + 4, b + 4, b + 4, b + 4, b + 8, b + 8, b + 8, b + 8,
                                                             b + 12, b + 12, b + 12, b + 12, b, b, b, b, b + 4, b + 4, b + 4, b + 4,
                                                             b + 8, b + 8, b + 8, b + 8, b + 12, b + 12, b + 12, b + 12));
    const I mask = _mm256_set1_epi32(J % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010u));
    return _mm256_cmpeq_epi8(_mm256_and_si256(spread, mask), mask);
}

#ifdef HEARTH_DPBUSD

template <int N, int kMax> HEARTH_INLINE I dotCodes(I start, const I* w, const int8_t* x) {
    for (int j = 0; j < N; ++j) start = HEARTH_DPBUSD(start, w[j], splat(x + 4 * j));
    return start;
}
HEARTH_INLINE I toWide(I signed_codes) { return ixor(signed_codes, iset1(static_cast<int32_t>(0x80808080u))); }
HEARTH_INLINE I wideStart(I negative_sum) { return ishl<7>(negative_sum); }
template <int N> HEARTH_INLINE I dotWide(I start, const I* w, const int8_t* x) { return dotCodes<N, 255>(start, w, x); }

#else

HEARTH_INLINE I pairs(I words) { return _mm256_madd_epi16(words, _mm256_set1_epi16(1)); }

template <int N, int kMax> HEARTH_INLINE I dotCodes(I start, const I* w, const int8_t* x) {
    // As many products as a 16-bit sum holds before it is widened.
    constexpr int most = 32767 / (2 * kMax * 127), run = most < N ? most : N;
    static_assert(run >= 1 && N % run == 0);
    for (int j = 0; j < N; j += run) {
        I sum = _mm256_maddubs_epi16(w[j], splat(x + 4 * j));
        for (int i = 1; i < run; ++i) sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(w[j + i], splat(x + 4 * (j + i))));
        start = iadd(start, pairs(sum));
    }
    return start;
}
// Signed codes stay as they are: their magnitudes meet the activations with the codes' signs.
HEARTH_INLINE I toWide(I signed_codes) { return signed_codes; }
HEARTH_INLINE I wideStart(I) { return _mm256_setzero_si256(); }
template <int N> HEARTH_INLINE I dotWide(I start, const I* w, const int8_t* x) {
    for (int j = 0; j < N; ++j)
        start = iadd(start, pairs(_mm256_maddubs_epi16(_mm256_abs_epi8(w[j]), _mm256_sign_epi8(splat(x + 4 * j), w[j]))));
    return start;
}

#endif

HEARTH_INLINE void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T1); }
constexpr size_t kTile = 4, kFloatTile = 3;

HEARTH_INLINE float sqrt1(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }

}  // namespace
}  // namespace hearth::cpu::HEARTH_LEVEL
