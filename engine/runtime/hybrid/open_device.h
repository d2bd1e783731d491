#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace hearth::gpu {
class Device;
}

namespace hearth::runtime {

/// Opens a graphics device by name; throws Error when it is not there or cannot be used.
using OpenDevice = std::function<std::unique_ptr<gpu::Device>(std::string_view name)>;

}  // namespace hearth::runtime
