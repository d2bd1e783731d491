#include <QTemporaryDir>
#include <QtTest>
#include <cstdlib>

#include "engine/base/error.h"
#include "tests/support/fixtures.h"
#include "ui/worker/resident.h"
#include "ui/worker/runtime_engine.h"
#include "ui/worker/runtime_machine.h"

using namespace hearth;
using namespace hearth::ui;

/// What the window learns of real files and devices.
class TestMachine : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() { qunsetenv("HEARTH_DEVICES"); }
    void filesDescribeThemselves_data();
    void filesDescribeThemselves();
    void whatIsNoModelThrows();
    void emulatedDevicesAreRows();
    void onlyWhatComputesIsExecutedOn();
    void aModelLivesWhereThePlanSays();
    void budgetsMoveThePlan();
    void aSwitchedOffDeviceIsNotPlannedFor();
    void aMissingFileIsAProblem();
    void choicesSurviveJson();
    void speedsAreMeasured();
    void memoryIsCounted();

private:
    static QString model(const QString& name) {
        return QString::fromStdString((test::dataFolder() / "models" / name.toStdString()).string());
    }
};

void TestMachine::filesDescribeThemselves_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("architecture");
    QTest::addColumn<QString>("quant");
    QTest::addColumn<int>("sparsity");
    QTest::newRow("stories") << "stories260K.gguf" << "llama" << "F32" << static_cast<int>(ModelFacts::Dense);
    QTest::newRow("bf16") << "llama_bf16.gguf" << "llama" << "BF16" << static_cast<int>(ModelFacts::Dense);
    QTest::newRow("experts") << "olmoe.gguf" << "olmoe" << QString() << static_cast<int>(ModelFacts::Experts);
    QTest::newRow("zeros") << "nemotron.gguf" << "nemotron" << QString() << static_cast<int>(ModelFacts::Zeros);
    QTest::newRow("powerinfer") << "pwri_llama_q4_0.gguf" << "llama" << "Q4_0" << static_cast<int>(ModelFacts::Zeros);
}

void TestMachine::filesDescribeThemselves() {
    QFETCH(QString, file);
    QFETCH(QString, architecture);
    QFETCH(QString, quant);
    QFETCH(int, sparsity);
    RuntimeMachine machine;
    const ModelFacts facts = machine.read(model(file));
    QCOMPARE(facts.architecture, architecture);
    if (!quant.isEmpty()) QCOMPARE(facts.quant, quant);
    QCOMPARE(static_cast<int>(facts.sparsity), sparsity);
    QCOMPARE(facts.bytes, static_cast<quint64>(QFileInfo(model(file)).size()));
    QVERIFY(facts.parameters > 0 && facts.context > 0 && facts.layers > 0);
}

void TestMachine::whatIsNoModelThrows() {
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("no.gguf")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("GGUF, but not really");
    file.close();
    RuntimeMachine machine;
    QVERIFY_THROWS_EXCEPTION(Error, machine.read(file.fileName()));
}

void TestMachine::emulatedDevicesAreRows() {
    qputenv("HEARTH_DEVICES", "emulated:6G,emulated:1500M");
    RuntimeMachine machine;
    const QList<DeviceFacts> devices = machine.devices();
    QCOMPARE(devices.first().name, QStringLiteral("cpu"));
    QVERIFY(devices.first().computes && devices.first().bytes_total > 0 && devices.first().threads > 0);
    QList<DeviceFacts> cards;
    for (const DeviceFacts& one : devices)
        if (one.name.startsWith(QStringLiteral("emulated"))) cards << one;
    QCOMPARE(cards.size(), 2);
    QCOMPARE(cards[0].bytes_total, quint64{6} << 30);
    QCOMPARE(cards[1].bytes_total, quint64{1500} << 20);
    QVERIFY(cards[0].why_not.isEmpty());
    // Why there is no other card is said.
    QVERIFY(std::ranges::any_of(devices, [](const DeviceFacts& one) { return !one.why_not.isEmpty(); }));
}

