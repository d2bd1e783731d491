#pragma once

#include <QMenu>
#include <QSystemTrayIcon>

namespace hearth::ui {

/// The icon in the tray: what closes into it comes back from it.
class Tray : public QObject {
    Q_OBJECT

public:
    explicit Tray(QObject* parent = nullptr);

    static bool isPossible() { return QSystemTrayIcon::isSystemTrayAvailable(); }
    QMenu& menu() { return menu_; }
    /// Name of what is loaded; empty = nothing is.
    void setModel(const QString& name);

Q_SIGNALS:
    void showRequested();
    void newChatRequested();
    void unloadRequested();
    void quitRequested();

private:
    QMenu menu_;
    QAction* unload_;
    QSystemTrayIcon icon_;
};

}  // namespace hearth::ui
