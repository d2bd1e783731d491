#pragma once

// Part of encode_blocks.h: the searches for scales and minima. Compiled once per instruction-set level.
//
// A block of values x with weights w is to become codes q with x ≈ scale · q + minimum. For fixed codes the best scale and
// minimum are a weighted least-squares solution; for a fixed scale and minimum the best codes are the nearest ones.
// Alternating the two (Lloyd's method) ends in a local optimum near its start, so that sixteen starts run side by side,
// one in each lane, and the best is kept.

constexpr int kLanes = 16;
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

/// Adding and taking off 1.5 · 2^23 rounds to the nearest integer (ties to even) where |v| < 2^22.
constexpr float kRounder = 12582912.0f;

inline void fill(Lanes& lanes, float value) { lanes = Lanes{} + value; }

inline void roundAndClamp(Lanes& v, const Lanes& low, const Lanes& high) {
    v = v < low ? low : v;
    v = v > high ? high : v;
    v = (v + kRounder) - kRounder;
}

template <bool Weighted>
inline float weight(const float* w, int j) {
    if constexpr (Weighted) return w[j];
    else return 1.0f;
}

/// The lane of least error; one whose sums overflowed or underflowed to NaN is taken only if all did.
inline int bestLane(const Lanes& error) {
    int best = 0;
    for (int c = 1; c < kLanes; ++c)
        if (error[c] < error[best] || error[best] != error[best]) best = c;
    return best;
}

/// The value of largest magnitude, with its sign.
inline float peak(const float* x, int n) {
    float most = 0.0f;
    for (int j = 0; j < n; ++j)
        if (__builtin_fabsf(x[j]) > __builtin_fabsf(most)) most = x[j];
    return most;
}

// ------------------------------------------------------------------------------------------- x ≈ scale · q

/// Starts: the peak lands on code `low` − kSignedStarts[c] (or, for the last lanes, on the other end of the codes).
constexpr float kSignedStarts[kLanes] = {-0.9f, -0.6f, -0.3f, -0.1f, 0.1f, 0.3f, 0.5f, 0.7f,
                                         0.9f,  1.2f,  1.5f,  1.8f,  2.2f, 0.1f, 0.5f, 0.9f};

struct SignedFit {
    float scale = 0.0f, error = 0.0f;
};

/// The scale that gives codes in [low, high] the least Σ w (x − scale · q)².
template <bool Weighted>
SignedFit fitSigned(const float* x, const float* w, int n, float low, float high) {
    const float most = peak(x, n);
    if (most == 0.0f) return {};
    Lanes inverse, lows, highs, scale, error;
    fill(lows, low);
    fill(highs, high);
    for (int c = 0; c < kLanes; ++c) inverse[c] = (c < 13 ? low - kSignedStarts[c] : high + kSignedStarts[c]) / most;
    for (int step = 0; step < 2; ++step) {
        Lanes qq = {}, qx = {};
        for (int j = 0; j < n; ++j) {
            Lanes q = x[j] * inverse;
            roundAndClamp(q, lows, highs);
            const Lanes wq = weight<Weighted>(w, j) * q;
            qq += wq * q;
            qx += wq * x[j];
        }
        scale = qq > 0.0f ? qx / qq : Lanes{};
        inverse = scale != 0.0f ? 1.0f / scale : Lanes{};
    }
    error = Lanes{};
    for (int j = 0; j < n; ++j) {
        Lanes q = x[j] * inverse;
        roundAndClamp(q, lows, highs);
        const Lanes rest = x[j] - scale * q;
        error += weight<Weighted>(w, j) * rest * rest;
    }
    const int best = bestLane(error);
    return {scale[best], error[best]};
}

// ------------------------------------------------------------------------------------------- x ≈ scale · q + minimum

/// Starts: the range is spread over top + kSpread[c] steps, its lower end moved up by kRaise[c] steps.
constexpr float kSpread[kLanes] = {-1.0f, -0.5f, 0.0f, 0.4f, 0.8f, 1.2f, 1.6f, 2.2f,
                                   0.4f,  0.8f,  1.2f, 1.6f, 2.2f, 1.2f, 1.6f, 2.2f};
