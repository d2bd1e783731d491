#pragma once

#include <QMutex>
#include <QThread>
#include <atomic>
#include <memory>

#include "engine/base/error.h"
#include "ui/worker/engine.h"

namespace hearth::test {

/// What a FakeEngine does, and what was asked of it. Set between requests.
struct Script {
    QList<ui::TextPiece> pieces = {{ui::Channel::Answer, QStringLiteral("Hello.")}};
    unsigned long pause_us = 0;     ///< between pieces
    bool endless = false;           ///< goes on, without text, until it is stopped
    bool fails = false;             ///< after its pieces
    bool load_fails = false;
    QStringList notes = {};
    std::atomic<int> replies = 0, loads = 0;
    QMutex mutex;
    QList<ui::ChatMessage> asked;   ///< the messages of the last reply; under mutex
    ui::ReplyOptions options;       ///< of the last reply; under mutex
    uint left_out = 0;              ///< messages that do not fit

    ui::ReplyOptions lastOptions() {
        const QMutexLocker lock(&mutex);
        return options;
    }
    QList<ui::ChatMessage> lastAsked() {
        const QMutexLocker lock(&mutex);
        return asked;
    }
};

/// An engine that says what the test wants.
class FakeEngine : public ui::Engine {
public:
    explicit FakeEngine(std::shared_ptr<Script> script) : script_(std::move(script)) {}

    ui::ModelInfo load(const QString& path, const ui::LoadOptions&, std::stop_token) override {
        ++script_->loads;
        if (script_->load_fails) throw Error("cannot read it", "the file ends after 12 bytes", "Get it again");
        ui::ModelInfo info;
        info.path = path;
        info.name = QStringLiteral("Fake");
        info.device = QStringLiteral("cpu, none, 1 thread");
        info.bytes = 1 << 20;
        info.context = 4096;
        info.can_think = true;
        info.count_tokens = [](const QString& text) { return static_cast<uint>(text.size() / 4); };
        return info;
    }

    void unload() override {}

    ui::Outcome reply(const QList<ui::ChatMessage>& messages, const ui::ReplyOptions& options, const Listener& listener,
                      std::stop_token stop) override {
        ++script_->replies;
        {
            const QMutexLocker lock(&script_->mutex);
            script_->asked = messages;
            script_->options = options;
        }
        ui::Outcome outcome;
        outcome.left_out = script_->left_out;
        outcome.statistics.context = 4096;
        outcome.notes = script_->notes;
        for (const ui::TextPiece& piece : script_->pieces) {
            if (stop.stop_requested()) return outcome;
            listener.text(piece);
            ++outcome.statistics.tokens;
            outcome.statistics.context_used = outcome.statistics.tokens + 10;
            outcome.statistics.tokens_per_s = 12.5;
            listener.statistics(outcome.statistics);
            if (script_->pause_us > 0) QThread::usleep(script_->pause_us);
        }
        while (script_->endless && !stop.stop_requested()) QThread::msleep(1);
        if (script_->fails) throw Error("cannot go on", "the memory is full", "Choose a smaller context");
        return outcome;
    }

private:
    std::shared_ptr<Script> script_;
};

/// `text` as pieces of `size` characters.
inline QList<ui::TextPiece> piecesOf(const QString& text, qsizetype size = 4) {
    QList<ui::TextPiece> pieces;
    for (qsizetype at = 0; at < text.size(); at += size) pieces.push_back({ui::Channel::Answer, text.mid(at, size)});
    return pieces;
}

}  // namespace hearth::test
