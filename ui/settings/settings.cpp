#include "ui/settings/settings.h"

#include <QSettings>
#include <algorithm>

namespace hearth::ui {
namespace {

const QString geometry_key = QStringLiteral("window/geometry"), zoom_key = QStringLiteral("chat/zoom"),
              theme_key = QStringLiteral("window/theme");

}  // namespace

QByteArray Settings::windowGeometry() const { return QSettings().value(geometry_key).toByteArray(); }
void Settings::setWindowGeometry(const QByteArray& geometry) { QSettings().setValue(geometry_key, geometry); }
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
