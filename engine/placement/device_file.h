#pragma once

#include <filesystem>
#include <string>
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
    const std::vector<Device>& all() const { return devices_; }

private:
    std::vector<Device> devices_;
};

}  // namespace hearth::placement
