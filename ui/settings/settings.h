#pragma once

#include <QByteArray>

#include "ui/theme.h"

namespace hearth::ui {

/// What is remembered from one start to the next, by name and type.
class Settings {
public:
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
    Theme theme() const;
    void setTheme(Theme theme);
};

}  // namespace hearth::ui
