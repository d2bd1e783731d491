#pragma once

#include <cstdint>

namespace hearth::sparse {

/// How a feed-forward with many zeros is computed. Only `off` and `threshold` exist for models whose activation has no zeros.
enum class Mode : uint8_t {
    automatic,   ///< the fastest lossless way that the model allows
    off,         ///< dense
    all,         ///< the sparse order of summation, nothing skipped
    exact,       ///< the gate is computed, what is zero is skipped: lossless
    predict,     ///< a predictor chooses what to compute
    threshold,   ///< the gate is computed, what adds little is left out too: lossy, for any activation
};

/// Who says which neurons are worth their gate. Whatever it lets through, the gate decides again: what a predictor takes for
/// active and is not costs time and changes nothing; what it misses is lost.
enum class Predictor : uint8_t {
    best,         ///< the file's own, else the low-rank one, else the bit plane
    file,         ///< PowerInfer's fc1 and fc2
    low_rank,     ///< calibrated, from the layer's own input
    bit_plane,    ///< calibrated cuts on a copy of the gate with two bits a weight
    look_ahead,   ///< calibrated, from the input of the layer before (Deja Vu, arXiv 2310.17157): known a layer early
    oracle,       ///< the gate itself, computed beforehand: what a faultless predictor would choose. For tests and tables
};

/// A mode and what belongs to it.
struct Choice {
    Mode mode = Mode::automatic;
    Predictor predictor = Predictor::best;   ///< Mode::predict
    /// Mode::threshold: share of the feed-forward's output that may be lost (CETT, arXiv 2402.03804), in (0, 1).
    float lost_share = 0.05f;
    /// > 0: the lost share that the cuts are tightened to hold while running (predict and threshold).
    float max_loss = 0;

    Choice() = default;
    Choice(Mode m) : mode(m) {}   // NOLINT: a mode alone is a choice
    bool operator==(const Choice&) const = default;
};

class Profile;   ///< how often each neuron fires

}  // namespace hearth::sparse
