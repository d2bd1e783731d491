#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/placement/device.h"

namespace hearth::placement {

/// Graphics cards and processors that are described, not present (resources/placement/devices.json): by their makers'
/// figures, times the share that kernels reach.
class DeviceFile {
public:
    /// Throws Error: not readable, no JSON, a key that is missing or of another kind.
    static DeviceFile read(const std::filesystem::path& path);

    /// A device by name; graphics cards have Kind::cuda. Throws Error, listing the names there are.
    Device named(const std::string& name) const;
    /// Gives a card that is here, by the maker's name for it ("NVIDIA GeForce RTX 4090"), the described card's speeds; leaves
    /// it as it is when none is meant.
    void giveSpeeds(Device& card, std::string_view makers_name) const;
    const std::vector<Device>& all() const { return devices_; }

private:
    std::vector<Device> devices_;
};

}  // namespace hearth::placement
