#pragma once

#include "engine/placement/plan.h"
#include "ui/worker/machine.h"

namespace hearth::ui {

/// A plan as the window sees it. `main_memory`: bytes that may be used of it.
Prediction fromPlan(const placement::Plan& plan, uint64_t main_memory);

}  // namespace hearth::ui
