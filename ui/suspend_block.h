#pragma once

#include <QDBusConnection>
#include <QDBusUnixFileDescriptor>
#include <QObject>
#include <QTimer>

namespace hearth::ui {

/// Keeps the computer awake (not its screen) while something is computed: by systemd's login1, or where that is not there by
/// the session's power management. Where neither is, nothing happens.
class SuspendBlock : public QObject {
    Q_OBJECT

public:
    explicit SuspendBlock(const QDBusConnection& system = QDBusConnection::systemBus(),
                          const QDBusConnection& session = QDBusConnection::sessionBus(), QObject* parent = nullptr);
    ~SuspendBlock() override;

    /// Work that is done within some seconds is not worth a word.
    void setBusy(bool busy);
    /// Somebody has promised to stay awake.
    bool isHeld() const { return lock_.isValid() || cookie_ != 0; }
    void setPatience(int ms) { patience_.setInterval(ms); }

private:
    void ask();
    void askSession();
    void release();

    QDBusConnection system_, session_;
    QTimer patience_;
    QDBusUnixFileDescriptor lock_;  ///< login1's: closed to let go
    uint cookie_ = 0;  ///< the session's
    bool busy_ = false;
};

}  // namespace hearth::ui
