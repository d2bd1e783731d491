#pragma once

// Part of encode_blocks.h: types of 256 values whose sub-blocks have coded scales (Q4_K, Q5_K, Q6_K).
//
// Sub-blocks are fitted alone first. Their scales (and minima) are then coded against a common half-precision number; for
// each sub-block the codes near the wanted ones are tried with the true error. With all codes fixed the common numbers are
// a least-squares solution, and coding is done once more against them.

constexpr int kSubBlocks = 8, kSubSize = 32;

/// The half-precision number whose `codes`-fold reaches `most`. Denormal halves are far apart, and one too small would cut
/// off the largest sub-block.
inline float commonScale(float most, float codes) {
    const float scale = roundToHalf(most / codes);
    return scale * codes < 0.99f * most ? roundToHalf(scale + 0x1p-24f) : scale;
}

/// One attempt at a Q4_K or Q5_K block.
struct SuperAffine {
    float d = 0.0f, d_min = 0.0f, error = 0.0f;
    int scales[kSubBlocks], minima[kSubBlocks];
};

inline float clampTo63(float v) { return v < 0.0f ? 0.0f : v > 63.0f ? 63.0f : v; }

/// Chooses the six-bit scale and minimum of each sub-block for the given d and d_min: four of each around what `fits`
/// want, all sixteen pairs in lanes.
template <bool Weighted>
void chooseCodes(const float* x, const float* w, const AffineFit* fits, float top, SuperAffine& block) {
    block.error = 0.0f;
    for (int s = 0; s < kSubBlocks; ++s) {
        const float want_scale = block.d > 0.0f ? clampTo63(fits[s].scale / block.d) : 0.0f;
        const float want_minimum = block.d_min > 0.0f ? clampTo63(-fits[s].minimum / block.d_min) : 0.0f;
        Lanes scale, minimum, inverse, zeros = {}, tops, error = {};
        float scale_codes[kLanes], minimum_codes[kLanes];
        fill(tops, top);
        for (int c = 0; c < kLanes; ++c) {
            scale_codes[c] = clampTo63(static_cast<float>(static_cast<int>(want_scale) + c % 4 - 1));
            minimum_codes[c] = clampTo63(static_cast<float>(static_cast<int>(want_minimum) + c / 4 - 1));
            scale[c] = block.d * scale_codes[c];
            minimum[c] = block.d_min * minimum_codes[c];
        }
        inverse = scale > 0.0f ? 1.0f / scale : zeros;
        for (int j = 0; j < kSubSize; ++j) {
            const float value = x[s * kSubSize + j];
            const Lanes raised = value + minimum;
            Lanes q = raised * inverse;
            roundAndClamp(q, zeros, tops);
            const Lanes rest = raised - scale * q;
            error += weight<Weighted>(w, s * kSubSize + j) * rest * rest;
        }
        const int best = bestLane(error);
        block.scales[s] = static_cast<int>(scale_codes[best]);
        block.minima[s] = static_cast<int>(minimum_codes[best]);
        block.error += error[best];
    }
}

/// d and d_min of least error for the codes that `block` has; unchanged where they are not determined.
template <bool Weighted>
void refit(const float* x, const float* w, float top, SuperAffine& block) {
    double aa = 0, ab = 0, bb = 0, xa = 0, xb = 0;
    int8_t codes[kSubSize];
    for (int s = 0; s < kSubBlocks; ++s) {
        const float scale = static_cast<float>(block.scales[s]), minimum = static_cast<float>(block.minima[s]);
        nearestCodes(x + s * kSubSize, kSubSize, block.d * scale, -block.d_min * minimum, 0.0f, top, codes);
        float q_sum = 0, qq = 0, qx = 0, x_sum = 0, w_sum = 0;
        for (int j = 0; j < kSubSize; ++j) {
            const float q = codes[j], wj = weight<Weighted>(w, s * kSubSize + j), xj = x[s * kSubSize + j];
            w_sum += wj;
            q_sum += wj * q;
            qq += wj * q * q;
            qx += wj * q * xj;
            x_sum += wj * xj;
        }
        aa += double(scale) * scale * qq;
        ab += double(scale) * minimum * q_sum;
        bb += double(minimum) * minimum * w_sum;
        xa += double(scale) * qx;
        xb += double(minimum) * x_sum;
    }
    const double det = aa * bb - ab * ab;
    double d = block.d, d_min = block.d_min;
    if (det > 1e-9 * aa * bb) {
        d = (xa * bb - xb * ab) / det;
        d_min = (xa * ab - xb * aa) / det;
    } else if (aa > 0) {
        d = xa / aa;
    }
    if (d >= 0 && d_min >= 0) {
        block.d = roundToHalf(static_cast<float>(d));
        block.d_min = roundToHalf(static_cast<float>(d_min));
    }
}

