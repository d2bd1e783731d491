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

#include "tests/ui/own_settings.h"
#include "tests/ui/stage.h"
#include "ui/main_window.h"

using namespace hearth;
using namespace hearth::ui;
using test::Stage;

/// Messages are written, answered, changed and stopped.
class TestWindow : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void enterSendsAndTheReplyIsRead();
    void shiftEnterBeginsALine();
    void enterBelongsToTheInputMethod();
    void stopTakesThePlaceOfSend();
    void regenerateAndEdit();
    void aSystemPromptGoesFirst();
    void failuresAreRead();
    void withoutAModelTheWindowSaysWhatToDo();
    void droppedFilesAreOpened();
    void thinkingIsFolded();
    void copies();
    void linksAndImagesOpenNothing();

private:
    hearth::test::OwnSettings settings_;
};

void TestWindow::initTestCase() { QVERIFY(settings_.isValid()); }

void TestWindow::enterSendsAndTheReplyIsRead() {
    Stage stage;
    stage.type(QStringLiteral("Hi there"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.text(0), QStringLiteral("Hi there"));
    QCOMPARE(stage.text(1), QStringLiteral("Hello."));
    QVERIFY(stage.input().toPlainText().isEmpty());
    QVERIFY2(stage.label("status_device").contains(QStringLiteral("cpu, none, 1 thread")),
             qPrintable(stage.label("status_device")));
    QCOMPARE(stage.label("status_model"), QStringLiteral("Fake"));
    QVERIFY2(stage.label("status_context").contains(QStringLiteral("11")), qPrintable(stage.label("status_context")));
    QVERIFY2(stage.label("status_speed").contains(QLocale().toString(12.5, 'f', 1)),
             qPrintable(stage.label("status_speed")));
    QTest::keyClick(&stage.input(), Qt::Key_Return);  // nothing written, nothing sent
    QCOMPARE(stage.messages().rowCount(), 2);
}

void TestWindow::shiftEnterBeginsALine() {
    Stage stage;
    QTest::keyClicks(&stage.input(), QStringLiteral("one"));
    const int low = stage.input().height();
    for (int i = 0; i < 4; ++i) QTest::keyClick(&stage.input(), Qt::Key_Return, Qt::ShiftModifier);
    QTest::keyClicks(&stage.input(), QStringLiteral("two"));
    QVERIFY(stage.input().height() > low);
    QCOMPARE(stage.messages().rowCount(), 0);
    QTest::keyClick(&stage.input(), Qt::Key_Return);
    QVERIFY(stage.idle());
    QCOMPARE(stage.text(0), QStringLiteral("one\n\n\n\ntwo"));
    QCOMPARE(stage.input().height(), low);
}

void TestWindow::enterBelongsToTheInputMethod() {
    Stage stage;
    QInputMethodEvent compose(QStringLiteral("にほ"), {});
    QApplication::sendEvent(&stage.input(), &compose);
    QTest::keyClick(&stage.input(), Qt::Key_Return);
    QCOMPARE(stage.messages().rowCount(), 0);
    QInputMethodEvent commit;
    commit.setCommitString(QStringLiteral("日本"));
    QApplication::sendEvent(&stage.input(), &commit);
    QCOMPARE(stage.messages().rowCount(), 0);
    QTest::keyClick(&stage.input(), Qt::Key_Return);
    QVERIFY(stage.idle());
    QCOMPARE(stage.text(0), QStringLiteral("日本"));
}

void TestWindow::stopTakesThePlaceOfSend() {
    Stage stage;
    QCOMPARE(stage.button()->text(), QStringLiteral("Send"));
    QVERIFY(!stage.button()->isEnabled());
    stage.script->endless = true;
    stage.type(QStringLiteral("Go on"));
    QTRY_COMPARE(stage.text(1), QStringLiteral("Hello."));
    QCOMPARE(stage.button()->text(), QStringLiteral("Stop"));
    stage.type(QStringLiteral("not yet"));  // written meanwhile, kept, not sent
    QCOMPARE(stage.input().toPlainText(), QStringLiteral("not yet"));
    QElapsedTimer clock;
    clock.start();
    QTest::mouseClick(stage.button(), Qt::LeftButton);
    QVERIFY(stage.idle());
    QVERIFY2(clock.elapsed() <= 200, qPrintable(QString::number(clock.elapsed())));
    QCOMPARE(stage.button()->text(), QStringLiteral("Send"));
    QCOMPARE(stage.messages().lastState(), ConversationModel::State::Stopped);
    QCOMPARE(stage.text(1), QStringLiteral("Hello."));
    QTest::keyClick(&stage.input(), Qt::Key_Return);  // and by key
    QTRY_COMPARE(stage.script->replies.load(), 2);
    QTest::keyClick(&stage.window, Qt::Key_Escape);
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().rowCount(), 4);
}

