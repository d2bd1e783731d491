#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/placement/device.h"
#include "ui/worker/machine.h"

namespace hearth::ui {

/// The files and devices that are really there, through engine/gguf, engine/model, engine/placement and engine/gpu.
class RuntimeMachine : public Machine {
public:
    /// `described`: the file of cards and their speeds (resources/placement/devices.json), or empty. `speeds`: the folder of
    /// what was measured of the processor, or empty = the user's. `threads` = 0: as many as there are fast cores.
    explicit RuntimeMachine(const std::filesystem::path& described = {}, const std::filesystem::path& speeds = {},
                            unsigned threads = 0);
    ~RuntimeMachine() override;

    ModelFacts read(const QString& path) override;
    QList<DeviceFacts> devices() override;
    Prediction predict(const QString& path, const PlacementChoices& choices, Effort effort, bool executed) override;
    void measure() override;

    /// What the engine may compute on by these choices, the processor first.
    std::vector<placement::Device> executing(const PlacementChoices& choices);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hearth::ui
