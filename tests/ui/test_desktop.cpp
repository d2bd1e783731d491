#include <fcntl.h>
#include <unistd.h>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusUnixFileDescriptor>
#include <QProcess>
#include <QtTest>

#include "ui/suspend_block.h"

using namespace hearth::ui;

/// What the program asks of the desktop, over a bus of the test's own.
class TestDesktop : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void theComputerStaysAwakeWhileBusy();
    void shortWorkIsNotWorthAWord();
    void withoutLoginTheSessionIsAsked();
    void withoutABusNothingHappens();
    void cleanupTestCase();

private:
    QDBusConnection bus(const QString& name) { return QDBusConnection::connectToBus(address_, name); }

    QProcess daemon_;
    QString address_;
};

namespace {

/// As systemd's login1: each lock is one end of a pipe, which is let go of when it is closed.
class Login : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.login1.Manager")

public:
    QStringList asked;
    int kept = -1;   ///< our end

    bool letGo() const {
        char byte = 0;
        return kept >= 0 && read(kept, &byte, 1) == 0;
    }

public Q_SLOTS:
    QDBusUnixFileDescriptor Inhibit(const QString& what, const QString& who, const QString& why, const QString& mode) {
        asked << what << who << why << mode;
        int ends[2] = {};
        if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return {};
        kept = ends[0];
        QDBusUnixFileDescriptor given;
        given.giveFileDescriptor(ends[1]);
        return given;
    }
};

/// As the session's power management.
class Power : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.PowerManagement.Inhibit")

public:
    QList<uint> held;

public Q_SLOTS:
    uint Inhibit(const QString&, const QString&) {
        held << 42;
        return 42;
    }
    void UnInhibit(uint cookie) { held.removeAll(cookie); }
};

}  // namespace

void TestDesktop::initTestCase() {
    daemon_.start(QStringLiteral("dbus-daemon"),
                  {QStringLiteral("--session"), QStringLiteral("--nofork"), QStringLiteral("--print-address")});
    if (!daemon_.waitForStarted() || !daemon_.waitForReadyRead()) QSKIP("there is no dbus-daemon here");
    address_ = QString::fromUtf8(daemon_.readLine()).trimmed();
    QVERIFY(bus(QStringLiteral("probe")).isConnected());
}

void TestDesktop::init() {
    if (address_.isEmpty()) QSKIP("there is no dbus-daemon here");
}

void TestDesktop::theComputerStaysAwakeWhileBusy() {
    QDBusConnection there = bus(QStringLiteral("login"));
    Login login;
    QVERIFY(there.registerObject(QStringLiteral("/org/freedesktop/login1"), &login, QDBusConnection::ExportAllSlots));
    QVERIFY(there.registerService(QStringLiteral("org.freedesktop.login1")));
    SuspendBlock block(bus(QStringLiteral("asker")), QDBusConnection(QStringLiteral("none")));
    block.setPatience(10);
    block.setBusy(true);
    QTRY_VERIFY(block.isHeld());
    QCOMPARE(login.asked, (QStringList{QStringLiteral("sleep:idle"), QStringLiteral("Hearth"),
                                       QStringLiteral("A model is computing"), QStringLiteral("block")}));
    QVERIFY(!login.letGo());
    block.setBusy(true);
    QCOMPARE(login.asked.size(), 4);
    block.setBusy(false);
    QVERIFY(!block.isHeld());
    QTRY_VERIFY(login.letGo());
    // And once more.
    block.setBusy(true);
    QTRY_COMPARE(login.asked.size(), 8);
    there.unregisterService(QStringLiteral("org.freedesktop.login1"));
}

void TestDesktop::shortWorkIsNotWorthAWord() {
    QDBusConnection there = bus(QStringLiteral("login"));
    Login login;
    there.unregisterObject(QStringLiteral("/org/freedesktop/login1"));
    QVERIFY(there.registerObject(QStringLiteral("/org/freedesktop/login1"), &login, QDBusConnection::ExportAllSlots));
    QVERIFY(there.registerService(QStringLiteral("org.freedesktop.login1")));
    SuspendBlock block(bus(QStringLiteral("asker")), QDBusConnection(QStringLiteral("none")));
    block.setPatience(200);
    block.setBusy(true);
    QTest::qWait(20);
    block.setBusy(false);
    QTest::qWait(300);
    QVERIFY(login.asked.isEmpty());
    there.unregisterService(QStringLiteral("org.freedesktop.login1"));
}

void TestDesktop::withoutLoginTheSessionIsAsked() {
    QDBusConnection there = bus(QStringLiteral("power"));
    Power power;
    QVERIFY(there.registerObject(QStringLiteral("/org/freedesktop/PowerManagement/Inhibit"), &power,
                                 QDBusConnection::ExportAllSlots));
    QVERIFY(there.registerService(QStringLiteral("org.freedesktop.PowerManagement")));
    SuspendBlock block(bus(QStringLiteral("asker")), bus(QStringLiteral("asker2")));
    block.setPatience(1);
    block.setBusy(true);
    QTRY_VERIFY(block.isHeld());
    QCOMPARE(power.held, QList<uint>{42});
    block.setBusy(false);
    QTRY_VERIFY(power.held.isEmpty());
    QVERIFY(!block.isHeld());
}

void TestDesktop::withoutABusNothingHappens() {
    SuspendBlock block(QDBusConnection(QStringLiteral("none")), QDBusConnection(QStringLiteral("none")));
    block.setPatience(1);
    block.setBusy(true);
    QTest::qWait(20);
    QVERIFY(!block.isHeld());
    block.setBusy(false);
}

void TestDesktop::cleanupTestCase() {
    daemon_.kill();
    daemon_.waitForFinished();
}

QTEST_GUILESS_MAIN(TestDesktop)
#include "test_desktop.moc"
