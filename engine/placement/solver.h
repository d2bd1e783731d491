#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hearth::placement {

/// The optimisation behind a plan, free of models and machines: which part of which layer moves from the processor to a
/// graphics device, so that a token takes the least time (research: sparsity §3.2–3.3). Pure: the same problem always has
/// the same answer; no clock, no threads.

/// A piece of a layer that can move, in the order in which the pieces of a layer move (most reads per byte first).
struct Block {
    uint64_t bytes = 0;
    double reads = 0;  ///< bytes that a token is expected to read from it on a device
    double cpu_s = 0;  ///< seconds of a token while it stays with the processor
    bool before = false;  ///< a device reads it before the hand-over, not beside the processor (gate rows)
};

/// What has to be on a device before any block of the layer may be there: attention, norms, router, KV cache ...
struct Core {
    uint64_t bytes = 0;
    double reads = 0;  ///< bytes a token on the device
    double cpu_s = 0;  ///< seconds that the processor adds to it (a KV cache in main memory)
    int handovers = 0;  ///< hand-overs that it costs by itself
};

struct Layer {
    double cpu_s = 0;  ///< seconds a token of all but the blocks, when the whole layer is the processor's
    std::vector<Core> cores;  ///< the choices for the core; none = the layer stays with the processor
    std::vector<Block> blocks;
    std::vector<uint32_t> cuts;  ///< permitted numbers of moved blocks, ascending
};

/// One graphics device: the layers that it serves are a contiguous range, in the order of the devices.
struct Target {
    uint64_t budget = 0;  ///< bytes for cores and blocks
    double bytes_per_s = 0;
    double handover_s = 0;  ///< one hand-over to or from the processor
    double layer_s = 0;  ///< what a layer takes on it beside its bytes
};

struct Choice {
    static constexpr int cpu = -1;
    int device = cpu;  ///< index of a Target
    uint32_t core = 0;  ///< index into Layer::cores
    uint32_t cut = 0;  ///< blocks that moved
    bool operator==(const Choice&) const = default;
};

struct Solution {
    std::vector<Choice> layers;  ///< [layers]
    double seconds = 0;  ///< of one token
};

enum class Effort : uint8_t {
    greedy,  ///< the best moves per byte, first to last: microseconds
    exact,  ///< and a dynamic programme over layers, exact to `solverStep` bytes a layer: milliseconds
};

/// Bytes of a choice.
uint64_t choiceBytes(const Layer& layer, const Choice& choice);
/// Seconds of one layer alone: serial part + max(device, processor) + hand-over.
double layerSeconds(const Layer& layer, const Choice& choice, std::span<const Target> targets);
/// Seconds of a token, with the hand-overs between layers on different sides; it begins and ends at the processor.
double tokenSeconds(std::span<const Layer> layers, std::span<const Choice> choices, std::span<const Target> targets);

/// Everything on the targets, in order, or nothing when it does not fit.
std::vector<Choice> everythingOn(std::span<const Layer> layers, std::span<const Target> targets);

/// The granularity of the dynamic programme for a model that would take `bytes` of a device: 8 MiB; less for models under
/// 4 GiB (512 steps and more), more for those over 48 GiB (6144 steps). It depends on the model alone, so that a larger budget never
/// has a worse answer.
uint64_t solverStep(uint64_t bytes);
/// Bytes that all layers would take with their first core and all blocks.
uint64_t movableBytes(std::span<const Layer> layers);

Solution solve(std::span<const Layer> layers, std::span<const Target> targets, Effort effort = Effort::exact);

}  // namespace hearth::placement
