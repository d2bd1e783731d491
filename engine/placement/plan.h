#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/ops.h"
#include "engine/model/description.h"
#include "engine/placement/activity.h"
#include "engine/placement/device.h"
#include "engine/placement/solver.h"
#include "engine/sparse/mode.h"

namespace hearth::placement {

/// Where a layer may be cut.
enum class Split : uint8_t {
    neurons,   ///< anywhere: hot neurons and experts on a graphics device, cold ones with the processor
    blocks,    ///< a feed-forward is whole on one side, attention where it pays
    layers,    ///< layers are whole on one side
};

struct Options {
    uint32_t ctx = 0;        ///< positions; 0 = the file's, as far as memory goes
    uint32_t batch = 512;    ///< most tokens of one pass
    cpu::KvType kv = cpu::KvType::f16;
    sparse::Mode sparse = sparse::Mode::automatic;
    /// Device name → bytes that may be used of it; a device that is not named may use what is free but for a margin.
    std::map<std::string, uint64_t> budget = {};
    /// Graphics devices that serve the model, in this order; empty = the fewest that hold it, or all where none do.
    std::vector<std::string> use = {};
    Split split = Split::neurons;
    bool kv_with_layer = false;  ///< keys and values lie where the layer's attention is computed
    Effort effort = Effort::exact;  ///< greedy while a slider is dragged
    uint32_t depth = 512;  ///< positions that a token looks back on when speed is predicted, as far as ctx goes
    /// Bytes of each graphics device that are kept for scratch, staging and driver, instead of what is counted for them.
    std::optional<uint64_t> held_back = std::nullopt;
};

/// Free memory of a graphics device that no budget takes unless it is told to: other programs need some.
constexpr uint64_t free_margin = uint64_t{256} << 20;

/// Bytes of one kind on one device.
struct Part {
    /// "embedding", "attention", "norms", "predictor", "feed-forward", "experts", "output", "KV cache", "scratch",
    /// "staging", "logits", "driver", "row-per-neuron copies", "regrouped copies" (mapped from a sidecar)
    std::string what;
    std::string device;
    uint64_t bytes = 0;
};

/// Where a layer is computed.
struct LayerSplit {
    std::string attention_device;
    std::map<std::string, double> feed_forward;  ///< shares of the layer's feed-forward bytes, by device
    std::string kv_device = {};
    /// On attention_device when that is a graphics device, hottest first: neurons whose first factor (the gate) is computed
    /// there, and neurons (or whole experts) that are there altogether.
    uint64_t gates = 0, neurons = 0;
};

struct Plan {
    std::vector<Part> parts;
    std::vector<LayerSplit> layers;
    std::string output_device = {};
    uint32_t ctx = 0;  ///< the context that was chosen
    uint64_t bytes_per_token = 0;  ///< weights read to decode one token when nothing is skipped (cache not included)
    double prefill_tps = 0, decode_tps = 0;  ///< predicted tokens per second; 0 where nothing was measured
    std::string limit;  ///< what bounds the speed or did not fit, in words
    double tps_per_gib = 0;  ///< decode tokens per second that one more GiB of budget would bring

    uint64_t bytes(std::string_view device) const;
};

/// Whether a count of bytes is as planned, but for a share of `tolerance` of the plan.
bool within(uint64_t planned, uint64_t counted, double tolerance);

/// Decides where every byte of a model goes. `profile` may be nullptr: then assumedActivity() stands in. Deterministic; no
/// clock, no threads, some milliseconds. Throws Error when the model cannot run at all, or a device is named that is not there.
Plan plan(const model::Description& description, const sparse::Profile* profile, std::span<const Device> devices,
          const Options& options);

/// The same with what is known about the neurons: [layers].
Plan plan(const model::Description& description, std::span<const Activity> activity, std::span<const Device> devices,
          const Options& options);

}  // namespace hearth::placement
