#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QSettings>
#include <QToolButton>

#include "tests/ui/own_settings.h"
#include "tests/ui/stage.h"

using namespace hearth;
using namespace hearth::ui;
using test::Stage;

/// Chats that are kept, left and come back to, on the real window.
class TestWindowChats : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void branchesAreSteppedThrough();
    void aReplyGoesOnInAnotherChat();
    void theNextStartShowsWhatWasThere();
    void anInterruptedReplyGoesOn();
    void aDeletedChatIsUndone();
    void aDeletedMessageIsUndone();
    void draftsStayWithTheirChats();
    void aSearchLeadsToTheMessage();
    void repliesAreRated();
    void whatIsNoLongerSeenIsDivided();
    void onlyWhatChangedIsPainted();

private:
    hearth::test::OwnSettings settings_;
};

void TestWindowChats::initTestCase() {
    QVERIFY(settings_.isValid());
    QApplication::setCursorFlashTime(0);   // pictures of the window are compared
}

void TestWindowChats::init() { QSettings().clear(); }

namespace {

bool clickFirst(const QWidget& parent, const QString& label) {
    for (auto* button : parent.findChildren<QPushButton*>())
        if (button->isVisible() && button->text() == label) {
            QTest::mouseClick(button, Qt::LeftButton);
            return true;
        }
    return false;
}

int shownChats(Stage& stage) {
    const QAbstractItemModel& model = *stage.window.chatList().tree().model();
    int all = 0;
    for (int g = 0; g < model.rowCount(); ++g) all += model.rowCount(model.index(g, 0));
    return all;
}

}  // namespace

void TestWindowChats::branchesAreSteppedThrough() {
    Stage stage;
    stage.type(QStringLiteral("first"));
    QVERIFY(stage.idle());
    stage.script->pieces = test::piecesOf(QStringLiteral("Another."));
    stage.action("regenerate")->trigger();
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().index(1).data(ConversationModel::BranchesRole).toInt(), 2);
    QTest::keyClick(&stage.window, Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(stage.text(1), QStringLiteral("Hello."));
    stage.view().setFocus();
    QTest::keyClick(&stage.view(), Qt::Key_Right);
    QCOMPARE(stage.text(1), QStringLiteral("Another."));
    // An old question is changed while something else is being written; both texts survive.
    stage.type(QStringLiteral("second"));
    QVERIFY(stage.idle());
    stage.input().setPlainText(QStringLiteral("a draft"));
    stage.window.pane().edit(0);
    QCOMPARE(stage.input().toPlainText(), QStringLiteral("first"));
    stage.input().selectAll();
    stage.type(QStringLiteral("first, better"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.text(0), QStringLiteral("first, better"));
    QCOMPARE(stage.input().toPlainText(), QStringLiteral("a draft"));
    stage.window.chat().selectBranch(0, -1);
    QCOMPARE(stage.messages().rowCount(), 4);
    QCOMPARE(stage.text(2), QStringLiteral("second"));
    QCOMPARE(stage.messages().all().size(), 7);
}

void TestWindowChats::aReplyGoesOnInAnotherChat() {
    Stage stage;
    stage.script->pieces = test::piecesOf(QStringLiteral("a long reply ").repeated(60));
    stage.script->pause_us = 2000;
    stage.type(QStringLiteral("Write"));
    QTRY_VERIFY(!stage.text(1).isEmpty());
    const qint64 first = stage.window.chat().id();
    stage.action("new_chat")->trigger();
    QVERIFY(stage.window.chat().id() != first);
    QCOMPARE(stage.messages().rowCount(), 0);
    QVERIFY(stage.idle());
    stage.window.openChat(first);
    QTRY_COMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.text(1), QStringLiteral("a long reply ").repeated(60));
    QCOMPARE(shownChats(stage), 1);
}