/// Eight six-bit scales and minima in 12 bytes.
inline void packPairs(const int* scales, const int* minima, uint8_t* out) {
    for (int s = 0; s < 4; ++s) {
        out[s] = static_cast<uint8_t>(scales[s] | scales[s + 4] >> 4 << 6);
        out[s + 4] = static_cast<uint8_t>(minima[s] | minima[s + 4] >> 4 << 6);
        out[s + 8] = static_cast<uint8_t>((scales[s + 4] & 15) | (minima[s + 4] & 15) << 4);
    }
}

template <int Bits>
void packSuperAffine(const float* x, const SuperAffine& block, uint8_t* out) {
    constexpr float top = (1 << Bits) - 1;
    writeHalf(block.d, out);
    writeHalf(block.d_min, out + 2);
    packPairs(block.scales, block.minima, out + 4);
    uint8_t *high = out + 16, *low = out + (Bits == 5 ? 48 : 16);
    clear(out + 16, Bits == 5 ? 160 : 128);
    int8_t codes[kSubSize];
    for (int s = 0; s < kSubBlocks; ++s) {
        nearestCodes(x + s * kSubSize, kSubSize, block.d * static_cast<float>(block.scales[s]),
                     -block.d_min * static_cast<float>(block.minima[s]), 0.0f, top, codes);
        uint8_t* pair = low + s / 2 * 32;
        for (int l = 0; l < kSubSize; ++l) pair[l] = static_cast<uint8_t>(pair[l] | (codes[l] & 15) << (s % 2 * 4));
        if constexpr (Bits == 5)
            for (int l = 0; l < kSubSize; ++l) high[l] = static_cast<uint8_t>(high[l] | codes[l] >> 4 << s);
    }
}

template <bool Weighted, int Bits>
void superAffine(const float* x, const float* w, uint8_t* out) {
    constexpr float top = (1 << Bits) - 1;
    AffineFit fits[kSubBlocks];
    float most_scale = 0.0f, most_minimum = 0.0f;
    for (int s = 0; s < kSubBlocks; ++s) {
        fits[s] = fitAffine<Weighted>(x + s * kSubSize, Weighted ? w + s * kSubSize : nullptr, kSubSize, top, true);
        most_scale = fits[s].scale > most_scale ? fits[s].scale : most_scale;
        most_minimum = -fits[s].minimum > most_minimum ? -fits[s].minimum : most_minimum;
    }
    SuperAffine best;
    best.d = commonScale(most_scale, 63.0f);
    best.d_min = commonScale(most_minimum, 63.0f);
    chooseCodes<Weighted>(x, w, fits, top, best);
    // Further rounds gain less than one part in a thousand.
    SuperAffine next = best;
    refit<Weighted>(x, w, top, next);
    chooseCodes<Weighted>(x, w, fits, top, next);
    packSuperAffine<Bits>(x, next.error < best.error ? next : best, out);
}

// ------------------------------------------------------------------------------------------- Q6_K

constexpr int kParts = 16, kPartSize = 16;
constexpr float kLow6 = -32.0f, kHigh6 = 31.0f;

/// One attempt at a Q6_K block.
struct SuperSigned {
    float d = 0.0f, error = 0.0f;
    int scales[kParts];
};

