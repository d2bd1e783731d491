#pragma once

#include <QList>
#include <QMetaType>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>

#include "ui/worker/machine.h"

/// What the window asks the engine with and what comes back: plain values, so that no widget sees an engine type.
namespace hearth::ui {

struct LoadOptions {
    uint ctx = 0;      ///< positions; 0 = the file's, as far as memory goes
    uint threads = 0;  ///< 0 = physical performance cores
    PlacementChoices placement = {};   ///< its ctx gives way to the one above
};

enum class Role { System, User, Assistant };

struct ChatMessage {
    Role role = Role::User;
    QString text;
    QString thinking = {};  ///< what an assistant thought before its answer
};

/// What a user chose about how replies are made; what is not set is as the model file recommends.
struct ReplyChoices {
    std::optional<double> temperature = {}, top_p = {}, min_p = {}, repeat_penalty = {};
    std::optional<int> top_k = {};
    std::optional<qint64> max_tokens = {};
    std::optional<bool> thinking = {};   ///< where the template has a switch for it
    bool operator==(const ReplyChoices&) const = default;

    /// As JSON, with only what is set; what cannot be read back makes no choice.
    QString toJson() const;
    static ReplyChoices fromJson(const QString& json);
    /// These, and where they are silent `others`.
    ReplyChoices over(const ReplyChoices& others) const;
};

struct ReplyOptions {
    quint64 seed = 0;
    ReplyChoices choices = {};
    bool resumes = false;   ///< the last message is the assistant's, and the reply goes on with it
};

struct ModelInfo {
    QString path, name;
    QString device;         ///< what really computes, like "cpu, avx512, 2 threads"
    quint64 bytes = 0;      ///< that the plan holds on all devices
    uint context = 0;       ///< positions
    Prediction plan = {};   ///< what was planned and is executed
    QStringList notes = {}; ///< sentences that the user should read
    bool can_think = false; ///< its template has a switch for thinking
    /// Tokens of a text; from any thread, at any time.
    std::function<uint(const QString&)> count_tokens = {};
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
    uint prompt_computed = 0;                 ///< tokens of the prompt that were not kept from before
    double prompt_seconds = 0;                ///< that they took
    quint64 neurons = 0, neurons_computed = 0;   ///< of layers that can skip some; 0 = none can
    /// By device, the bytes that the system counts as held by what is loaded; only at the end.
    QMap<QString, quint64> counted = {};
};

enum class End { Complete, TokenLimit, ContextFull };

/// How a request ended that did not fail.
struct Outcome {
    End end = End::Complete;
    uint left_out = 0;   ///< of the messages, after a system prompt, that no longer fitted in the context
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
