#include <QSettings>
#include <QTemporaryDir>
#include <QtTest>
#include <chrono>

#include "tests/support/fixtures.h"
#include "tests/ui/own_settings.h"
#include "ui/main_window.h"
#include "ui/worker/runtime_engine.h"
#include "ui/worker/runtime_machine.h"

using namespace hearth;
using namespace hearth::ui;

/// The window over the real engine.
class TestWindowReal : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void talksAndStops();
    void aBrokenFileIsASentence();
    void theStarterModelAnswers();
    void aBudgetIsDraggedWhileAStoryIsTold();
    void mainMemoryIsCounted();
    void aSmallerBudgetMakesTheContextShorter();

private:
    hearth::test::OwnSettings settings_;
};

namespace {

QString story() { return QString::fromStdString((test::dataFolder() / "models" / "stories260K.gguf").string()); }
QString starter() { return QStringLiteral(HEARTH_SOURCE_DIR "/resources/starter/SmolLM2-135M-Instruct.Q4_1.gguf"); }

struct Stage {
    QTemporaryDir chats;
    RuntimeMachine machine{{}, chats.path().toStdString()};
    Worker worker{std::make_unique<RuntimeEngine>([this](const PlacementChoices& c) { return machine.executing(c); })};
    Store store{chats.filePath(QStringLiteral("chats.db"))};
    Library library{machine, chats.filePath(QStringLiteral("models.json")), {}};
    AppContext context{.worker = worker, .store = store, .machine = machine, .library = library};
    MainWindow window{context};

    Stage() {
        window.show();
        (void)QTest::qWaitForWindowExposed(&window);
    }
    bool idle() {
        return QTest::qWaitFor([this] { return !worker.busy(); }, 120000);
    }
    void type(const QString& text) {
        QTest::keyClicks(&window.pane().input(), text);
        QTest::keyClick(&window.pane().input(), Qt::Key_Return);
    }
    QString text(int row) { return window.chat().messages().index(row).data(ConversationModel::TextRole).toString(); }
};

}  // namespace

void TestWindowReal::initTestCase() { QVERIFY(settings_.isValid()); }

void TestWindowReal::talksAndStops() {
    Stage stage;
    stage.window.openModel(story());
    QVERIFY(stage.idle());
    QVERIFY(stage.worker.model());
    QVERIFY2(stage.worker.model()->device.startsWith(QStringLiteral("cpu, ")),
             qPrintable(stage.worker.model()->device));
    stage.type(QStringLiteral("Once upon a time"));
    QTRY_VERIFY_WITH_TIMEOUT(!stage.text(1).isEmpty() || !stage.worker.busy(), 60000);
    QElapsedTimer clock;
    clock.start();
    if (stage.worker.busy()) {
        QTest::keyClick(&stage.window, Qt::Key_Escape);
        QVERIFY(stage.idle());
        qInfo("stop while the story is told: %lld ms", clock.elapsed());
        QVERIFY2(clock.elapsed() <= 200, qPrintable(QString::number(clock.elapsed())));
    }
    QVERIFY(!stage.text(1).isEmpty());
    QVERIFY(stage.worker.statistics().tokens > 0);
    stage.window.findChild<QAction*>(QStringLiteral("unload"))->trigger();
    QVERIFY(stage.idle());
    QVERIFY(!stage.worker.model());
}

void TestWindowReal::aBrokenFileIsASentence() {
    QFile whole(story());
    QVERIFY(whole.open(QIODevice::ReadOnly));
    const QByteArray bytes = whole.readAll();
    const QList<QPair<QString, QByteArray>> files = {{QStringLiteral("half.gguf"), bytes.left(bytes.size() / 2)},
                                                     {QStringLiteral("empty.gguf"), {}},
                                                     {QStringLiteral("text.gguf"), "just some text"}};
    for (const auto& [name, content] : files) {
        Stage stage;
        const QString path = settings_.filePath(name);
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(content) == content.size());
        file.close();
        stage.window.openModel(path);
        QVERIFY(stage.idle());
        QVERIFY2(stage.window.pane().banner().isVisible(), qPrintable(name));
        QVERIFY2(stage.window.pane().banner().text().contains(name), qPrintable(stage.window.pane().banner().text()));
        QVERIFY(!stage.worker.model());
    }
    Stage stage;
    stage.window.openModel(settings_.filePath(QStringLiteral("missing.gguf")));
    QVERIFY(stage.idle());
    QVERIFY(stage.window.pane().banner().isVisible());
}