/// Chooses the eight-bit scale of each part for the given d: sixteen around what `fits` want.
template <bool Weighted>
void chooseScales(const float* x, const float* w, const SignedFit* fits, SuperSigned& block) {
    block.error = 0.0f;
    Lanes lows, highs;
    fill(lows, kLow6);
    fill(highs, kHigh6);
    for (int p = 0; p < kParts; ++p) {
        const float want = block.d != 0.0f ? fits[p].scale / block.d : 0.0f;
        const int middle = static_cast<int>(want < -127.0f ? -127.0f : want > 127.0f ? 127.0f : want);
        Lanes scale, inverse, error = {};
        int codes[kLanes];
        for (int c = 0; c < kLanes; ++c) {
            const int code = middle + c - kLanes / 2;
            codes[c] = code < -128 ? -128 : code > 127 ? 127 : code;
            scale[c] = block.d * static_cast<float>(codes[c]);
        }
        inverse = scale != 0.0f ? 1.0f / scale : Lanes{};
        for (int j = p * kPartSize; j < (p + 1) * kPartSize; ++j) {
            Lanes q = x[j] * inverse;
            roundAndClamp(q, lows, highs);
            const Lanes rest = x[j] - scale * q;
            error += weight<Weighted>(w, j) * rest * rest;
        }
        const int best = bestLane(error);
        block.scales[p] = codes[best];
        block.error += error[best];
    }
}

/// d of least error for the codes that `block` has.
template <bool Weighted>
void refit(const float* x, const float* w, SuperSigned& block) {
    double aa = 0, xa = 0;
    int8_t codes[kPartSize];
    for (int p = 0; p < kParts; ++p) {
        const float scale = static_cast<float>(block.scales[p]);
        nearestCodes(x + p * kPartSize, kPartSize, block.d * scale, 0.0f, kLow6, kHigh6, codes);
        float qq = 0, qx = 0;
        for (int j = 0; j < kPartSize; ++j) {
            const float q = codes[j], wj = weight<Weighted>(w, p * kPartSize + j);
            qq += wj * q * q;
            qx += wj * q * x[p * kPartSize + j];
        }
        aa += double(scale) * scale * qq;
        xa += double(scale) * qx;
    }
    if (aa > 0) block.d = roundToHalf(static_cast<float>(xa / aa));
}

void packSuperSigned(const float* x, const SuperSigned& block, uint8_t* out) {
    clear(out, 192);
    int8_t codes[kPartSize];
    for (int p = 0; p < kParts; ++p) {
        nearestCodes(x + p * kPartSize, kPartSize, block.d * static_cast<float>(block.scales[p]), 0.0f, kLow6, kHigh6,
                     codes);
        out[192 + p] = static_cast<uint8_t>(block.scales[p]);
        for (int l = 0; l < kPartSize; ++l) {
            const int i = p * kPartSize + l, half = i / 128, part = i % 128 / 32, at = i % 32, code = codes[l] + 32;
            uint8_t &low = out[half * 64 + part % 2 * 32 + at], &high = out[128 + half * 32 + at];
            low = static_cast<uint8_t>(low | (code & 15) << (part / 2 * 4));
            high = static_cast<uint8_t>(high | code >> 4 << (part * 2));
        }
    }
    writeHalf(block.d, out + 208);
}

template <bool Weighted>
void superSigned(const float* x, const float* w, uint8_t* out) {
    SignedFit fits[kParts];
    float most = 0.0f;
    for (int p = 0; p < kParts; ++p) {
        fits[p] =
            fitSigned<Weighted>(x + p * kPartSize, Weighted ? w + p * kPartSize : nullptr, kPartSize, kLow6, kHigh6);
        const float size = __builtin_fabsf(fits[p].scale);
        most = size > most ? size : most;
    }
    SuperSigned best;
    best.d = commonScale(most, 127.0f);
    chooseScales<Weighted>(x, w, fits, best);
    SuperSigned next = best;
    refit<Weighted>(x, w, next);
    chooseScales<Weighted>(x, w, fits, next);
    packSuperSigned(x, next.error < best.error ? next : best, out);
}
