#include <QPushButton>
#include <QSettings>
#include <QtTest>

#include "tests/ui/fake_machine.h"
#include "tests/ui/own_settings.h"
#include "ui/hardware/hardware_panel.h"

using namespace hearth;
using namespace hearth::ui;

/// Budgets, predictions, the meter and the map.
class TestHardware : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY(settings_.isValid()); }
    void init() { QSettings().clear(); }
    void speedsAreAveraged();
    void aNewReplyBeginsAnew();
    void everyDeviceIsARow();
    void draggingPredictsQuickly();
    void whatDoesNotComputeIsAPlan();
    void orderIsPriority();
    void aModelHasItsOwnChoices();
    void countedStandsBesidePredicted();
    void theMapIsWordsToo();
    void theMeterSaysHowFast();

private:
    hearth::test::OwnSettings settings_;
};

namespace {

const QString card = QStringLiteral("emulated:0");

struct Stage {
    test::FakeMachine machine;
    Settings settings;
    HardwarePanel panel{machine, settings};
    ModelInfo model;

    Stage() {
        model.path = QStringLiteral("/models/one.gguf");
        model.name = QStringLiteral("one");
        panel.resize(500, 900);
        panel.show();
        panel.setModel(&model);
        panel.refreshDevices();
        (void)QTest::qWaitFor([this] { return !panel.rows().isEmpty(); });
        (void)settled();
    }
    bool settled() {
        return QTest::qWaitFor([this] { return !panel.predictor().busy(); }, 10000);
    }
    DeviceRow* row(const QString& name) {
        for (DeviceRow* one : panel.rows())
            if (one->facts().name == name) return one;
        return nullptr;
    }
    QStringList order() {
        QStringList names;
        for (DeviceRow* one : panel.rows()) names << one->facts().name;
        return names;
    }
    QString words(const QString& name) { return row(name)->findChild<QLabel*>(QStringLiteral("state"))->text(); }
    template <typename T>
    T* part(const char* name) {
        return panel.findChild<T*>(QLatin1StringView(name));
    }
};

}  // namespace

void TestHardware::speedsAreAveraged() {
    SpeedHistory history;
    // Ten tokens a second for four seconds, twenty for two.
    for (int i = 0; i <= 16; ++i) history.push(i * 0.25, static_cast<unsigned>(1 + i * 10 / 4));
    QVERIFY2(std::abs(history.now() - 10) < 1.5, qPrintable(QString::number(history.now())));
    for (int i = 1; i <= 8; ++i) history.push(4 + i * 0.25, static_cast<unsigned>(41 + i * 5));
    QVERIFY2(std::abs(history.now() - 20) < 0.01, qPrintable(QString::number(history.now())));
    QVERIFY2(std::abs(history.peak() - 20) < 0.01, qPrintable(QString::number(history.peak())));
    QVERIFY2(std::abs(history.average() - 80.0 / 6) < 0.01, qPrintable(QString::number(history.average())));
    QCOMPARE(history.size(), size_t{24});
    // More often than a bar wants to know changes nothing.
    history.push(6.01, 90);
    QCOMPARE(history.size(), size_t{24});
    for (int i = 1; i < 600; ++i) history.push(7 + i, static_cast<unsigned>(90 + i));
    QCOMPARE(history.size(), SpeedHistory::capacity);
    QVERIFY(std::abs(history.at(0) - 1) < 0.01);
}

void TestHardware::aNewReplyBeginsAnew() {
    SpeedHistory history;
    for (int i = 0; i <= 8; ++i) history.push(i * 0.25, static_cast<unsigned>(1 + i * 5));
    const double average = history.average();
    // A minute of silence is not a minute of slowness.
    history.push(60, 1);
    QCOMPARE(history.average(), average);
    QCOMPARE(history.now(), 0.0);
    history.push(60.25, 6);
    QVERIFY(std::abs(history.now() - 20) < 0.01);
}

