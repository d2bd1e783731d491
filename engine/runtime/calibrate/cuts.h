#pragma once

#include "engine/runtime/calibrate/layer_sample.h"
#include "engine/sparse/calibration.h"

namespace hearth::runtime {

/// Where an estimate of the gate is cut, and what that costs on the sample.
struct Cuts {
    std::vector<float> cuts, spreads;   ///< [f] (sparse::EstimatorView)
    double lost = 0, flagged = 1;
};

/// Cuts by energy (sparsity §2.3): given its estimate, a gate is normal with the mean and deviation that regression on the
/// sample gives, so that the neuron's expected energy E[act(gate)²] · weight² is a function of the estimate; a neuron is worth
/// its gate where that is at least λ, one λ for the layer, the greatest with a lost share of at most `budget`.
/// `estimates` [n, f]; the activation is relu, relu2 or drelu.
Cuts fitCuts(LayerSample& sample, cpu::Activation activation, MatrixView<const float> estimates, double budget);

/// (lost share, cut) for thresholds on |act| · weight that leave out growing shares of what is not zero, ascending.
std::vector<std::pair<float, float>> fitThresholds(LayerSample& sample);

}  // namespace hearth::runtime
