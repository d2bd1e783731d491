#pragma once

#include <vector>

#include "engine/placement/solver.h"

namespace hearth::placement {

/// One way to compute a layer, priced: what both algorithms of the solver choose from.
struct PricedChoice {
    Choice choice;
    uint64_t bytes = 0;
    double seconds = 0;
};

/// All ways to compute a layer with the help of one target (the processor alone not among them), ascending in bytes; of
/// those that take more bytes than another and no less time none is left.
std::vector<PricedChoice> pricedChoices(const Layer& layer, int device, std::span<const Target> targets);

/// Greedy over the lower convex hulls of (bytes, seconds), the best seconds per byte first (Fox 1966; sparsity §3.3). Each
/// device serves the range of layers that its share of the budgets gives it.
std::vector<Choice> greedyChoices(std::span<const Layer> layers, std::span<const Target> targets);

/// Multiple-choice knapsack over layers: state = device, side of the residual stream, steps of the device's budget used.
std::vector<Choice> exactChoices(std::span<const Layer> layers, std::span<const Target> targets, uint64_t step);

}  // namespace hearth::placement
