#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gpu/device.h"

namespace hearth::gpu {

/// A card that was found, whether it can be used or not.
struct Found {
    std::string name;          ///< "cuda:0", "emulated:0"
    std::string description;   ///< the maker's name for it
    uint64_t bytes_total = 0, bytes_free = 0;
    std::string why_not;       ///< why it is not used, in words; empty when it can be
};

struct Discovery {
    std::vector<Found> devices;
    std::vector<std::string> notes;   ///< clauses: why a kind of card is not there at all
};

/// All cards: those of the CUDA back end, where it is installed, and the emulated ones that HEARTH_DEVICES asks for
/// ("emulated:6G,emulated:4G"). Throws Error when that variable cannot be understood.
Discovery discover();

/// By a name that discover() gives. Throws Error in words when there is none or it cannot be used.
std::unique_ptr<Device> open(std::string_view name);

/// Memory of the emulated devices that `text` asks for, in order.
std::vector<uint64_t> emulatedSizes(std::string_view text);

/// What a back end's library gives, by a function `const Backend* hearth_gpu_backend()`. Both sides are built from the same
/// sources: `layout` says so.
struct Backend {
    uint64_t layout = 0;  ///< kernelLayout()
    Discovery (*discover)() = nullptr;
    std::unique_ptr<Device> (*open)(unsigned number) = nullptr;
};

/// A number that depends on the list of kernels and on the size of each one's arguments.
uint64_t kernelLayout();

}  // namespace hearth::gpu
