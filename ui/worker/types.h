#pragma once

#include <QList>
#include <QMetaType>
#include <QString>
#include <QStringList>

/// What the window asks the engine with and what comes back: plain values, so that no widget sees an engine type.
namespace hearth::ui {

struct LoadOptions {
    uint ctx = 0;      ///< positions; 0 = the file's, as far as memory goes
    uint threads = 0;  ///< 0 = physical performance cores
};

enum class Role { System, User, Assistant };

struct ChatMessage {
    Role role = Role::User;
    QString text;
    QString thinking = {};  ///< what an assistant thought before its answer
};

struct ReplyOptions {
    quint64 seed = 0;
    qint64 max_tokens = -1;  ///< −1 = until the end
};

struct ModelInfo {
    QString path, name;
    QString device;         ///< what really computes, like "cpu, avx512, 2 threads"
    quint64 bytes = 0;      ///< that the plan holds on all devices
    uint context = 0;       ///< positions
    QStringList notes = {}; ///< sentences that the user should read
};

enum class Channel { Answer, Thinking, ToolCall };

struct TextPiece {
    Channel channel = Channel::Answer;
    QString text;
    bool operator==(const TextPiece&) const = default;
};

/// Where a reply is. Overwritten, never queued: whoever is late reads the newest.
struct Statistics {
    uint prompt_tokens = 0, prompt_done = 0;  ///< of the prompt, and how many of them are computed or were kept
    uint tokens = 0;                          ///< of the reply so far
    double tokens_per_s = 0;  ///< of the last second while it runs, of the whole reply once it has ended
    double seconds = 0;  ///< since the request began
    uint context_used = 0, context = 0;  ///< positions
};

enum class End { Complete, TokenLimit, ContextFull };

/// How a request ended that did not fail.
struct Outcome {
    End end = End::Complete;
    Statistics statistics = {};
    QStringList notes = {};  ///< sentences that the user should read
};

struct Failure {
    QString what, why, next;  ///< clauses without a full stop; next may be empty
};

}  // namespace hearth::ui

Q_DECLARE_METATYPE(hearth::ui::Role)
Q_DECLARE_METATYPE(hearth::ui::Outcome)
Q_DECLARE_METATYPE(hearth::ui::Failure)
Q_DECLARE_METATYPE(hearth::ui::TextPiece)
