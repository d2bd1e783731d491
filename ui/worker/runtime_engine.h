#pragma once

#include <memory>

#include "ui/worker/engine.h"

namespace hearth::ui {

/// The engine of engine/runtime: one model, one conversation on it, whose common beginning is not computed again.
class RuntimeEngine : public Engine {
public:
    RuntimeEngine();
    ~RuntimeEngine() override;

    ModelInfo load(const QString& path, const LoadOptions& options, std::stop_token stop) override;
    void unload() override;
    Outcome reply(const QList<ChatMessage>& messages, const ReplyOptions& options, const Listener& listener,
                  std::stop_token stop) override;

private:
    struct Loaded;
    std::unique_ptr<Loaded> loaded_;
};

}  // namespace hearth::ui