void TestWindow::regenerateAndEdit() {
    Stage stage;
    const QAbstractItemModelTester tester(&stage.messages(), QAbstractItemModelTester::FailureReportingMode::QtTest);
    stage.type(QStringLiteral("first"));
    QVERIFY(stage.idle());
    stage.script->pieces = test::piecesOf(QStringLiteral("Another."));
    stage.action("regenerate")->trigger();
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.text(1), QStringLiteral("Another."));
    QTest::keyClick(&stage.input(), Qt::Key_Up);
    QCOMPARE(stage.input().toPlainText(), QStringLiteral("first"));
    QTest::keyClick(&stage.window, Qt::Key_Escape);
    QVERIFY(stage.input().toPlainText().isEmpty());
    QCOMPARE(stage.text(0), QStringLiteral("first"));
    stage.action("edit_last")->trigger();
    stage.input().selectAll();
    stage.type(QStringLiteral("second"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().rowCount(), 2);
    QCOMPARE(stage.text(0), QStringLiteral("second"));
    const QList<ChatMessage> asked = stage.script->lastAsked();
    QCOMPARE(asked.size(), 1);
    QCOMPARE(asked[0].text, QStringLiteral("second"));
}

void TestWindow::aSystemPromptGoesFirst() {
    Stage stage;
    stage.action("chat_settings")->trigger();
    auto* dialog = stage.window.findChild<QDialog*>(QStringLiteral("chat_settings_dialog"));
    QVERIFY(dialog);
    QTest::keyClicks(dialog->findChild<QPlainTextEdit*>(), QStringLiteral("Be brief."));
    dialog->accept();
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    const QList<ChatMessage> asked = stage.script->lastAsked();
    QCOMPARE(asked.size(), 2);
    QVERIFY(asked[0].role == Role::System && asked[1].role == Role::User);
    QCOMPARE(asked[0].text, QStringLiteral("Be brief."));
}

void TestWindow::failuresAreRead() {
    Stage stage;
    stage.script->fails = true;
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().lastState(), ConversationModel::State::Failed);
    const QString note = stage.messages().index(1).data(ConversationModel::NotesRole).toStringList().join(u' ');
    for (const char* words : {"cannot go on", "the memory is full", "Choose a smaller context"})
        QVERIFY2(note.contains(QLatin1StringView(words)), qPrintable(note));
    QCOMPARE(stage.text(1), QStringLiteral("Hello."));  // what had come is kept
    stage.script->fails = false;
    stage.type(QStringLiteral("Again"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.messages().lastState(), ConversationModel::State::Complete);

    stage.script->load_fails = true;
    stage.window.openModel(QStringLiteral("/models/bad.gguf"));
    QVERIFY(stage.idle());
    QVERIFY(stage.window.pane().banner().isVisible());
    const QString sentence = stage.window.pane().banner().text();
    for (const char* words : {"bad.gguf", "the file ends after 12 bytes", "Get it again"})
        QVERIFY2(sentence.contains(QLatin1StringView(words)), qPrintable(sentence));
    QCOMPARE(stage.label("status_model"), QStringLiteral("Fake"));
}

void TestWindow::withoutAModelTheWindowSaysWhatToDo() {
    Stage stage(false);
    const auto* text = stage.window.findChild<QLabel*>(QStringLiteral("empty_text"));
    QVERIFY(text->isVisible());
    QVERIFY2(text->text().contains(QStringLiteral(".gguf")), qPrintable(text->text()));
    QTest::keyClicks(&stage.input(), QStringLiteral("Hi"));
    QVERIFY(!stage.button()->isEnabled());
    for (auto* button : stage.window.pane().findChildren<QPushButton*>())
        if (button->isVisible() && button->text().startsWith(QStringLiteral("Choose a model")))
            QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(stage.window.models().isVisible());
    stage.window.models().reject();
    stage.action("open_model")->trigger();
    auto* dialog = stage.window.findChild<QFileDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    dialog->reject();
}

