#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/cpu/ops.h"
#include "engine/model/description.h"
#include "engine/placement/device.h"
#include "engine/sparse/mode.h"

namespace hearth::placement {

struct Options {
    uint32_t ctx = 0;        ///< positions; 0 = the file's, as far as memory goes
    uint32_t batch = 512;    ///< most tokens of one pass
    cpu::KvType kv = cpu::KvType::f16;
    sparse::Mode sparse = sparse::Mode::automatic;
    std::map<std::string, uint64_t> budget = {};   ///< device name → bytes
};

/// Bytes of one kind on one device.
struct Part {
    std::string
        what;  ///< "embedding", "attention", "norms", "feed-forward", "experts", "output", "KV cache", "scratch", "logits"
    std::string device;
    uint64_t bytes = 0;
};

/// Where the neurons of a layer are computed: shares of the layer's feed-forward bytes, by device.
struct LayerSplit {
    std::string attention_device;
    std::map<std::string, double> feed_forward;
};

struct Plan {
    std::vector<Part> parts;
    std::vector<LayerSplit> layers;
    uint32_t ctx = 0;  ///< the context that was chosen
    uint64_t bytes_per_token = 0;  ///< weights read to decode one token (cache not included)
    double prefill_tps = 0, decode_tps = 0;  ///< predicted tokens per second; 0 where nothing was measured
    std::string limit;  ///< what bounds the speed or did not fit, in words
    double tps_per_gib = 0;  ///< decode tokens per second that one more GiB of budget would bring

    uint64_t bytes(std::string_view device) const;
};

/// Decides where every byte of a model goes. `profile` may be nullptr. Throws Error when the model cannot run at all.
Plan plan(const model::Description& description, const sparse::Profile* profile, std::span<const Device> devices,
          const Options& options);

}  // namespace hearth::placement