constexpr float kRaise[kLanes] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
                                  0.4f, 0.4f, 0.6f, 0.8f, 1.1f, 1.2f, 1.6f, 2.2f};

struct AffineFit {
    float scale = 0.0f, minimum = 0.0f, error = 0.0f;
};

/// The scale and minimum that give codes in [0, top] the least Σ w (x − scale · q − minimum)². With `below_zero` the
/// minimum is ≤ 0.
template <bool Weighted>
AffineFit fitAffine(const float* x, const float* w, int n, float top, bool below_zero) {
    float least = x[0], most = x[0], sum_w = 0.0f, sum_y = 0.0f;
    for (int j = 1; j < n; ++j) {
        least = x[j] < least ? x[j] : least;
        most = x[j] > most ? x[j] : most;
    }
    if (below_zero && least > 0.0f) least = 0.0f;
    if (most <= least) return {0.0f, least, 0.0f};
    // Sums run over y = x − least, so that a large common offset costs no precision.
    for (int j = 0; j < n; ++j) {
        sum_w += weight<Weighted>(w, j);
        sum_y += weight<Weighted>(w, j) * (x[j] - least);
    }
    Lanes inverse, scale, minimum, zeros = {}, tops, error;
    fill(tops, top);
    for (int c = 0; c < kLanes; ++c) {
        inverse[c] = (top + kSpread[c]) / (most - least);
        scale[c] = (most - least) / (top + kSpread[c]);
        minimum[c] = kRaise[c] * scale[c];
    }
    for (int step = 0; step < 2; ++step) {
        Lanes sum_q = {}, qq = {}, qy = {};
        for (int j = 0; j < n; ++j) {
            const float y = x[j] - least;
            Lanes q = (y - minimum) * inverse;
            roundAndClamp(q, zeros, tops);
            const Lanes wq = weight<Weighted>(w, j) * q;
            sum_q += wq;
            qq += wq * q;
            qy += wq * y;
        }
        const Lanes det = sum_w * qq - sum_q * sum_q;
        const auto solvable = det > 1e-6f * sum_w * qq;
        Lanes new_scale = (sum_w * qy - sum_q * sum_y) / det;
        Lanes new_minimum = (sum_y - new_scale * sum_q) / sum_w;
        if (below_zero) {
            const auto above = new_minimum > -least;
            const Lanes at_zero = Lanes{} - least;
            new_scale = above ? (qy - at_zero * sum_q) / qq : new_scale;
            new_minimum = above ? at_zero : new_minimum;
        }
        scale = solvable ? new_scale : scale;
        minimum = solvable ? new_minimum : minimum;
        inverse = scale > 0.0f ? 1.0f / scale : zeros;
    }
    error = Lanes{};
    for (int j = 0; j < n; ++j) {
        const Lanes y = (x[j] - least) - minimum;
        Lanes q = y * inverse;
        roundAndClamp(q, zeros, tops);
        const Lanes rest = y - scale * q;
        error += weight<Weighted>(w, j) * rest * rest;
    }
    const int best = bestLane(error);
    return {scale[best], minimum[best] + least, error[best]};
}

// ------------------------------------------------------------------------------------------- codes

/// codes[j] = the integer in [low, high] nearest to (x[j] − minimum) / scale; 0 where the scale is 0.
inline void nearestCodes(const float* x, int n, float scale, float minimum, float low, float high, int8_t* codes) {
    if (scale == 0.0f) {
        for (int j = 0; j < n; ++j) codes[j] = 0;
        return;
    }
    for (int j = 0; j < n; ++j) {
        float v = (x[j] - minimum) / scale;
        v = v < low ? low : v;
        v = v > high ? high : v;
        codes[j] = static_cast<int8_t>((v + kRounder) - kRounder);
    }
}
