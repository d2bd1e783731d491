#pragma once

#include <vector>

#include "engine/runtime/model.h"
#include "ui/worker/machine.h"

namespace hearth::ui {

/// The engine's options for what somebody chose, on `devices` (the processor first): what is loaded and what is predicted come
/// from the same ones. Budgets of devices that are not there are left out.
runtime::LoadOptions placed(const PlacementChoices& choices, std::vector<placement::Device> devices);

}  // namespace hearth::ui
