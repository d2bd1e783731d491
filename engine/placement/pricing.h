#pragma once

#include <utility>
#include <vector>

#include "engine/placement/device.h"
#include "engine/placement/items.h"
#include "engine/placement/solver.h"

namespace hearth::placement {

/// A model's items as the solver's problem: a layer each, then the output.
struct Priced {
    std::vector<Layer> layers;
    /// [layers][number of moved blocks]: units whose gate and whose rest have moved.
    std::vector<std::vector<std::pair<uint64_t, uint64_t>>> units;
};

/// At most this many blocks a layer.
constexpr uint64_t most_blocks = 31;

/// Seconds of a token by the processor's measured rates; 1 byte = 1 second · 1e-9 where nothing was measured, so that the
/// placement is sensible without speeds.
Priced price(const ModelItems& items, const Device& cpu, Split split);

/// The seconds of a token that no placement changes: the embedding's rows.
double fixedSeconds(const ModelItems& items, const Device& cpu);

}  // namespace hearth::placement
