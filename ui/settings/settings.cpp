#include "ui/settings/settings.h"

#include <QSettings>
#include <algorithm>

namespace hearth::ui {
namespace {

const QString geometry_key = QStringLiteral("window/geometry"), zoom_key = QStringLiteral("chat/zoom"),
              splitter_key = QStringLiteral("window/splitter"), last_chat_key = QStringLiteral("chat/last"),
              theme_key = QStringLiteral("window/theme");

}  // namespace

QByteArray Settings::windowGeometry() const { return QSettings().value(geometry_key).toByteArray(); }
void Settings::setWindowGeometry(const QByteArray& geometry) { QSettings().setValue(geometry_key, geometry); }
QByteArray Settings::splitter() const { return QSettings().value(splitter_key).toByteArray(); }
void Settings::setSplitter(const QByteArray& state) { QSettings().setValue(splitter_key, state); }
qint64 Settings::lastChat() const { return QSettings().value(last_chat_key).toLongLong(); }
void Settings::setLastChat(qint64 id) { QSettings().setValue(last_chat_key, id); }
int Settings::zoom() const { return std::clamp(QSettings().value(zoom_key, 0).toInt(), -6, 24); }
void Settings::setZoom(int points) { QSettings().setValue(zoom_key, points); }

Theme Settings::theme() const {
    const QString name = QSettings().value(theme_key).toString();
    return name == QStringLiteral("light")  ? Theme::Light
           : name == QStringLiteral("dark") ? Theme::Dark
                                            : Theme::System;
}

void Settings::setTheme(Theme theme) {
    QSettings().setValue(theme_key, theme == Theme::Light  ? QStringLiteral("light")
                                    : theme == Theme::Dark ? QStringLiteral("dark")
                                                           : QStringLiteral("system"));
}

}  // namespace hearth::ui
