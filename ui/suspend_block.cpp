#include "ui/suspend_block.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>

namespace hearth::ui {
namespace {

const QString power_service = QStringLiteral("org.freedesktop.PowerManagement"),
              power_path = QStringLiteral("/org/freedesktop/PowerManagement/Inhibit"),
              power_interface = QStringLiteral("org.freedesktop.PowerManagement.Inhibit");

}  // namespace

SuspendBlock::SuspendBlock(const QDBusConnection& system, const QDBusConnection& session, QObject* parent)
    : QObject(parent), system_(system), session_(session) {
    patience_.setSingleShot(true);
    patience_.setInterval(5000);
    connect(&patience_, &QTimer::timeout, this, &SuspendBlock::ask);
}

SuspendBlock::~SuspendBlock() { release(); }

void SuspendBlock::setBusy(bool busy) {
    if (busy == busy_) return;
    busy_ = busy;
    if (busy) return patience_.start();
    patience_.stop();
    release();
}

void SuspendBlock::ask() {
    if (!system_.isConnected()) return askSession();
    QDBusMessage call = QDBusMessage::createMethodCall(
        QStringLiteral("org.freedesktop.login1"), QStringLiteral("/org/freedesktop/login1"),
        QStringLiteral("org.freedesktop.login1.Manager"), QStringLiteral("Inhibit"));
    call << QStringLiteral("sleep:idle") << QStringLiteral("Hearth") << tr("A model is computing")
         << QStringLiteral("block");
    auto* watcher = new QDBusPendingCallWatcher(system_.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        watcher->deleteLater();
        const QDBusPendingReply<QDBusUnixFileDescriptor> reply = *watcher;
        if (!busy_) return;
        if (reply.isError()) askSession();
        else lock_ = reply.value();
    });
}

void SuspendBlock::askSession() {
    if (!session_.isConnected()) return;
    QDBusMessage call =
        QDBusMessage::createMethodCall(power_service, power_path, power_interface, QStringLiteral("Inhibit"));
    call << QStringLiteral("Hearth") << tr("A model is computing");
    auto* watcher = new QDBusPendingCallWatcher(session_.asyncCall(call), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        watcher->deleteLater();
        const QDBusPendingReply<uint> reply = *watcher;
        if (reply.isError()) return;
        cookie_ = reply.value();
        if (!busy_) release();
    });
}

void SuspendBlock::release() {
    lock_ = {};
    if (cookie_ == 0) return;
    QDBusMessage call =
        QDBusMessage::createMethodCall(power_service, power_path, power_interface, QStringLiteral("UnInhibit"));
    call << std::exchange(cookie_, 0U);
    session_.send(call);
}

}  // namespace hearth::ui
