// The models and the hardware of the main window: what is shown of them, and what is remembered of how they did.
#include "ui/background.h"
#include "ui/main_window.h"
#include "ui/welcome/welcome.h"

namespace hearth::ui {
namespace {

/// Shorter replies say little about a model's speed.
constexpr uint tokens_of_a_figure = 16;

}  // namespace

void MainWindow::makeHardware() {
    hardware_dock_->setObjectName(QStringLiteral("hardware_dock"));
    hardware_dock_->setWidget(hardware_);
    hardware_dock_->setAllowedAreas(Qt::LeftDockWidgetArea | Qt::RightDockWidgetArea);
    addDockWidget(Qt::RightDockWidgetArea, hardware_dock_);
    hardware_dock_->hide();
    // Nothing is looked for or measured before somebody looks.
    connect(hardware_dock_, &QDockWidget::visibilityChanged, this, [this](bool visible) {
        if (!visible) return;
        hardware_->refreshDevices();
        context_.library.wantSpeeds();
        showFigures();
    });
    connect(hardware_, &HardwarePanel::reloadRequested, this, [this] {
        if (const auto& model = context_.worker.model()) openModel(QString(model->path));
    });
    connect(hardware_, &HardwarePanel::choicesChanged, this,
            [this] { context_.library.setChoices(HardwarePanel::choicesFor(context_.settings, {})); });
}

void MainWindow::connectModels() {
    context_.library.setChoices(HardwarePanel::choicesFor(context_.settings, {}));
    connect(models_, &ModelManager::loadRequested, this, &MainWindow::openModel);
    connect(models_, &ModelManager::unloadRequested, this, [this] { context_.worker.unload(); });
    connect(&context_.library, &Library::speedsMeasured, hardware_, &HardwarePanel::predictAgain);
}

void MainWindow::showModels() {
    context_.library.rescan();
    context_.library.wantSpeeds();
    Machine& machine = context_.machine;
    inBackground<quint64>(
        models_,
        [&machine] {
            const QList<DeviceFacts> devices = machine.devices();
            return devices.isEmpty() ? quint64{0} : devices.first().bytes_total;
        },
        [this](const Result<quint64>& result) { models_->setMainMemory(result.value); });
    models_->show();
    models_->raise();
    models_->activateWindow();
    if (const auto& model = context_.worker.model(); model && models_->path().isEmpty()) models_->choose(model->path);
    models_->table().setFocus();
}

void MainWindow::welcome() {
    if (context_.settings.welcomed()) return;
    context_.settings.setWelcomed(true);
    context_.library.rescan();
    auto* welcome = new Welcome(context_.machine, context_.library, context_.starter_model, this);
    connect(welcome, &Welcome::modelChosen, this, &MainWindow::openModel);
    connect(welcome, &Welcome::modelsWanted, this, &MainWindow::showModels);
    connect(welcome, &QDialog::finished, this, [this] { pane_->setFocus(); });
    welcome->show();
}

void MainWindow::showModelState() {
    const auto& model = context_.worker.model();
    hardware_->setModel(model ? &*model : nullptr);
}

/// A reply has ended: what it did is remembered for its model.
void MainWindow::keepFigures(const Outcome& outcome) {
    const auto& model = context_.worker.model();
    const Statistics& now = outcome.statistics;
    if (!model || now.tokens == 0) return;
    if (now.tokens >= tokens_of_a_figure) context_.library.noteSpeed(model->path, now.tokens_per_s);
    const QString cpu = QStringLiteral("cpu");
    if (now.counted.contains(cpu)) context_.library.noteMemory(model->path, now.counted[cpu], model->plan.bytes(cpu));
    hardware_->setCounted(now.counted);
}

}  // namespace hearth::ui