void TestMachine::onlyWhatComputesIsExecutedOn() {
    qputenv("HEARTH_DEVICES", "emulated:6G");
    RuntimeMachine machine;
    QMap<QString, bool> computes;
    for (const DeviceFacts& one : machine.devices()) computes[one.name] = one.computes;
    const Prediction executed = machine.predict(model(QStringLiteral("llama.gguf")), {}, Machine::Exact, true);
    QVERIFY2(executed.problem.isEmpty(), qPrintable(executed.problem));
    for (const PlannedPart& part : executed.parts) QVERIFY2(computes.value(part.device), qPrintable(part.device));
    const Prediction planned = machine.predict(model(QStringLiteral("llama.gguf")), {}, Machine::Exact, false);
    QVERIFY(planned.bytes(QStringLiteral("emulated:0")) > 0);
    QVERIFY(planned.graphics_share > 0.5);
}

/// The same choices give the prediction, the loaded model and what allocators count; the text does not depend on them.
void TestMachine::aModelLivesWhereThePlanSays() {
    qputenv("HEARTH_DEVICES", "emulated:1G");
    RuntimeMachine machine;
    RuntimeEngine engine([&machine](const PlacementChoices& choices) { return machine.executing(choices); });
    const QString path = model(QStringLiteral("stories260K.gguf")), card = QStringLiteral("emulated:0");
    const auto reply = [&engine] {
        QString text;
        ReplyOptions options;
        options.choices.temperature = 0;
        options.choices.max_tokens = 8;
        const Outcome outcome = engine.reply({{.role = Role::User, .text = QStringLiteral("Once upon")}}, options,
                                             {[&text](const TextPiece& piece) { text += piece.text; }, [](const Statistics&) {}}, {});
        return std::pair(text, outcome);
    };
    LoadOptions options{.ctx = 64};
    const ModelInfo on_card = engine.load(path, options, {});
    QVERIFY2(on_card.device.startsWith(card), qPrintable(on_card.device));
    const quint64 planned = on_card.plan.bytes(card);
    options.placement.ctx = 64;
    QCOMPARE(machine.predict(path, options.placement, Machine::Exact, true).bytes(card), planned);
    const auto [text, outcome] = reply();
    QVERIFY(!text.isEmpty());
    const auto counted = static_cast<double>(outcome.statistics.counted.value(card));
    QVERIFY2(std::abs(counted / static_cast<double>(planned) - 1) < 0.05, qPrintable(QString::number(counted)));

    // A budget of nothing: the processor alone, with the same words.
    options.placement.budgets[card] = 0;
    const ModelInfo on_cpu = engine.load(path, options, {});
    QVERIFY2(on_cpu.device.startsWith(QStringLiteral("cpu")), qPrintable(on_cpu.device));
    QCOMPARE(on_cpu.plan.bytes(card), quint64{0});
    QCOMPARE(reply().first, text);
}

void TestMachine::budgetsMoveThePlan() {
    qputenv("HEARTH_DEVICES", "emulated:1G");
    RuntimeMachine machine;
    const QString device = QStringLiteral("emulated:0"), path = model(QStringLiteral("stories260K.gguf"));
    // Without memory of the card there is nothing on it; bytes never exceed the budget, nor fall when it grows.
    quint64 before = 0;
    for (const quint64 mib : {0, 1, 4, 16, 64, 256}) {
        PlacementChoices choices;
        choices.budgets[device] = mib << 20;
        for (const Machine::Effort effort : {Machine::Quick, Machine::Exact}) {
            const Prediction p = machine.predict(path, choices, effort, false);
            QVERIFY2(p.problem.isEmpty(), qPrintable(p.problem));
            QVERIFY(p.bytes(device) <= mib << 20);
            if (effort == Machine::Quick) continue;
            QVERIFY(p.bytes(device) >= before);
            before = p.bytes(device);
        }
    }
    QVERIFY(before > 0);
    const QString starter = QStringLiteral(HEARTH_SOURCE_DIR "/resources/starter/SmolLM2-135M-Instruct.Q4_1.gguf");
    QElapsedTimer clock;
    clock.start();
    constexpr int times = 20;
    for (int i = 0; i < times; ++i) {
        PlacementChoices choices;
        choices.budgets[device] = quint64{1} << (20 + i / 2);
        QVERIFY(machine.predict(starter, choices, Machine::Quick, false).problem.isEmpty());
    }
    qInfo("a prediction while dragging: %.1f ms", static_cast<double>(clock.elapsed()) / times);
}

