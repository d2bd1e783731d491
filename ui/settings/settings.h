#pragma once

#include <QByteArray>
#include <QKeySequence>
#include <QString>
#include <optional>

#include "ui/theme.h"
#include "ui/worker/machine.h"

namespace hearth::ui {

/// Which key sends a message; the others begin a line.
enum class SendKey { Enter, ShiftEnter, ControlEnter };

/// What is remembered from one start to the next, by name and type.
class Settings {
public:
    /// Where it is remembered.
    QString folder() const;
    QByteArray windowGeometry() const;
    void setWindowGeometry(const QByteArray& geometry);
    QByteArray splitter() const;
    void setSplitter(const QByteArray& state);
    /// The chat that was shown last; 0 = none.
    qint64 lastChat() const;
    void setLastChat(qint64 id);
    /// Points added to the font of the chat.
    int zoom() const;
    void setZoom(int points);
    SendKey sendKey() const;
    void setSendKey(SendKey key);
    /// Of the engine; 0 = as many as the processor has fast cores.
    uint threads() const;
    void setThreads(uint threads);
    /// Whether a notification tells that a long reply has ended while nobody looked.
    bool notifies() const;
    void setNotifies(bool notifies);
    /// Whether the computer stays awake while something is computed.
    bool staysAwake() const;
    void setStaysAwake(bool stays);
    /// Whether the window closes into an icon in the tray.
    bool usesTray() const;
    void setUsesTray(bool uses);
    /// What holds for new chats with a model, by its name: ReplyChoices as JSON, and a system prompt.
    QString modelChoices(const QString& model) const;
    QString modelSystemPrompt(const QString& model) const;
    void setModelDefaults(const QString& model, const QString& choices, const QString& system_prompt);
    /// Where models live: what was chosen for a model by its name, or for all (an empty name); nothing = no choice.
    std::optional<PlacementChoices> placement(const QString& model) const;
    void setPlacement(const QString& model, const std::optional<PlacementChoices>& choices);
    /// The first pages have been seen.
    bool welcomed() const;
    void setWelcomed(bool welcomed);
    QByteArray windowState() const;
    void setWindowState(const QByteArray& state);
    /// Presets that somebody made, by name: ReplyChoices as JSON, and a system prompt.
    struct Preset {
        QString choices, system_prompt;
    };
    QMap<QString, Preset> presets() const;
    void setPreset(const QString& name, const std::optional<Preset>& preset);
    /// The keys that somebody chose for an action, by its object name; nothing = those it was made with.
    std::optional<QKeySequence> shortcut(const QString& action) const;
    void setShortcut(const QString& action, const std::optional<QKeySequence>& keys);
    /// Of the words; empty = the system's. Holds from the next start.
    QString language() const;
    void setLanguage(const QString& code);
    Theme theme() const;
    void setTheme(Theme theme);
};

}  // namespace hearth::ui
