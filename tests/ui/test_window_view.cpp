#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QInputMethodEvent>
#include <QLabel>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QScrollBar>
#include <QSettings>
#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <ctime>

#include "tests/ui/own_settings.h"
#include "tests/ui/stage.h"
#include "ui/main_window.h"

using namespace hearth;
using namespace hearth::ui;
using test::Stage;

namespace {

double threadMilliseconds() {
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Measures what the events cost the GUI thread: all of them in processor time, so that a busy machine does not count, and
/// each in wall time, since the clock of a thread may tick in steps of 10 ms.
class MeasuringApplication : public QApplication {
public:
    using QApplication::QApplication;
    bool notify(QObject* receiver, QEvent* event) override {
        // Other threads come through here too: a whole reply is one event of the engine's.
        if (QThread::currentThread() != thread()) return QApplication::notify(receiver, event);
        if (depth_++ > 0) {
            const bool inner = QApplication::notify(receiver, event);
            --depth_;
            return inner;
        }
        QElapsedTimer clock;
        clock.start();
        const bool result = QApplication::notify(receiver, event);
        --depth_;
        if (measuring) costs.push_back(static_cast<double>(clock.nsecsElapsed()) / 1e6);
        return result;
    }
    bool measuring = false;
    std::vector<double> costs;

private:
    int depth_ = 0;
};

}  // namespace

/// How the window looks, what it costs, and how it is read out.
class TestWindowView : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY(settings_.isValid()); }
    void readingIsNotDisturbed();
    void framesAreShort();
    void aLongChatOpensSoon();
    void everythingHasAKeyOrAName();
    void messagesAreReadOut();
    void coloursFollowTheChoice();
    void theWindowRemembersItsSize();

private:
    hearth::test::OwnSettings settings_;
};

void TestWindowView::readingIsNotDisturbed() {
    Stage stage;
    QString first, more;
    for (int i = 0; i < 80; ++i) first += QStringLiteral("Paragraph %1 of the first reply.\n\n").arg(i);
    for (int i = 0; i < 200; ++i) more += QStringLiteral("Line %1 of the second reply, which goes on.\n\n").arg(i);
    stage.script->pieces = test::piecesOf(first, 40);
    stage.type(QStringLiteral("one"));
    QVERIFY(stage.idle());
    QVERIFY(stage.view().following());
    QScrollBar* bar = stage.view().verticalScrollBar();
    QCOMPARE(bar->value(), bar->maximum());
    stage.script->pieces = test::piecesOf(more, 10);
    stage.script->pause_us = 300;
    stage.type(QStringLiteral("two"));
    QTRY_VERIFY(!stage.text(3).isEmpty());
    QCOMPARE(bar->value(), bar->maximum());
    bar->setValue(bar->maximum() / 2);
    QVERIFY(!stage.view().following());
    const double top = stage.view().messageTop(1);
    const int range = bar->maximum();
    QVERIFY(stage.idle());
    QCOMPARE(stage.text(3), more);
    QCOMPARE(stage.view().messageTop(1), top);
    QVERIFY(bar->maximum() > range);
    auto* newer = stage.window.findChild<QToolButton*>(QStringLiteral("newer_text"));
    QVERIFY(newer->isVisible());
    QTest::mouseClick(newer, Qt::LeftButton);
    QCOMPARE(bar->value(), bar->maximum());
    QVERIFY(!newer->isVisible());
}

void TestWindowView::framesAreShort() {
    Stage stage;
    QString reply;
    for (int i = 0; reply.size() < 32 * 1024; ++i)
        reply += QStringLiteral(
                     "## Part %1\n\nSome *words* about `code` that fill a line or two of the window, with a "
                     "[link](https://example.com).\n\n- one\n- two\n\n```cpp\nfor (int i = 0; i < %1; ++i)\n    sum += "
                     "x[i];\n```\n\n")
                     .arg(i);
    stage.script->pieces = test::piecesOf(reply);
    stage.script->pause_us = 200;
    auto* app = static_cast<MeasuringApplication*>(qApp);
    app->costs.clear();
    app->measuring = true;
    int frames = 0;
    connect(&stage.worker, &Worker::textArrived, this, [&frames] { ++frames; });
    const double begin = threadMilliseconds();
    stage.type(QStringLiteral("Write a lot"));
    QVERIFY(stage.idle());
    QTest::qWait(50);
    app->measuring = false;
    QCOMPARE(stage.text(1), reply);
    // What is over in a tenth of a millisecond is no frame.
    const double each = (threadMilliseconds() - begin) / frames;
    std::erase_if(app->costs, [](double ms) { return ms < 0.1; });
    std::ranges::sort(app->costs);
    const double longest = app->costs.back(), p99 = app->costs[app->costs.size() * 99 / 100];
    qInfo(
        "GUI thread while a reply of 32 KB streams: %d frames, %.2f ms of processor time each; events: 99 %% within "
        "%.2f ms, longest %.2f ms by the clock on the wall",
        frames, each, p99, longest);
    QVERIFY(frames > 20);
    QVERIFY2(each <= 24, qPrintable(QString::number(each)));
}

