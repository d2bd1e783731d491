#include <QAccessible>
#include <QClipboard>
#include <QComboBox>
#include <QInputDialog>
#include <QLocalSocket>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>

#include "engine/base/error.h"
#include "tests/ui/own_settings.h"
#include "tests/ui/stage.h"
#include "ui/exchange/text_file.h"
#include "ui/settings/chat_settings_dialog.h"
#include "ui/settings/settings_dialog.h"
#include "ui/single_instance.h"

using namespace hearth;
using namespace hearth::ui;
using test::Stage;

/// What can be chosen, and that it holds.
class TestWindowSettings : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void choicesReachTheModel();
    void choicesAreReadBack();
    void aModelHasDefaults();
    void presetsAreKeptByName();
    void eachKeySends_data();
    void eachKeySends();
    void preferencesHold();
    void keysAreRebound();
    void longPastesAreAttached();
    void tokensAreCounted();
    void onlyTextIsAttached();
    void aSecondProgramHandsOver();

private:
    hearth::test::OwnSettings settings_;
};

void TestWindowSettings::initTestCase() { QVERIFY(settings_.isValid()); }

void TestWindowSettings::init() { QSettings().clear(); }

void TestWindowSettings::choicesReachTheModel() {
    Stage stage;
    stage.action("chat_settings")->trigger();
    auto* dialog = stage.window.findChild<ChatSettingsDialog*>();
    QVERIFY(dialog && dialog->choices() == ReplyChoices{});
    dialog->findChild<QDoubleSpinBox*>(QStringLiteral("temperature"))->setValue(0.35);
    dialog->findChild<QSpinBox*>(QStringLiteral("top_k"))->setValue(7);
    dialog->findChild<QComboBox*>(QStringLiteral("thinking"))->setCurrentIndex(2);
    dialog->accept();
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    const ReplyChoices asked = stage.script->lastOptions().choices;
    QCOMPARE(asked, (ReplyChoices{.temperature = 0.35, .top_k = 7, .thinking = false}));
    QVERIFY(stage.store.chats().value(stage.window.chat().id()).options.contains(QStringLiteral("0.35")));
}

void TestWindowSettings::choicesAreReadBack() {
    const ReplyChoices all{.temperature = 0.0,
                           .top_p = 0.5,
                           .min_p = 0.01,
                           .repeat_penalty = 1.1,
                           .top_k = 0,
                           .max_tokens = 1LL << 40,
                           .thinking = true};
    QCOMPARE(ReplyChoices::fromJson(all.toJson()), all);
    QVERIFY(ReplyChoices{}.toJson().isEmpty());
    QCOMPARE(ReplyChoices::fromJson(QStringLiteral("{\"top_p\": \"x\", \"top_k\": 3}")), ReplyChoices{.top_k = 3});
    const ReplyChoices own{.top_k = 1}, others{.temperature = 0.5, .top_k = 2};
    QCOMPARE(own.over(others), (ReplyChoices{.temperature = 0.5, .top_k = 1}));
}

void TestWindowSettings::aModelHasDefaults() {
    {
        Stage stage;
        stage.action("chat_settings")->trigger();
        auto* dialog = stage.window.findChild<ChatSettingsDialog*>();
        dialog->findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("Be a poet."));
        dialog->findChild<QDoubleSpinBox*>(QStringLiteral("temperature"))->setValue(1.2);
        dialog->findChild<QCheckBox*>(QStringLiteral("for_model"))->setChecked(true);
        dialog->accept();
    }
    Stage stage;
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.script->lastAsked()[0].text, QStringLiteral("Be a poet."));
    QCOMPARE(stage.script->lastOptions().choices, ReplyChoices{.temperature = 1.2});
}