void TestWindow::droppedFilesAreOpened() {
    Stage stage(false);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(QStringLiteral("/models/dropped.gguf"))});
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&stage.window, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&stage.window, &drop);
    QVERIFY(stage.idle());
    QVERIFY(stage.worker.model());
    QCOMPARE(stage.worker.model()->path, QStringLiteral("/models/dropped.gguf"));
    // Other files are attached to the next message.
    const QString path = settings_.filePath(QStringLiteral("notes.txt"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("three ``` ticks") > 0);
    file.close();
    QMimeData other;
    other.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter_text(QPoint(50, 50), Qt::CopyAction, &other, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&stage.window, &enter_text);
    QVERIFY(enter_text.isAccepted());
    QDropEvent text(QPointF(50, 50), Qt::CopyAction, &other, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&stage.window, &text);
    QTRY_COMPARE(stage.window.pane().attachments(), 1);
    stage.type(QStringLiteral("Look"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.script->lastAsked()[0].text, QStringLiteral("Look\n\nnotes.txt:\n````\nthree ``` ticks\n````"));
    QCOMPARE(stage.window.pane().attachments(), 0);
    stage.window.openFiles({settings_.filePath(QStringLiteral("missing.txt"))});
    QTRY_VERIFY(stage.window.pane().banner().text().contains(QStringLiteral("missing.txt")));
}

void TestWindow::thinkingIsFolded() {
    Stage stage;
    stage.script->pieces = {{Channel::Thinking, QStringLiteral("Let me see.\nLine two.\nLine three.")},
                            {Channel::Answer, QStringLiteral("42")}};
    stage.type(QStringLiteral("What is it?"));
    QVERIFY(stage.idle());
    const QModelIndex reply = stage.messages().index(1);
    QCOMPARE(reply.data(ConversationModel::ThinkingRole).toString(),
             QStringLiteral("Let me see.\nLine two.\nLine three."));
    QCOMPARE(stage.text(1), QStringLiteral("42"));
    QVERIFY(reply.data(ConversationModel::FoldedRole).toBool());
    stage.view().selectAll();
    QVERIFY(!stage.view().selectedText().contains(QStringLiteral("Let me see")));
    // The line that unfolds lies below the name of the one who answers.
    const double em = QFontMetricsF(stage.view().font()).height();
    const QPoint line(
        static_cast<int>(
            (stage.view().viewport()->width() - std::min(46 * em, stage.view().viewport()->width() - 2 * em)) / 2 + em),
        static_cast<int>(stage.view().messageTop(1) + em * 1.9));
    QTest::mouseClick(stage.view().viewport(), Qt::LeftButton, Qt::NoModifier, line);
    QVERIFY(!reply.data(ConversationModel::FoldedRole).toBool());
    stage.action("fold_thinking")->trigger();
    QVERIFY(reply.data(ConversationModel::FoldedRole).toBool());
}

void TestWindow::copies() {
    Stage stage;
    stage.script->pieces = test::piecesOf(QStringLiteral("So:\n\n```cpp\nint x = 1;\n```\n\nThat is *all*."));
    stage.type(QStringLiteral("Show me"));
    QVERIFY(stage.idle());
    QClipboard* clipboard = QApplication::clipboard();
    stage.action("copy_code")->trigger();
    QCOMPARE(clipboard->text(), QStringLiteral("int x = 1;"));
    stage.action("copy_answer")->trigger();
    QCOMPARE(clipboard->text(), stage.text(1));
    stage.view().setFocus();
    QTest::keyClick(&stage.view(), Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(&stage.view(), Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(clipboard->text(), QStringLiteral("Show me\n\n") + stage.text(1));  // whole messages: their Markdown
    // A part, by mouse: from the head of the reply to its end.
    QWidget* page = stage.view().viewport();
    const int y = static_cast<int>(stage.view().messageTop(1));
    QTest::mousePress(page, Qt::LeftButton, Qt::NoModifier, QPoint(page->width() / 2, y + 2));
    QTest::mouseMove(page, QPoint(page->width() - 3, page->height() - 3));
    QMouseEvent move(QEvent::MouseMove, QPointF(page->width() - 3, page->height() - 3),
                     page->mapToGlobal(QPointF(page->width() - 3, page->height() - 3)), Qt::LeftButton, Qt::LeftButton,
                     Qt::NoModifier);
    QApplication::sendEvent(page, &move);
    QTest::mouseRelease(page, Qt::LeftButton, Qt::NoModifier, QPoint(page->width() - 3, page->height() - 3));
    QVERIFY(stage.view().hasSelection());
    QVERIFY2(stage.view().selectedText().endsWith(QStringLiteral("That is all.")),
             qPrintable(stage.view().selectedText()));
}

void TestWindow::linksAndImagesOpenNothing() {
    Stage stage;
    stage.script->pieces = test::piecesOf(QStringLiteral(
        "[click me please, this is a very long link text](file:///etc/passwd) ![x](file:///etc/hostname)"));
    stage.type(QStringLiteral("Link?"));
    QVERIFY(stage.idle());
    Q_EMIT stage.view().linkActivated(QStringLiteral("file:///etc/passwd"));
    auto* question = stage.window.findChild<QMessageBox*>();
    QVERIFY(question && question->isVisible());
    QCOMPARE(question->informativeText(), QStringLiteral("file:///etc/passwd"));
    for (const QAbstractButton* button : question->buttons()) QVERIFY(!button->text().contains(QStringLiteral("Open")));
    question->reject();
}

QTEST_MAIN(TestWindow)
#include "test_window.moc"
