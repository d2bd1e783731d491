#include "ui/settings/settings.h"

#include <QSettings>
#include <algorithm>

namespace hearth::ui {
namespace {

const QString geometry_key = QStringLiteral("window/geometry"), zoom_key = QStringLiteral("chat/zoom");

}  // namespace

QByteArray Settings::windowGeometry() const { return QSettings().value(geometry_key).toByteArray(); }
void Settings::setWindowGeometry(const QByteArray& geometry) { QSettings().setValue(geometry_key, geometry); }
int Settings::zoom() const { return std::clamp(QSettings().value(zoom_key, 0).toInt(), -6, 24); }
void Settings::setZoom(int points) { QSettings().setValue(zoom_key, points); }

}  // namespace hearth::ui
