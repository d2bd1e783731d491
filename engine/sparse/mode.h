#pragma once

#include <cstdint>

namespace hearth::sparse {

/// How a feed-forward with many zeros is computed. Only `off` exists for models whose activation has no zeros.
enum class Mode : uint8_t {
    automatic,   ///< the fastest lossless way that the model allows
    off,         ///< dense
    all,         ///< the sparse order of summation, nothing skipped
    exact,       ///< the gate is computed, what is zero is skipped: lossless
    predict,     ///< a predictor chooses what to compute
};

class Profile;   ///< how often each neuron fires

}  // namespace hearth::sparse
