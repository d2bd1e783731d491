#include <QDockWidget>
#include <QMessageBox>
#include <QSettings>
#include <QSlider>

#include "tests/ui/own_settings.h"
#include "tests/ui/stage.h"
#include "ui/welcome/welcome.h"

using namespace hearth;
using namespace hearth::ui;
using test::Stage;

/// Models and hardware on the real window.
class TestWindowModels : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QVERIFY(settings_.isValid()); }
    void init() { QSettings().clear(); }
    void aModelIsChosenAndLoaded();
    void repliesLeaveTheirFigures();
    void aModelIsThrownAway();
    void whatIsLoadedIsNotThrownAway();
    void theBudgetIsDraggedWhileAReplyStreams();
    void nothingIsMeasuredBeforeSomebodyLooks();
    void aFirstStartIsThreePages();
    void theFirstPagesAreSkipped();
    void ownModelsAreChosenAtTheStart();

private:
    hearth::test::OwnSettings settings_;
};

namespace {

void write(const QString& path) {
    QVERIFY(QDir().mkpath(QFileInfo(path).absolutePath()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write("GGUF"), 4);
}

QString shelve(Stage& stage, const QString& name) {
    const QString path = stage.own_folder.filePath(QStringLiteral("models/") + name);
    write(path);
    stage.library.addFolder(QFileInfo(path).absolutePath());
    (void)QTest::qWaitFor([&] { return !stage.library.busy(); }, 20000);
    return path;
}

}  // namespace

void TestWindowModels::aModelIsChosenAndLoaded() {
    Stage stage(false);
    shelve(stage, QStringLiteral("apple.gguf"));
    const QString path = shelve(stage, QStringLiteral("pear.gguf"));
    QTest::keyClick(&stage.window, Qt::Key_L, Qt::ControlModifier);
    ModelManager& manager = stage.window.models();
    QVERIFY(manager.isVisible());
    QCOMPARE(manager.table().model()->rowCount(), 2);
    QTest::keyClicks(manager.findChild<QLineEdit*>(), QStringLiteral("pea"));
    QCOMPARE(manager.table().model()->rowCount(), 1);
    const QRect row = manager.table().visualRect(manager.table().model()->index(0, 0));
    QTest::mouseClick(manager.table().viewport(), Qt::LeftButton, {}, row.center());
    QCOMPARE(manager.path(), path);
    QVERIFY(manager.findChild<QLabel*>(QStringLiteral("model_facts"))
                ->text()
                .contains(QStringLiteral("llama · Q4_0 · 4 layers")));
    QTRY_VERIFY(
        manager.findChild<QLabel*>(QStringLiteral("model_memory"))->text().contains(QStringLiteral("4.50 GiB")));
    QTest::mouseDClick(manager.table().viewport(), Qt::LeftButton, {}, row.center());
    QVERIFY(stage.idle());
    QCOMPARE(stage.worker.model()->path, path);
    QCOMPARE(manager.findChild<QPushButton*>(QStringLiteral("load_model"))->text(), QStringLiteral("&Unload"));
    QTest::mouseClick(manager.findChild<QPushButton*>(QStringLiteral("load_model")), Qt::LeftButton);
    QVERIFY(stage.idle());
    QVERIFY(!stage.worker.model());
}

void TestWindowModels::repliesLeaveTheirFigures() {
    Stage stage(false);
    const QString path = shelve(stage, QStringLiteral("pear.gguf"));
    stage.window.openModel(path);
    QVERIFY(stage.idle());
    stage.type(QStringLiteral("short"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.library.find(path)->measured_tps, 0.0);   // one token says little
    stage.script->pieces = test::piecesOf(QString(200, u'x'));
    stage.type(QStringLiteral("long"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.library.find(path)->measured_tps, 12.5);
}

void TestWindowModels::aModelIsThrownAway() {
    Stage stage(false);
    qputenv("XDG_DATA_HOME", stage.own_folder.path().toUtf8());
    const QString path = shelve(stage, QStringLiteral("pear.gguf"));
    stage.action("models_action")->trigger();
    stage.window.models().choose(path);
    auto* button = stage.window.models().findChild<QPushButton*>(QStringLiteral("delete_model"));
    QVERIFY(button->isEnabled());
    // No first.
    button->click();
    auto* question = stage.window.models().findChild<QMessageBox*>(QStringLiteral("delete_question"));
    QVERIFY(question && question->informativeText().contains(path));
    question->button(QMessageBox::Cancel)->click();
    QTRY_VERIFY(stage.window.models().findChild<QMessageBox*>(QStringLiteral("delete_question")) == nullptr);
    QVERIFY(QFile::exists(path));
    button->click();
    stage.window.models().findChild<QPushButton*>(QStringLiteral("to_trash"))->click();
    QTRY_VERIFY(!QFile::exists(path));
    QTRY_VERIFY(stage.library.find(path) == nullptr);
    qunsetenv("XDG_DATA_HOME");
}

void TestWindowModels::whatIsLoadedIsNotThrownAway() {
    Stage stage(false);
    const QString path = shelve(stage, QStringLiteral("pear.gguf"));
    stage.window.openModel(path);
    QVERIFY(stage.idle());
    stage.action("models_action")->trigger();
    stage.window.models().choose(path);
    QVERIFY(!stage.window.models().findChild<QPushButton*>(QStringLiteral("delete_model"))->isEnabled());
}

void TestWindowModels::theBudgetIsDraggedWhileAReplyStreams() {
    Stage stage;
    QTest::keyClick(&stage.window, Qt::Key_F9);
    HardwarePanel& panel = stage.window.hardware();
    QTRY_VERIFY(panel.isVisible() && panel.rows().size() == 4);
    stage.script->pieces = test::piecesOf(QString(4000, u'x'));
    stage.script->pause_us = 1000;
    stage.type(QStringLiteral("long"));
    QTRY_VERIFY(stage.worker.statistics().tokens > 10);
    QSlider* const slider = panel.rows().first()->slider();
    slider->setSliderDown(true);
    for (int value = 95; value > 40; --value) {
        slider->setValue(value);
        QTest::qWait(2);
    }
    slider->setSliderDown(false);
    QVERIFY(stage.worker.busy());
    QTRY_VERIFY(panel.meter().words().contains(QStringLiteral("12.5 tokens/s")));
    QVERIFY(stage.idle());
    QCOMPARE(stage.text(1), QString(4000, u'x'));
    QTRY_VERIFY(!panel.predictor().busy());
    QCOMPARE(stage.machine.lastAsked().budgets.value(QStringLiteral("emulated:0")), quint64{41} * 64 << 20);
}

void TestWindowModels::nothingIsMeasuredBeforeSomebodyLooks() {
    Stage stage;
    stage.type(QStringLiteral("hello"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.machine.measurements.load(), 0);
    stage.action("hardware")->trigger();
    QTRY_COMPARE(stage.machine.measurements.load(), 1);
    stage.action("hardware")->trigger();
    stage.action("hardware")->trigger();
    QTest::qWait(50);
    QCOMPARE(stage.machine.measurements.load(), 1);
}

void TestWindowModels::aFirstStartIsThreePages() {
    Stage stage(false);
    stage.context.starter_model = QStringLiteral("/models/starter.gguf");
    stage.window.openModel(stage.context.starter_model);
    stage.window.welcome();
    auto* welcome = stage.window.findChild<Welcome*>();
    QVERIFY(welcome && welcome->isVisible());
    const auto* devices = welcome->findChild<QLabel*>(QStringLiteral("welcome_devices"));
    QTRY_VERIFY(devices->text().contains(QStringLiteral("4 threads")));
    QVERIFY(devices->text().contains(QStringLiteral("its driver is too old")));
    QVERIFY(devices->text().contains(
        QStringLiteral("a card of the test (emulated:0), 6.00 GiB: this version does not compute")));
    for (int page = 0; page < 3; ++page) {
        QCOMPARE(welcome->page(), page);
        QTest::keyClick(welcome, Qt::Key_Return);
    }
    QTRY_VERIFY(stage.window.findChild<Welcome*>() == nullptr);
    // The starter model has been loaded meanwhile, and answers at once.
    QVERIFY(stage.idle());
    QCOMPARE(stage.worker.model()->path, stage.context.starter_model);
    stage.type(QStringLiteral("Hi"));
    QVERIFY(stage.idle());
    QCOMPARE(stage.text(1), QStringLiteral("Hello."));
    // Only once.
    stage.window.welcome();
    QVERIFY(stage.window.findChild<Welcome*>() == nullptr);
}

void TestWindowModels::theFirstPagesAreSkipped() {
    for (int page = 0; page < 3; ++page) {
        QSettings().clear();
        Stage stage(false);
        stage.window.welcome();
        auto* welcome = stage.window.findChild<Welcome*>();
        for (int i = 0; i < page; ++i)
            QTest::mouseClick(welcome->findChild<QPushButton*>(QStringLiteral("next")), Qt::LeftButton);
        QTest::mouseClick(welcome->findChild<QPushButton*>(QStringLiteral("skip")), Qt::LeftButton);
        QTRY_VERIFY(stage.window.findChild<Welcome*>() == nullptr);
        QVERIFY(Settings().welcomed());
    }
}

void TestWindowModels::ownModelsAreChosenAtTheStart() {
    Stage stage(false);
    const QString path = shelve(stage, QStringLiteral("pear.gguf"));
    stage.window.welcome();
    auto* welcome = stage.window.findChild<Welcome*>();
    QVERIFY(welcome->findChild<QLabel*>(QStringLiteral("welcome_found"))
                ->text()
                .contains(QStringLiteral("1 in your folders")));
    welcome->findChild<QRadioButton*>(QStringLiteral("use_own"))->setChecked(true);
    for (int page = 0; page < 3; ++page) QTest::keyClick(welcome, Qt::Key_Return);
    QVERIFY(stage.idle());
    QVERIFY(stage.worker.model());
    QCOMPARE(stage.worker.model()->path, path);
}

QTEST_MAIN(TestWindowModels)
#include "test_window_models.moc"