void TestWindowChats::theNextStartShowsWhatWasThere() {
    QTemporaryDir chats;
    {
        Stage stage(true, chats.path());
        stage.type(QStringLiteral("Remember me"));
        QVERIFY(stage.idle());
        stage.window.chat().setSystemPrompt(QStringLiteral("Be kind."));
        stage.script->pieces = test::piecesOf(QStringLiteral("Again."));
        stage.action("regenerate")->trigger();
        QVERIFY(stage.idle());
        stage.window.chat().selectBranch(1, -1);
        stage.input().setPlainText(QStringLiteral("not sent"));
        stage.window.close();
    }
    Stage stage(true, chats.path());
    QTRY_COMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.text(0), QStringLiteral("Remember me"));
    QCOMPARE(stage.text(1), QStringLiteral("Hello."));   // the branch that was shown
    QCOMPARE(stage.window.chat().systemPrompt(), QStringLiteral("Be kind."));
    QCOMPARE(stage.input().toPlainText(), QStringLiteral("not sent"));
    QVERIFY2(stage.window.windowTitle().startsWith(QStringLiteral("Remember me")),
             qPrintable(stage.window.windowTitle()));
    QCOMPARE(stage.window.chatList().current(), stage.window.chat().id());
    // And it goes on.
    QTest::keyClick(&stage.input(), Qt::Key_Return);
    QVERIFY(stage.idle());
    const QList<ChatMessage> asked = stage.script->lastAsked();
    QCOMPARE(asked.size(), 4);
    QCOMPARE(asked[0].text, QStringLiteral("Be kind."));
    QCOMPARE(asked[2].text, QStringLiteral("Hello."));
}

void TestWindowChats::anInterruptedReplyGoesOn() {
    QTemporaryDir chats;
    {
        Stage stage(true, chats.path());
        stage.script->endless = true;
        stage.type(QStringLiteral("Tell"));
        QTRY_COMPARE(stage.text(1), QStringLiteral("Hello."));
        stage.window.close();   // in the middle of the reply
    }
    Stage stage(true, chats.path());
    QTRY_COMPARE(stage.messages().rowCount(), 2);
    QVERIFY(stage.messages().lastState() == MessageState::Interrupted);
    QVERIFY(stage.action("resume")->isEnabled());
    stage.script->pieces = test::piecesOf(QStringLiteral(" And more."));
    stage.action("resume")->trigger();
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.text(1), QStringLiteral("Hello. And more."));
    QVERIFY(stage.messages().lastState() == MessageState::Complete);
    QVERIFY(stage.script->lastOptions().resumes);
    QCOMPARE(stage.script->lastAsked().last().text, QStringLiteral("Hello."));
    QVERIFY(!stage.action("resume")->isEnabled());
}

void TestWindowChats::aDeletedChatIsUndone() {
    Stage stage;
    stage.type(QStringLiteral("Keep"));
    QVERIFY(stage.idle());
    const qint64 id = stage.window.chat().id();
    stage.window.chatList().setCurrent(id);
    QTest::keyClick(&stage.window.chatList().tree(), Qt::Key_Delete);
    QCOMPARE(shownChats(stage), 0);
    QCOMPARE(stage.messages().rowCount(), 0);
    QVERIFY(clickFirst(stage.window.pane().banner(), QStringLiteral("Undo")));
    QCOMPARE(shownChats(stage), 1);
    QTRY_COMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.window.chat().id(), id);
}

void TestWindowChats::aDeletedMessageIsUndone() {
    Stage stage;
    for (const char* words : {"one", "two"}) {
        stage.type(QString::fromLatin1(words));
        QVERIFY(stage.idle());
    }
    stage.window.pane().remove(2);
    QCOMPARE(stage.messages().rowCount(), 2);
    QVERIFY(clickFirst(stage.window.pane().banner(), QStringLiteral("Undo")));
    QCOMPARE(stage.messages().rowCount(), 4);
    QSignalSpy loaded(&stage.store, &Store::loaded);
    stage.store.load(stage.window.chat().id());
    QVERIFY(loaded.wait());
    QCOMPARE(loaded[0][1].value<QList<MessageRecord>>().size(), 4);
}

void TestWindowChats::draftsStayWithTheirChats() {
    Stage stage;
    stage.type(QStringLiteral("one"));
    QVERIFY(stage.idle());
    const qint64 first = stage.window.chat().id();
    stage.input().setPlainText(QStringLiteral("draft of the first"));
    QTest::mouseClick(stage.window.findChild<QPushButton*>(QStringLiteral("new_chat_button")), Qt::LeftButton);
    QVERIFY(stage.input().toPlainText().isEmpty());
    stage.input().setPlainText(QStringLiteral("draft of the new"));
    stage.window.openChat(first);
    QCOMPARE(stage.input().toPlainText(), QStringLiteral("draft of the first"));
    stage.action("new_chat")->trigger();
    QCOMPARE(stage.input().toPlainText(), QStringLiteral("draft of the new"));
    // Sent, it is nobody's draft any more: the next new chat begins empty.
    QTest::keyClick(&stage.input(), Qt::Key_Return);
    QVERIFY(stage.idle());
    stage.action("new_chat")->trigger();
    QCOMPARE(stage.input().toPlainText(), QString());
}