void TestWindowView::aLongChatOpensSoon() {
    Stage stage;
    ConversationModel messages;
    for (int i = 0; i < 250; ++i) {
        messages.addUserMessage(QStringLiteral("Question %1").arg(i));
        messages.beginReply(QStringLiteral("Fake"));
        messages.append(test::piecesOf(QStringLiteral("An answer of *some* length. ").repeated(60) +
                                           QStringLiteral("\n\n```\ncode\n```\n"),
                                       2000),
                        1);
        messages.endReply(ConversationModel::State::Complete, {}, {});
    }
    const double begin = threadMilliseconds();
    stage.view().setModel(&messages);
    const QImage picture = stage.view().grab().toImage();
    const double took = threadMilliseconds() - begin;
    qInfo("500 messages open in %.0f ms of processor time", took);
    QVERIFY(!picture.isNull());
    QVERIFY2(took <= 300, qPrintable(QString::number(took)));
    stage.view().setModel(&stage.messages());
}

void TestWindowView::everythingHasAKeyOrAName() {
    Stage stage;
    for (const QAction* menu : stage.window.menuBar()->actions()) {
        QVERIFY2(menu->text().contains(u'&'), qPrintable(menu->text()));
        for (const QAction* entry : menu->menu()->actions()) {
            if (!entry->isSeparator())
                QVERIFY2(entry->text().contains(u'&') || !entry->shortcut().isEmpty(), qPrintable(entry->text()));
        }
    }
    for (const QWidget* widget : stage.window.findChildren<QWidget*>()) {
        if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible()) continue;
        const QAccessibleInterface* seen = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
        QVERIFY2(seen && !seen->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
    }
    QMap<QString, QString> keys;
    for (const QAction* action : stage.window.findChildren<QAction*>()) {
        for (const QKeySequence& key : action->shortcuts()) {
            QVERIFY2(!keys.contains(key.toString()),
                     qPrintable(key.toString() + QStringLiteral(": ") + action->text()));
            keys[key.toString()] = action->text();
        }
    }
    // F6 goes through what is there: list and box now, the messages too once there are some.
    QVERIFY(stage.input().hasFocus());
    QTest::keyClick(&stage.window, Qt::Key_F6);
    QVERIFY(stage.window.chatList().tree().hasFocus());
    QTest::keyClick(&stage.window, Qt::Key_F6);
    QVERIFY(stage.input().hasFocus());
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    QTest::keyClick(&stage.window, Qt::Key_F6);
    QTest::keyClick(&stage.window, Qt::Key_F6);
    QVERIFY(stage.view().hasFocus());
}

void TestWindowView::messagesAreReadOut() {
    Stage stage;
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    QAccessibleInterface* list = QAccessible::queryAccessibleInterface(&stage.view());
    QVERIFY(list && list->role() == QAccessible::List);
    QCOMPARE(list->childCount(), 2);
    const QString name = list->child(1)->text(QAccessible::Name);
    QVERIFY2(name.contains(QStringLiteral("2 of 2")) && name.contains(QStringLiteral("Hello.")), qPrintable(name));
    QCOMPARE(list->indexOfChild(list->child(1)), 1);
    const QPoint middle = list->child(0)->rect().center();
    QCOMPARE(list->childAt(middle.x(), middle.y()), list->child(0));
}

void TestWindowView::coloursFollowTheChoice() {
    Stage stage;
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    const auto ground = [&stage] { return stage.view().viewport()->grab().toImage().pixelColor(3, 60).lightness(); };
    applyTheme(Theme::Dark);
    QTRY_VERIFY(ground() < 80);
    applyTheme(Theme::Light);
    QTRY_VERIFY(ground() > 200);
    applyTheme(Theme::System);
    stage.context.settings.setTheme(Theme::Dark);
    QVERIFY(stage.context.settings.theme() == Theme::Dark);
    stage.context.settings.setTheme(Theme::System);
}

void TestWindowView::theWindowRemembersItsSize() {
    {
        Stage stage(false);
        stage.window.resize(777, 555);
        stage.window.close();
    }
    Stage stage(false);
    QCOMPARE(stage.window.size(), QSize(777, 555));
}

int main(int argc, char** argv) {
    MeasuringApplication app(argc, argv);
    TestWindowView test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_window_view.moc"
