#include "ui/worker/placed.h"

#include <algorithm>

namespace hearth::ui {

runtime::LoadOptions placed(const PlacementChoices& choices, std::vector<placement::Device> devices) {
    runtime::LoadOptions load{.ctx = choices.ctx};
    for (auto it = choices.budgets.begin(); it != choices.budgets.end(); ++it)
        if (std::ranges::find(devices, it.key().toStdString(), &placement::Device::name) != devices.end())
            load.budget[it.key().toStdString()] = it.value();
    load.devices = std::move(devices);
    return load;
}

}  // namespace hearth::ui