void TestWindowChats::aSearchLeadsToTheMessage() {
    Stage stage;
    stage.type(QStringLiteral("about a needle"));
    QVERIFY(stage.idle());
    const qint64 first = stage.window.chat().id();
    stage.window.pane().edit(0);
    stage.input().selectAll();
    stage.type(QStringLiteral("about hay"));   // the needle is on another branch now
    QVERIFY(stage.idle());
    stage.action("new_chat")->trigger();
    QTest::keyClick(&stage.window, Qt::Key_K, Qt::ControlModifier);
    QVERIFY(stage.window.chatList().searchLine().hasFocus());
    QTest::keyClicks(&stage.window.chatList().searchLine(), QStringLiteral("needle"));
    QSignalSpy found(&stage.store, &Store::found);
    QVERIFY(found.wait());
    QCOMPARE(shownChats(stage), 1);
    QTest::keyClick(&stage.window.chatList().searchLine(), Qt::Key_Down);
    QTest::keyClick(&stage.window.chatList().tree(), Qt::Key_Return);
    QTRY_COMPARE(stage.window.chat().id(), first);
    QTRY_COMPARE(stage.text(0), QStringLiteral("about a needle"));
}

void TestWindowChats::repliesAreRated() {
    Stage stage;
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    QVERIFY(stage.messages().setData(stage.messages().index(1), 1, ConversationModel::RatingRole));
    QSignalSpy loaded(&stage.store, &Store::loaded);
    stage.store.load(stage.window.chat().id());
    QVERIFY(loaded.wait());
    QCOMPARE(loaded[0][1].value<QList<MessageRecord>>()[1].rating, 1);
}

void TestWindowChats::whatIsNoLongerSeenIsDivided() {
    Stage stage;
    stage.type(QStringLiteral("one"));
    QVERIFY(stage.idle());
    stage.script->left_out = 2;
    stage.type(QStringLiteral("two"));
    QVERIFY(stage.idle());
    QVERIFY(stage.messages().index(1).data(ConversationModel::OutsideRole).toBool());
    QVERIFY(!stage.messages().index(2).data(ConversationModel::OutsideRole).toBool());
}

/// What is on the screen while a reply streams is what painting all of it anew gives.
void TestWindowChats::onlyWhatChangedIsPainted() {
    Stage stage;
    stage.window.resize(900, 600);
    ConversationModel messages;
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    stage.view().setModel(&messages);
    messages.addUserMessage(QStringLiteral("Write"));
    messages.beginReply(QStringLiteral("Fake"));
    QCoreApplication::processEvents();
    QString text;
    for (int i = 0; i < 40; ++i)
        text += QStringLiteral("Paragraph %1 with *words*.\n\n```cpp\nint x = %1;\n```\n\n- one\n- two\n\n").arg(i);
    // The view alone: figures around it have timers of their own.
    const QRect shown(stage.view().mapTo(&stage.window, QPoint()), stage.view().size());
    const auto onScreen = [&stage, shown] {
        return stage.window.screen()
            ->grabWindow(stage.window.winId(), shown.x(), shown.y(), shown.width(), shown.height())
            .toImage();
    };
    // A frame may ask for another, to follow the end, and the platform delivers them some milliseconds apart.
    const auto settle = [] { QTest::qWait(50); };
    int compared = 0;
    for (qsizetype at = 0; at < text.size(); at += 17) {
        messages.append({{Channel::Answer, text.mid(at, 17)}}, 1);
        QCoreApplication::processEvents();
        if (at / 17 % 9 != 0) continue;
        settle();
        const QImage streamed = onScreen();
        QCOMPARE(streamed.size(), shown.size() * streamed.devicePixelRatio());
        stage.view().viewport()->update();
        settle();
        QVERIFY2(streamed == onScreen(), qPrintable(QString::number(at)));
        ++compared;
    }
    QVERIFY(compared > 10);
    QVERIFY(stage.view().verticalScrollBar()->value() > 1000);
    stage.view().setModel(&stage.messages());
}

QTEST_MAIN(TestWindowChats)
#include "test_window_chats.moc"