void TestMachine::aSwitchedOffDeviceIsNotPlannedFor() {
    qputenv("HEARTH_DEVICES", "emulated:6G,emulated:4G");
    RuntimeMachine machine;
    PlacementChoices choices;
    const QString path = model(QStringLiteral("llama.gguf"));
    choices.order = {QStringLiteral("emulated:1"), QStringLiteral("emulated:0")};
    choices.unused = {QStringLiteral("emulated:1")};
    const Prediction p = machine.predict(path, choices, Machine::Exact, false);
    QCOMPARE(p.bytes(QStringLiteral("emulated:1")), quint64{0});
    QVERIFY(p.bytes(QStringLiteral("emulated:0")) > 0);
    choices.unused << QStringLiteral("emulated:0");
    QCOMPARE(machine.predict(path, choices, Machine::Exact, false).fit, Prediction::Cpu);
    // A budget of a device that is not there any more is no error.
    choices.budgets[QStringLiteral("cuda:7")] = 1;
    QVERIFY(machine.predict(path, choices, Machine::Exact, false).problem.isEmpty());
    // More main memory than it may take: too big.
    choices.budgets[QStringLiteral("cpu")] = 1;
    QCOMPARE(machine.predict(path, choices, Machine::Exact, false).fit, Prediction::TooBig);
}

void TestMachine::aMissingFileIsAProblem() {
    RuntimeMachine machine;
    const Prediction p = machine.predict(QStringLiteral("/nowhere/x.gguf"), {}, Machine::Exact, false);
    QVERIFY(!p.problem.isEmpty());
    QVERIFY(p.layers.isEmpty());
}

void TestMachine::choicesSurviveJson() {
    PlacementChoices choices;
    choices.ctx = 8192;
    choices.budgets = {{QStringLiteral("cpu"), quint64{18} << 30}, {QStringLiteral("cuda:0"), 0}};
    choices.order = {QStringLiteral("cuda:1"), QStringLiteral("cuda:0")};
    choices.unused = {QStringLiteral("cuda:1")};
    QCOMPARE(PlacementChoices::fromJson(choices.toJson()), choices);
    QCOMPARE(PlacementChoices::fromJson(QStringLiteral("[]")), PlacementChoices{});
    QCOMPARE(
        PlacementChoices::fromJson(QStringLiteral("{\"ctx\":-5,\"budgets\":{\"cpu\":-1,\"x\":\"y\"},\"order\":7}")),
        PlacementChoices{});
}

void TestMachine::speedsAreMeasured() {
    QTemporaryDir folder;
    RuntimeMachine machine({}, folder.path().toStdString(), 1);
    const QString path = model(QStringLiteral("stories260K.gguf"));
    QCOMPARE(machine.predict(path, {}, Machine::Exact, true).decode_tps, 0.0);
    machine.measure();
    QVERIFY(machine.devices().first().read_bytes_per_s > 1e8);
    QVERIFY(machine.predict(path, {}, Machine::Exact, true).decode_tps > 0);
}

void TestMachine::memoryIsCounted() {
    const quint64 before = residentBytes();
    QVERIFY(before > 0);
    std::vector<char> taken(64 << 20, 'x');
    QVERIFY(taken[1000] == 'x');
    const quint64 grown = residentBytes() - before;
    QVERIFY2(grown > 60 << 20 && grown < 80 << 20, qPrintable(QString::number(grown)));
}

QTEST_MAIN(TestMachine)
#include "test_machine.moc"
