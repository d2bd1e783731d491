#include "engine/gpu/device.h"

#include <format>

namespace hearth::gpu {

OutOfDeviceMemory::OutOfDeviceMemory(const std::string& device, uint64_t asked, uint64_t free)
    : Error(std::format("no room for {:.1f} MiB on {}", static_cast<double>(asked) / (1 << 20), device),
            std::format("{:.1f} MiB are free", static_cast<double>(free) / (1 << 20)),
            "Lower the budget, or choose a smaller context") {}

}  // namespace hearth::gpu