void TestWindowSettings::presetsAreKeptByName() {
    const auto dialogOf = [](Stage& stage) {
        stage.action("chat_settings")->trigger();
        return stage.window.findChildren<ChatSettingsDialog*>().last();
    };
    const auto part = [](ChatSettingsDialog* dialog, const char* name) {
        return dialog->findChild<QPushButton*>(QLatin1StringView(name));
    };
    {
        Stage stage;
        ChatSettingsDialog* dialog = dialogOf(stage);
        QVERIFY(!part(dialog, "delete_preset")->isEnabled());
        dialog->findChild<QPlainTextEdit*>()->setPlainText(QStringLiteral("Be a poet."));
        dialog->findChild<QDoubleSpinBox*>(QStringLiteral("temperature"))->setValue(1.3);
        QTest::mouseClick(part(dialog, "save_preset"), Qt::LeftButton);
        auto* name = dialog->findChild<QInputDialog*>();
        QVERIFY(name && name->isVisible());
        name->setTextValue(QStringLiteral("Poet / äöü"));
        name->accept();
        dialog->reject();   // a preset is kept, whatever becomes of this chat's settings
    }
    Stage stage;
    ChatSettingsDialog* dialog = dialogOf(stage);
    auto* box = dialog->findChild<QComboBox*>(QStringLiteral("preset"));
    const int at = box->findText(QStringLiteral("Poet / äöü"));
    QVERIFY(at > 0);
    box->setCurrentIndex(at);
    Q_EMIT box->activated(at);
    QCOMPARE(dialog->systemPrompt(), QStringLiteral("Be a poet."));
    QCOMPARE(dialog->choices(), ReplyChoices{.temperature = 1.3});
    QTest::mouseClick(part(dialog, "delete_preset"), Qt::LeftButton);
    QCOMPARE(box->findText(QStringLiteral("Poet / äöü")), -1);
    QVERIFY(Settings().presets().isEmpty());
}

void TestWindowSettings::eachKeySends_data() {
    QTest::addColumn<int>("key");
    QTest::addColumn<Qt::KeyboardModifiers>("sends");
    QTest::addColumn<Qt::KeyboardModifiers>("breaks");
    using M = Qt::KeyboardModifiers;
    QTest::newRow("Enter") << 0 << M(Qt::NoModifier) << M(Qt::ShiftModifier);
    QTest::newRow("Shift+Enter") << 1 << M(Qt::ShiftModifier) << M(Qt::NoModifier);
    QTest::newRow("Ctrl+Enter") << 2 << M(Qt::ControlModifier) << M(Qt::NoModifier);
}

void TestWindowSettings::eachKeySends() {
    QFETCH(int, key);
    QFETCH(Qt::KeyboardModifiers, sends);
    QFETCH(Qt::KeyboardModifiers, breaks);
    Stage stage;
    stage.action("settings")->trigger();
    auto* dialog = stage.window.findChild<SettingsDialog*>();
    dialog->findChild<QComboBox*>(QStringLiteral("send_key"))->setCurrentIndex(key);
    dialog->accept();
    QTest::keyClicks(&stage.input(), QStringLiteral("a"));
    QTest::keyClick(&stage.input(), Qt::Key_Return, breaks);
    QTest::keyClicks(&stage.input(), QStringLiteral("b"));
    QCOMPARE(stage.messages().rowCount(), 0);
    QTest::keyClick(&stage.input(), Qt::Key_Return, sends);
    QVERIFY(stage.idle());
    QCOMPARE(stage.text(0), QStringLiteral("a\nb"));
}

void TestWindowSettings::preferencesHold() {
    Stage stage;
    const double before = stage.view().font().pointSizeF();
    stage.action("settings")->trigger();
    auto* dialog = stage.window.findChild<SettingsDialog*>();
    dialog->findChild<QSpinBox*>(QStringLiteral("zoom"))->setValue(4);
    dialog->findChild<QSpinBox*>(QStringLiteral("threads"))->setValue(3);
    dialog->reject();
    QCOMPARE(stage.view().font().pointSizeF(), before);   // nothing before OK
    stage.action("settings")->trigger();
    dialog = stage.window.findChildren<SettingsDialog*>().last();
    dialog->findChild<QSpinBox*>(QStringLiteral("zoom"))->setValue(4);
    dialog->findChild<QSpinBox*>(QStringLiteral("threads"))->setValue(3);
    dialog->accept();
    QCOMPARE(stage.view().font().pointSizeF(), before + 4);
    QCOMPARE(Settings().threads(), 3U);
    for (const QWidget* widget : dialog->findChildren<QWidget*>())
        if (widget->focusPolicy() != Qt::NoFocus && widget->isVisible())
            QVERIFY2(
                !QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget))->text(QAccessible::Name).isEmpty(),
                qPrintable(widget->objectName()));
}

