#include "ui/hardware/hardware_panel.h"

#include <QFormLayout>
#include <QLocale>
#include <algorithm>

#include "ui/background.h"
#include "ui/library/library_model.h"

namespace hearth::ui {
namespace {

QLabel* heading(const QString& text) {
    auto* label = new QLabel(text);
    QFont bold = label->font();
    bold.setBold(true);
    label->setFont(bold);
    return label;
}

/// Something is planned for a device that nothing executes on.
bool isPlanOnly(const Outlook& outlook) {
    return outlook.planned.graphics_share > 0 && outlook.executed.graphics_share == 0;
}

QString speedWords(double tps) { return QLocale().toString(tps, 'f', tps < 10 ? 1 : 0); }

}  // namespace

HardwarePanel::HardwarePanel(Machine& machine, Settings& settings, QWidget* parent)
    : QScrollArea(parent),
      machine_(machine),
      settings_(settings),
      predictor_(machine),
      meter_(new Meter),
      map_(new PlacementMap),
      devices_(new QVBoxLayout) {
    setObjectName(QStringLiteral("hardware_panel"));
    setWidgetResizable(true);
    setFrameShape(NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->addWidget(heading(tr("Speed")));
    column->addWidget(meter_);
    column->addSpacing(8);
    where_ = heading({});
    column->addWidget(where_);
    column->addWidget(map_);
    prediction_ = new QLabel;
    prediction_->setObjectName(QStringLiteral("prediction"));
    prediction_->setWordWrap(true);
    prediction_->setTextFormat(Qt::PlainText);
    column->addWidget(prediction_);
    reload_ = new QPushButton(tr("&Reload with these choices"));
    reload_->setObjectName(QStringLiteral("reload"));
    connect(reload_, &QPushButton::clicked, this, &HardwarePanel::reloadRequested);
    column->addWidget(reload_, 0, Qt::AlignLeft);
    column->addSpacing(8);
    column->addWidget(heading(tr("Devices")));
    makeScope(*column);
    column->addLayout(devices_);
    makeGeneral(*column);
    column->addStretch();
    setWidget(inside);
    setMinimumWidth(fontMetrics().averageCharWidth() * 56);
    connect(&predictor_, &Predictor::predicted, this, &HardwarePanel::showOutlook);
    setModel(nullptr);
}

void HardwarePanel::makeScope(QVBoxLayout& column) {
    scope_ = new QComboBox;
    scope_->setObjectName(QStringLiteral("scope"));
    scope_->setAccessibleName(tr("What these choices are for"));
    scope_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    global_ = new QPushButton(tr("As for &all models"));
    global_->setObjectName(QStringLiteral("as_for_all"));
    global_->setToolTip(tr("Forgets what was chosen for this model alone."));
    connect(scope_, &QComboBox::activated, this, [this](int index) {
        // A model's own choices begin as those of all.
        if (index == 1 && model_ && !settings_.placement(model_->name))
            settings_.setPlacement(model_->name, choicesFor(settings_, {}));
        showChoices();
        ask(Machine::Exact);
    });
    connect(global_, &QPushButton::clicked, this, [this] {
        if (model_) settings_.setPlacement(model_->name, std::nullopt);
        scope_->setCurrentIndex(0);
        showChoices();
        ask(Machine::Exact);
    });
    auto* row = new QHBoxLayout;
    row->addWidget(scope_, 1);
    row->addWidget(global_);
    column.addLayout(row);
}

void HardwarePanel::makeGeneral(QVBoxLayout& column) {
    ctx_ = new QSpinBox;
    ctx_->setObjectName(QStringLiteral("ctx"));
    ctx_->setRange(0, 1 << 24);
    ctx_->setSingleStep(1024);
    ctx_->setSpecialValueText(tr("the model's, as far as memory goes"));
    ctx_->setSuffix(tr(" tokens"));
    ctx_->setKeyboardTracking(false);
    threads_ = new QSpinBox;
    threads_->setObjectName(QStringLiteral("panel_threads"));
    threads_->setRange(0, 1024);
    threads_->setSpecialValueText(tr("as many as there are fast cores"));
    threads_->setKeyboardTracking(false);
    threads_->setValue(static_cast<int>(settings_.threads()));
    connect(ctx_, &QSpinBox::valueChanged, this, [this] { changed(true); });
    connect(threads_, &QSpinBox::valueChanged, this, [this](int value) {
        settings_.setThreads(static_cast<uint>(value));
        changed(true);
    });
    auto* form = new QFormLayout;
    form->addRow(tr("Conte&xt"), ctx_);
    form->addRow(tr("&Threads"), threads_);
    column.addLayout(form);
}

void HardwarePanel::refreshDevices() {
    Machine& machine = machine_;
    inBackground<QList<DeviceFacts>>(
        this, [&machine] { return machine.devices(); },
        [this](const Result<QList<DeviceFacts>>& result) {
            if (!result.problem.isEmpty()) prediction_->setText(result.problem);
            showDevices(result.value);
        });
}

void HardwarePanel::showDevices(const QList<DeviceFacts>& devices) {
    qDeleteAll(rows_);
    rows_.clear();
    for (const DeviceFacts& facts : devices) {
        auto* row = new DeviceRow(facts);
        connect(row, &DeviceRow::changed, this, &HardwarePanel::changed);
        connect(row, &DeviceRow::moveRequested, this, [this, row](int step) { move(row, step); });
        rows_ << row;
    }
    showChoices();
    ask(Machine::Exact);
}

PlacementChoices HardwarePanel::choicesFor(const Settings& settings, const QString& model) {
    if (!model.isEmpty())
        if (const auto own = settings.placement(model)) return *own;
    return settings.placement({}).value_or(PlacementChoices{});
}

/// Puts what is remembered into the rows.
void HardwarePanel::showChoices() {
    const PlacementChoices now = choicesFor(settings_, forModelOnly() && model_ ? model_->name : QString());
    for (DeviceRow* row : rows_) {
        const QString& name = row->facts().name;
        const auto budget = now.budgets.find(name);
        row->setChoice(!now.unused.contains(name),
                       budget == now.budgets.end() ? std::nullopt : std::optional(budget.value()));
    }
    const QSignalBlocker quiet(ctx_);
    ctx_->setValue(static_cast<int>(now.ctx));
    const auto place = [&now](const DeviceRow* row) {
        const DeviceFacts& facts = row->facts();
        // Cards that can be used, as they were put; those that cannot; the processor.
        if (!facts.graphics) return qsizetype{1 << 20};
        if (!facts.why_not.isEmpty()) return qsizetype{1 << 10};
        const qsizetype at = now.order.indexOf(facts.name);
        return at < 0 ? qsizetype{1 << 9} : at;
    };
    std::ranges::stable_sort(rows_, {}, place);
    arrange();
    global_->setVisible(forModelOnly());
}

void HardwarePanel::arrange() {
    QList<DeviceRow*> movable;
    for (DeviceRow* row : rows_) {
        devices_->removeWidget(row);
        devices_->addWidget(row);
        if (row->facts().graphics && row->facts().why_not.isEmpty()) movable << row;
    }
    for (qsizetype i = 0; i < movable.size(); ++i) movable[i]->allowMoves(i > 0, i + 1 < movable.size());
    // The way of the Tab key is the order on the screen.
    for (qsizetype i = 1; i < rows_.size(); ++i) setTabOrder(rows_[i - 1], rows_[i]);
}

void HardwarePanel::move(DeviceRow* row, int step) {
    const qsizetype at = rows_.indexOf(row), to = at + step;
    if (at < 0 || to < 0 || to >= rows_.size()) return;
    rows_.swapItemsAt(at, to);
    arrange();
    changed(true);
}

PlacementChoices HardwarePanel::choices() const {
    PlacementChoices now;
    now.ctx = static_cast<uint>(ctx_->value());
    for (const DeviceRow* row : rows_) {
        const DeviceFacts& facts = row->facts();
        if (!facts.why_not.isEmpty()) continue;
        if (facts.graphics) now.order << facts.name;
        if (!row->isUsed()) now.unused << facts.name;
        if (const auto budget = row->budget()) now.budgets.insert(facts.name, *budget);
    }
    return now;
}

void HardwarePanel::changed(bool final) {
    if (!final) return ask(Machine::Quick);
    settings_.setPlacement(forModelOnly() && model_ ? model_->name : QString(), choices());
    ask(Machine::Exact);
    Q_EMIT choicesChanged();
}

void HardwarePanel::ask(Machine::Effort effort) {
    if (model_ && !rows_.isEmpty()) predictor_.ask(model_->path, choices(), effort);
    else showOutlook({});
}

void HardwarePanel::predictAgain() { ask(Machine::Exact); }

void HardwarePanel::setModel(const ModelInfo* model) {
    const bool another = (model != nullptr) != model_.has_value() || (model != nullptr && model->path != model_->path);
    model_ = model != nullptr ? std::optional(*model) : std::nullopt;
    if (another) {
        meter_->reset();
        map_->setComputed(-1);
        counted_.clear();
    }
    const QString name = model_ ? model_->name : QString();
    if (model_) {
        loaded_with_ = choicesFor(settings_, name);
        loaded_threads_ = settings_.threads();
    }
    scope_->clear();
    scope_->addItem(tr("For all models"));
    if (model_) scope_->addItem(tr("Only for %1").arg(name));
    scope_->setCurrentIndex(model_ && settings_.placement(name) ? 1 : 0);
    scope_->setEnabled(model_.has_value());
    showChoices();
    ask(Machine::Exact);
}

void HardwarePanel::setCounted(const QMap<QString, quint64>& bytes) {
    if (bytes == counted_) return;
    counted_ = bytes;
    for (DeviceRow* row : rows_) row->showPlan(outlook_.planned, counted_.value(row->facts().name));
}

void HardwarePanel::showOutlook(const Outlook& outlook) {
    outlook_ = outlook;
    for (DeviceRow* row : rows_) row->showPlan(outlook.planned, counted_.value(row->facts().name));
    map_->show(outlook.planned);
    map_->setVisible(!outlook.planned.layers.isEmpty());
    where_->setText(isPlanOnly(outlook) ? tr("Where the model would live") : tr("Where the model lives"));
    prediction_->setText(model_ ? wordsOf(outlook)
                                : tr("Load a model to see where it would live and how fast it would be."));
    reload_->setVisible(
        model_ && !rows_.isEmpty() &&
        (loaded_with_ != choicesFor(settings_, model_->name) || loaded_threads_ != settings_.threads()));
}

QString HardwarePanel::wordsOf(const Outlook& outlook) const {
    const Prediction& p = outlook.planned;
    if (!p.problem.isEmpty()) return p.problem;
    QStringList words{tr("A context of %1 tokens.").arg(QLocale().toString(p.ctx))};
    if (p.decode_tps > 0) words << tr("Would write about %1 tokens/s.").arg(speedWords(p.decode_tps));
    if (p.prefill_tps > 0) words << tr("Would read about %1 tokens/s.").arg(speedWords(p.prefill_tps));
    if (p.tps_per_gib > 0.05)
        words << tr("One more GiB of graphics memory would bring %1 tokens/s.").arg(speedWords(p.tps_per_gib));
    if (!p.limit.isEmpty()) words << tr("The limit is %1.").arg(p.limit);
    // What is planned for devices that nothing executes on is said to be a plan.
    if (isPlanOnly(outlook)) {
        QString truth = tr("This is a plan. Today Hearth computes on the processor alone");
        if (outlook.executed.decode_tps > 0)
            truth += tr(", where it would write about %1 tokens/s").arg(speedWords(outlook.executed.decode_tps));
        words << truth + QLatin1Char('.');
    }
    return words.join(u' ');
}

}  // namespace hearth::ui
