#pragma once

#include <vector>

#include "engine/gpu/backend.h"
#include "engine/placement/device_file.h"

namespace hearth::runtime {

placement::Kind kindOf(const gpu::Found& card);

/// The cards that can be used, as the planner wants them; with the speeds that `described` knows, where it is given.
std::vector<placement::Device> usableCards(const gpu::Discovery& found, const placement::DeviceFile* described);

}  // namespace hearth::runtime