void TestWindowSettings::keysAreRebound() {
    {
        Stage stage;
        stage.action("settings")->trigger();
        auto* dialog = stage.window.findChild<SettingsDialog*>();
        auto* keys = dialog->findChild<QKeySequenceEdit*>(QStringLiteral("keys_new_chat"));
        auto* clash = dialog->findChild<QLabel*>(QStringLiteral("clash"));
        QVERIFY(clash->text().isEmpty());
        keys->setKeySequence(QKeySequence(Qt::CTRL | Qt::Key_R));
        QVERIFY2(clash->text().contains(QStringLiteral("Regenerate")), qPrintable(clash->text()));
        keys->setKeySequence(QKeySequence(Qt::CTRL | Qt::Key_J));
        QVERIFY(clash->text().isEmpty());
        dialog->accept();
        QCOMPARE(stage.action("new_chat")->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_J));
    }
    Stage stage;   // and after the next start
    QCOMPARE(stage.action("new_chat")->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_J));
    QCOMPARE(stage.action("regenerate")->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_R));
}

void TestWindowSettings::longPastesAreAttached() {
    Stage stage;
    auto* data = new QMimeData;
    data->setText(QStringLiteral("line of a log\n").repeated(3000));
    QApplication::clipboard()->setMimeData(data);
    stage.input().paste();
    QVERIFY(stage.input().toPlainText().isEmpty());
    QCOMPARE(stage.window.pane().attachments(), 1);
    QApplication::clipboard()->setText(QStringLiteral("short"));
    stage.input().paste();
    QCOMPARE(stage.input().toPlainText(), QStringLiteral("short"));
    auto* chip = stage.window.findChild<QPushButton*>(QStringLiteral("attachment"));
    QVERIFY(chip);
    QTest::mouseClick(chip, Qt::LeftButton);
    QCOMPARE(stage.window.pane().attachments(), 0);
}

void TestWindowSettings::tokensAreCounted() {
    Stage stage;
    QTest::keyClicks(&stage.input(), QStringLiteral("twelve chars"));
    QTRY_COMPARE(stage.label("token_count"), QStringLiteral("3 tokens"));   // the fake counts one for four
    stage.window.pane().attach(QStringLiteral("f"), QString(4000, u'x'));
    QTRY_VERIFY2(stage.label("token_count").startsWith(QLocale().toString(1006)),
                 qPrintable(stage.label("token_count")));
    QTest::keyClick(&stage.input(), Qt::Key_Return);
    QVERIFY(stage.idle());
    QTRY_VERIFY(stage.label("token_count").isEmpty());
    QCOMPARE(stage.window.findChild<QProgressBar*>(QStringLiteral("context_bar"))->value(), 11);
}

void TestWindowSettings::onlyTextIsAttached() {
    const auto write = [this](const char* name, const QByteArray& bytes) {
        QFile file(settings_.filePath(QLatin1StringView(name)));
        return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() ? file.fileName() : QString();
    };
    QCOMPARE(readTextFile(write("good.txt",
                                "\xef\xbb\xbfgr\xc3\xbc\xc3\x9f"
                                "e")),
             QStringLiteral("grüße"));
    QCOMPARE(readTextFile(write("empty.txt", {})), QString());
    for (const QString& path :
         {write("latin1.txt",
                "gr\xfc\xdf"
                "e"),
          write("zero.txt", QByteArray("a\0b", 3)), write("large.txt", QByteArray((4 << 20) + 1, 'x')),
          settings_.path(), settings_.filePath(QStringLiteral("missing.txt"))})
        QVERIFY_THROWS_EXCEPTION(Error, (void)readTextFile(path));
}

void TestWindowSettings::aSecondProgramHandsOver() {
    SingleInstance first(settings_.path());
    QVERIFY(!first.handOver({}));
    QSignalSpy called(&first, &SingleInstance::called);
    bool taken = false;
    QThread* second = QThread::create([this, &taken] {
        SingleInstance other(settings_.path());
        taken = other.handOver({QStringLiteral("/models/ä b.gguf"), QStringLiteral("/x.txt")});
    });
    second->start();
    QTRY_VERIFY(second->isFinished());
    delete second;
    QVERIFY(taken);
    QCOMPARE(called.size(), 1);
    QCOMPARE(called[0][0].toStringList(), (QStringList{QStringLiteral("/models/ä b.gguf"), QStringLiteral("/x.txt")}));
    QTemporaryDir other_data;
    SingleInstance elsewhere(other_data.path());
    QVERIFY(!elsewhere.handOver({QStringLiteral("/y.gguf")}));   // other chats, another program
    QCOMPARE(called.size(), 1);
}

QTEST_MAIN(TestWindowSettings)
#include "test_window_settings.moc"
