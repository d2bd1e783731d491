#pragma once

#include <cstdint>
#include <span>

#include "engine/base/matrix.h"

namespace hearth::model {

/// Neurons of a layer that stay with the processor while a graphics device computes the others: a contiguous range from
/// `first` on, or of that range those that are listed.
struct ColdNeurons {
    uint32_t layer = 0;
    uint32_t first = 0;
    bool listed = false;               ///< one token, these neurons alone; otherwise all of the range
    std::span<const uint32_t> list = {};   ///< ascending numbers of neurons
    std::span<const float> gates = {};     ///< of the listed ones, where the device has computed them
};

/// The processor's half of a feed-forward.
class ColdHalf {
public:
    virtual ~ColdHalf() = default;
    /// out [n, d] = what the neurons of `cold` add to the layer's output for x [n, d], without the bias of the down-projection.
    virtual void coldNeurons(const ColdNeurons& cold, MatrixView<const float> x, MatrixView<float> out) = 0;
};

}  // namespace hearth::model
