#pragma once

#include <functional>
#include <stop_token>

#include "ui/worker/types.h"

namespace hearth::ui {

/// The engine as the worker thread calls it: one call at a time, each blocks until it is done. Calls throw hearth::Error
/// for what failed and hearth::Stopped when a load was stopped; tests put a scripted one in its place.
class Engine {
public:
    struct Listener {
        std::function<void(TextPiece)> text;
        std::function<void(const Statistics&)> statistics;
    };

    virtual ~Engine() = default;

    /// A load that fails or is stopped leaves what was loaded before.
    virtual ModelInfo load(const QString& path, const LoadOptions& options, std::stop_token stop) = 0;
    virtual void unload() = 0;
    /// Answers the last message. Returns soon after `stop` asks, with what there is; the listener has all of the text by then.
    virtual Outcome reply(const QList<ChatMessage>& messages, const ReplyOptions& options, const Listener& listener,
                          std::stop_token stop) = 0;
};

}  // namespace hearth::ui
