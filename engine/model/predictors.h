#pragma once

#include <memory>
#include <vector>

#include "engine/model/weights.h"
#include "engine/sparse/calibration.h"

namespace hearth::model {

/// A calibrated estimate of a layer's gates, ready to be multiplied (sparse/calibration.h).
struct NeuronEstimator {
    Linear in;    ///< [rank, d], or [f, d] without `out`
    Linear out;   ///< [f, rank]
    const float *cuts = nullptr, *spreads = nullptr;   ///< [f]
    explicit operator bool() const { return bool(in); }
    uint64_t bytes() const {
        return in.weight.rows * in.weight.row_bytes + out.weight.rows * out.weight.row_bytes;
    }
};

struct LayerPredictors {
    NeuronEstimator low_rank, look_ahead, bit_plane;
    const float* weights = nullptr;   ///< [f]
    const sparse::LayerView* view = nullptr;
};

/// A model's calibration as the forward pass reads it: views into the mapped sidecar.
class Predictors {
public:
    explicit Predictors(std::shared_ptr<const sparse::Calibration> calibration);
    const LayerPredictors& layer(size_t i) const { return layers_[i]; }

private:
    std::shared_ptr<const sparse::Calibration> calibration_;
    std::vector<LayerPredictors> layers_;
};

/// Neurons of each layer, all experts' together: what a profile counts.
std::vector<uint64_t> neuronCounts(const Description& description);
/// The sizes that a calibration of a model has; layers of experts have none.
std::vector<sparse::LayerSize> layerSizes(const Description& description);

}  // namespace hearth::model
