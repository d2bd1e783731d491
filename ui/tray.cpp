#include "ui/tray.h"

#include <QGuiApplication>

namespace hearth::ui {

Tray::Tray(QObject* parent) : QObject(parent) {
    menu_.addAction(tr("&Show Hearth"), this, &Tray::showRequested);
    menu_.addAction(tr("&New chat"), this, &Tray::newChatRequested);
    unload_ = menu_.addAction(tr("&Unload"), this, &Tray::unloadRequested);
    menu_.addSeparator();
    menu_.addAction(tr("&Quit"), this, &Tray::quitRequested);
    icon_.setIcon(QGuiApplication::windowIcon());
    icon_.setContextMenu(&menu_);
    connect(&icon_, &QSystemTrayIcon::activated, this, [this](QSystemTrayIcon::ActivationReason reason) {
        if (reason == QSystemTrayIcon::Trigger) Q_EMIT showRequested();
    });
    setModel({});
    icon_.show();
}

void Tray::setModel(const QString& name) {
    unload_->setText(name.isEmpty() ? tr("&Unload") : tr("&Unload %1").arg(name));
    unload_->setEnabled(!name.isEmpty());
    icon_.setToolTip(name.isEmpty() ? tr("Hearth") : tr("Hearth: %1").arg(name));
}

}  // namespace hearth::ui
