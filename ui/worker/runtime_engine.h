#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/placement/device.h"
#include "ui/worker/engine.h"

namespace hearth::ui {

/// The engine of engine/runtime: one model, one conversation on it, whose common beginning is not computed again.
class RuntimeEngine : public Engine {
public:
    /// What a model may be placed on by the user's choices, the processor first; asked at each loading, by its thread.
    using Devices = std::function<std::vector<placement::Device>(const PlacementChoices&)>;
    /// Without `devices` the processor computes everything.
    explicit RuntimeEngine(Devices devices = {});
    ~RuntimeEngine() override;

    ModelInfo load(const QString& path, const LoadOptions& options, std::stop_token stop) override;
    void unload() override;
    Outcome reply(const QList<ChatMessage>& messages, const ReplyOptions& options, const Listener& listener,
                  std::stop_token stop) override;

private:
    struct Loaded;
    Devices devices_;
    std::unique_ptr<Loaded> loaded_;
};

}  // namespace hearth::ui
