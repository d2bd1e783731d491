#include "ui/notification.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QGuiApplication>
#include <QVariantMap>

namespace hearth::ui {

void notify(const QString& title, const QString& text) {
    const QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected()) return;
    QDBusMessage call = QDBusMessage::createMethodCall(
        QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("/org/freedesktop/Notifications"),
        QStringLiteral("org.freedesktop.Notifications"), QStringLiteral("Notify"));
    // Program, what it replaces, icon, summary, body, actions, hints, how long (Desktop Notifications 1.2, §9).
    call << QStringLiteral("Hearth") << uint(0) << QGuiApplication::desktopFileName() << title
         << text.toHtmlEscaped() << QStringList() << QVariantMap() << -1;
    bus.send(call);
}

}  // namespace hearth::ui