void TestHardware::everyDeviceIsARow() {
    Stage stage;
    QCOMPARE(stage.order(),
             (QStringList{card, QStringLiteral("emulated:1"), QStringLiteral("cuda:0"), QStringLiteral("cpu")}));
    QVERIFY(stage.words(QStringLiteral("cuda:0")).contains(QStringLiteral("its driver is too old")));
    QVERIFY(stage.row(QStringLiteral("cuda:0"))->slider() == nullptr);
    QCOMPARE(stage.row(card)->slider()->maximum(), 96);   // 6 GiB in steps of 64 MiB
    QVERIFY(stage.row(QStringLiteral("cpu"))->slider() != nullptr);
    for (auto* control : stage.panel.findChildren<QWidget*>())
        if ((control->focusPolicy() & Qt::TabFocus) != 0 && control->isVisible() && control->inherits("QSlider"))
            QVERIFY(!control->accessibleName().isEmpty());
}

void TestHardware::draggingPredictsQuickly() {
    Stage stage;
    QSlider* const slider = stage.row(card)->slider();
    stage.machine.quick = 0;
    slider->setSliderDown(true);
    for (int value = 90; value >= 32; --value) slider->setValue(value);
    QVERIFY(stage.settled());
    QVERIFY(stage.machine.quick > 0);
    // Nothing is kept before it is let go.
    QVERIFY(!stage.settings.placement({}));
    QCOMPARE(stage.machine.lastAsked().budgets.value(card), quint64{2} << 30);
    QVERIFY2(stage.panel.predictionText().contains(QStringLiteral("30 tokens/s")),
             qPrintable(stage.panel.predictionText()));
    slider->setSliderDown(false);
    QVERIFY(stage.settled());
    QCOMPARE(stage.settings.placement({})->budgets.value(card), quint64{2} << 30);
    QVERIFY(stage.row(card)->bar()->words().contains(QStringLiteral("2.00 GiB")));
    QVERIFY(stage.part<QPushButton>("reload")->isVisible());
    // What is free, again.
    QTest::mouseClick(stage.row(card)->findChild<QCheckBox*>(QStringLiteral("automatic")), Qt::LeftButton);
    QVERIFY(stage.settled());
    QVERIFY(!stage.settings.placement({})->budgets.contains(card));
}

void TestHardware::whatDoesNotComputeIsAPlan() {
    Stage stage;
    QVERIFY(stage.words(card).contains(QStringLiteral("A plan only")));
    QVERIFY2(stage.panel.predictionText().contains(QStringLiteral("Today Hearth computes on the processor alone")),
             qPrintable(stage.panel.predictionText()));
    QVERIFY(stage.panel.predictionText().contains(QStringLiteral("about 10 tokens/s")));
    QTest::mouseClick(stage.row(card)->findChild<QCheckBox*>(), Qt::LeftButton, {}, QPoint(8, 8));
    QVERIFY(stage.settled());
    QCOMPARE(stage.settings.placement({})->unused, QStringList{card});
    QVERIFY(!stage.panel.predictionText().contains(QStringLiteral("This is a plan")));
}

void TestHardware::orderIsPriority() {
    Stage stage;
    QList<QToolButton*> arrows = stage.row(card)->findChildren<QToolButton*>();
    QVERIFY(!arrows[0]->isEnabled());
    QTest::mouseClick(arrows[1], Qt::LeftButton);
    QVERIFY(stage.settled());
    QCOMPARE(stage.order().first(), QStringLiteral("emulated:1"));
    QCOMPARE(stage.settings.placement({})->order, (QStringList{QStringLiteral("emulated:1"), card}));
    Stage next;
    QCOMPARE(next.order().first(), QStringLiteral("emulated:1"));
}