void TestWindowReal::theStarterModelAnswers() {
    Stage stage;
    stage.window.openModel(starter());
    QVERIFY(stage.idle());
    QVERIFY2(stage.worker.model(), qPrintable(stage.window.pane().banner().text()));
    stage.type(QStringLiteral("What is the capital of France?"));
    // A stop while the prompt is read, too, once a reply has begun to be asked for.
    QTRY_VERIFY_WITH_TIMEOUT(stage.text(1).size() > 20 || !stage.worker.busy(), 120000);
    QElapsedTimer clock;
    clock.start();
    if (stage.worker.busy()) {
        stage.window.pane().stop();
        QVERIFY(stage.idle());
        qInfo("stop while the starter model answers: %lld ms", clock.elapsed());
        QVERIFY2(clock.elapsed() <= 200, qPrintable(QString::number(clock.elapsed())));
    }
    QVERIFY2(stage.text(1).contains(QStringLiteral("Paris")) || stage.text(1).size() > 10, qPrintable(stage.text(1)));
    stage.type(QStringLiteral("a question that takes a while to read ").repeated(60));
    QTRY_VERIFY_WITH_TIMEOUT(stage.worker.statistics().prompt_tokens > 200, 60000);
    clock.restart();
    stage.window.pane().stop();
    QVERIFY(stage.idle());
    qInfo("stop while a long prompt is read: %lld ms", clock.elapsed());
    QVERIFY2(clock.elapsed() <= 200, qPrintable(QString::number(clock.elapsed())));
}

void TestWindowReal::aBudgetIsDraggedWhileAStoryIsTold() {
    qputenv("HEARTH_DEVICES", "emulated:1G");
    const auto without_devices = qScopeGuard([] { qunsetenv("HEARTH_DEVICES"); });
    const QString name = QStringLiteral("emulated:0");
    Stage stage;
    stage.window.openModel(story());
    QVERIFY(stage.idle());
    const quint64 planned = stage.worker.model()->plan.bytes(name);
    QVERIFY(planned > 0);
    QTest::keyClick(&stage.window, Qt::Key_F9);
    HardwarePanel& panel = stage.window.hardware();
    QTRY_VERIFY_WITH_TIMEOUT(panel.rows().size() >= 2 && !panel.predictor().busy(), 60000);
    DeviceRow* card = panel.rows().first();
    QCOMPARE(card->facts().name, name);
    stage.type(QStringLiteral("Once upon"));
    QTRY_VERIFY_WITH_TIMEOUT(stage.worker.statistics().tokens > 3 || !stage.worker.busy(), 60000);
    card->slider()->setSliderDown(true);
    for (int value = 14; value > 0; --value) {
        card->slider()->setValue(value);
        QTest::qWait(1);
    }
    card->slider()->setValue(0);
    card->slider()->setSliderDown(false);
    QTRY_VERIFY_WITH_TIMEOUT(!panel.predictor().busy(), 60000);
    // Without memory of the card all layers are in main memory, in words too.
    QVERIFY2(panel.map().words().startsWith(QStringLiteral("Layers 0 to 4: attention in main memory")),
             qPrintable(panel.map().words()));
    stage.window.pane().stop();
    QVERIFY(stage.idle());
    QVERIFY(!stage.text(1).isEmpty());
    // What the device's allocator has counted is what was planned when the model was loaded.
    const auto counted = static_cast<double>(stage.worker.statistics().counted.value(name));
    QVERIFY2(std::abs(counted / static_cast<double>(planned) - 1) < 0.05, qPrintable(QString::number(counted)));
    // The smaller budget is kept, and the next loading keeps to it.
    stage.window.openModel(story());
    QVERIFY(stage.idle());
    QCOMPARE(stage.worker.model()->plan.bytes(name), quint64{0});
    QVERIFY2(stage.worker.model()->device.startsWith(QStringLiteral("cpu")), qPrintable(stage.worker.model()->device));
}

/// The system counts what a reply holds of main memory: at least a good part of the weights.
void TestWindowReal::mainMemoryIsCounted() {
    Stage stage;
    stage.window.openModel(starter());
    QVERIFY(stage.idle());
    stage.type(QStringLiteral("Count to three."));
    QTRY_VERIFY_WITH_TIMEOUT(stage.worker.statistics().tokens > 3 || !stage.worker.busy(), 60000);
    stage.window.pane().stop();
    QVERIFY(stage.idle());
    const quint64 counted = stage.worker.statistics().counted.value(QStringLiteral("cpu"));
    QVERIFY2(counted > 20 << 20 && counted < quint64{1} << 30, qPrintable(QString::number(counted)));
}

void TestWindowReal::aSmallerBudgetMakesTheContextShorter() {
    Stage stage;
    PlacementChoices choices;
    choices.budgets[QStringLiteral("cpu")] = quint64{200} << 20;   // weights of 94 MiB, and a part of the cache of 180 MiB
    stage.context.settings.setPlacement({}, choices);
    stage.window.openModel(starter());
    QVERIFY(stage.idle());
    QVERIFY2(stage.worker.model(), qPrintable(stage.window.pane().banner().text()));
    QVERIFY2(stage.worker.model()->context < 8192 && stage.worker.model()->context >= 256,
             qPrintable(QString::number(stage.worker.model()->context)));
    QVERIFY(stage.worker.model()->plan.bytes(QStringLiteral("cpu")) <= choices.budgets[QStringLiteral("cpu")]);
    stage.context.settings.setPlacement({}, std::nullopt);
    stage.window.openModel(starter());
    QVERIFY(stage.idle());
    QCOMPARE(stage.worker.model()->context, 8192U);
}

QTEST_MAIN(TestWindowReal)
#include "test_window_real.moc"