void TestHardware::aModelHasItsOwnChoices() {
    Stage stage;
    auto* scope = stage.part<QComboBox>("scope");
    QCOMPARE(scope->count(), 2);
    scope->setCurrentIndex(1);
    Q_EMIT scope->activated(1);
    stage.part<QSpinBox>("ctx")->setValue(2048);
    QVERIFY(stage.settled());
    QCOMPARE(stage.settings.placement(QStringLiteral("one"))->ctx, 2048U);
    QVERIFY(!stage.settings.placement({}));
    QCOMPARE(HardwarePanel::choicesFor(stage.settings, QStringLiteral("one")).ctx, 2048U);
    QCOMPARE(HardwarePanel::choicesFor(stage.settings, QStringLiteral("two")).ctx, 0U);
    QTest::mouseClick(stage.part<QPushButton>("as_for_all"), Qt::LeftButton);
    QVERIFY(!stage.settings.placement(QStringLiteral("one")));
    QCOMPARE(stage.part<QSpinBox>("ctx")->value(), 0);
}

void TestHardware::countedStandsBesidePredicted() {
    Stage stage;
    QVERIFY(!stage.words(QStringLiteral("cpu")).contains(QStringLiteral("counted")));
    stage.panel.setCounted({{QStringLiteral("cpu"), quint64{3} << 30}});
    QVERIFY2(stage.words(QStringLiteral("cpu")).contains(QStringLiteral("counted 3.00 GiB")),
             qPrintable(stage.words(QStringLiteral("cpu"))));
}

void TestHardware::theMapIsWordsToo() {
    Stage stage;
    QVERIFY2(stage.panel.map().words().startsWith(QStringLiteral("Layers 0 to 3: attention in emulated:0")),
             qPrintable(stage.panel.map().words()));
    stage.row(card)->slider()->setValue(16);   // 1 GiB
    QVERIFY(stage.settled());
    QVERIFY(stage.panel.map().words().contains(QStringLiteral("Layers 1 to 3: attention in main memory")));
    // A quarter of the rows is warm, the others are cool.
    const QImage picture = stage.panel.map().grab().toImage();
    int warm = 0, cool = 0;
    for (int y = 0; y < picture.height(); ++y) {
        const QColor colour = picture.pixelColor(picture.width() / 2, y);
        if (colour.hslSaturation() < 40) continue;
        (colour.hue() < 60 ? warm : cool) += 1;
    }
    QVERIFY2(warm > 5 && cool > 2 * warm && cool < 4 * warm, qPrintable(QStringLiteral("%1 %2").arg(warm).arg(cool)));
    stage.panel.map().setComputed(0.25);
    QVERIFY(stage.panel.map().words().contains(QStringLiteral("25 %")));
}

void TestHardware::theMeterSaysHowFast() {
    Meter meter;
    meter.show();
    Statistics now;
    now.prompt_tokens = 1000;
    now.prompt_done = 200;
    meter.take(now, true);
    QTest::qWait(300);
    now.prompt_done = 600;
    meter.take(now, true);
    QVERIFY2(meter.words().contains(QStringLiteral("Reading 600 of 1,000 tokens")), qPrintable(meter.words()));
    QVERIFY2(meter.words().contains(QStringLiteral("s left")), qPrintable(meter.words()));
    QVERIFY(meter.findChild<QProgressBar*>()->isVisible());
    now.prompt_done = now.prompt_tokens;
    now.tokens = 5;
    now.tokens_per_s = 12.34;
    now.prompt_computed = 800;
    now.prompt_seconds = 4;
    now.neurons = 1000;
    now.neurons_computed = 300;
    meter.take(now, true);
    QVERIFY2(meter.words().contains(QStringLiteral("12.3 tokens/s")), qPrintable(meter.words()));
    QVERIFY2(meter.words().contains(QStringLiteral("800 tokens read at 200 tokens/s")), qPrintable(meter.words()));
    QVERIFY(!meter.findChild<QProgressBar*>()->isVisible());
    QVERIFY(meter.findChild<QLabel*>(QStringLiteral("skipped"))->text().startsWith(QStringLiteral("70.0 %")));
    now.neurons = 0;
    QCOMPARE(Meter::computedShare(now), -1.0);
    meter.reset();
    QVERIFY(!meter.words().contains(QStringLiteral("12.3")));
}

QTEST_MAIN(TestHardware)
#include "test_hardware.moc"
