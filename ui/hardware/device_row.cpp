#include "ui/hardware/device_row.h"

#include <QHBoxLayout>
#include <algorithm>

#include "ui/library/library_model.h"

namespace hearth::ui {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;
/// A slider's step: fine enough for the smallest card, coarse enough for the largest memory.
constexpr quint64 step = quint64{64} << 20;
/// Free graphics memory that no plan takes unless it is told to (placement::free_margin).
constexpr quint64 margin = quint64{256} << 20;

}  // namespace

DeviceRow::DeviceRow(const DeviceFacts& facts, QWidget* parent) : QFrame(parent), facts_(facts) {
    setObjectName(QStringLiteral("device_") + (facts.name.isEmpty() ? QStringLiteral("none") : facts.name));
    setFrameShape(QFrame::StyledPanel);
    auto* column = new QVBoxLayout(this);
    makeHead(*column);
    if (facts_.why_not.isEmpty()) {
        makeBudget(*column);
        setChoice(true, std::nullopt);
    }
    state_ = new QLabel;
    state_->setObjectName(QStringLiteral("state"));
    state_->setWordWrap(true);
    column->addWidget(state_);
    if (!facts_.why_not.isEmpty()) {
        QString why = facts_.why_not;
        if (!facts_.name.isEmpty()) why = tr("Not used: %1.").arg(why);
        else why[0] = why[0].toUpper(), why += QLatin1Char('.');
        state_->setText(why);
        state_->setEnabled(false);
    } else {
        state_->hide();
    }
}

void DeviceRow::makeHead(QVBoxLayout& column) {
    if (facts_.name.isEmpty()) return;
    auto* head = new QHBoxLayout;
    const QString name = facts_.graphics ? facts_.name : tr("Processor");
    if (facts_.graphics && facts_.why_not.isEmpty()) {
        used_ = new QCheckBox(name);
        used_->setAccessibleName(tr("Use %1").arg(name));
        used_->setChecked(true);
        connect(used_, &QCheckBox::toggled, this, [this](bool on) {
            for (QWidget* part : std::initializer_list<QWidget*>{slider_, gib_, automatic_, bar_}) part->setEnabled(on);
            Q_EMIT changed(true);
        });
        head->addWidget(used_);
    } else {
        head->addWidget(new QLabel(name));
    }
    head->addStretch();
    if (facts_.graphics && facts_.why_not.isEmpty()) {
        const auto arrow = [&](Qt::ArrowType type, const QString& text, int by) {
            auto* made = new QToolButton;
            made->setArrowType(type);
            made->setAutoRaise(true);
            made->setAccessibleName(text);
            made->setToolTip(text);
            connect(made, &QToolButton::clicked, this, [this, by] { Q_EMIT moveRequested(by); });
            head->addWidget(made);
            return made;
        };
        up_ = arrow(Qt::UpArrow, tr("Use %1 earlier").arg(name), -1);
        down_ = arrow(Qt::DownArrow, tr("Use %1 later").arg(name), 1);
    }
    column.addLayout(head);
    QString words = facts_.graphics ? facts_.description : tr("%n threads", nullptr, static_cast<int>(facts_.threads));
    words = tr("%1 · %2, %3 free").arg(words, sizeText(facts_.bytes_total), sizeText(facts_.bytes_free));
    auto* label = new QLabel(words);
    label->setWordWrap(true);
    label->setForegroundRole(QPalette::PlaceholderText);
    column.addWidget(label);
}

void DeviceRow::makeBudget(QVBoxLayout& column) {
    const QString name = facts_.graphics ? facts_.name : tr("main memory");
    slider_ = new QSlider(Qt::Horizontal);
    slider_->setObjectName(QStringLiteral("budget"));
    slider_->setAccessibleName(tr("Budget of %1").arg(name));
    slider_->setRange(0, static_cast<int>(facts_.bytes_total / step));
    slider_->setPageStep(8);
    gib_ = new QDoubleSpinBox;
    gib_->setObjectName(QStringLiteral("budget_gib"));
    gib_->setAccessibleName(tr("Budget of %1 in GiB").arg(name));
    gib_->setRange(0, static_cast<double>(facts_.bytes_total) / gib);
    gib_->setDecimals(2);
    gib_->setSingleStep(0.25);
    gib_->setSuffix(tr(" GiB"));
    gib_->setKeyboardTracking(false);
    automatic_ = new QCheckBox(tr("auto"));
    automatic_->setObjectName(QStringLiteral("automatic"));
    automatic_->setAccessibleName(tr("Budget of %1: what is free").arg(name));
    automatic_->setToolTip(tr("What is free when a model is loaded."));
    bar_ = new MemoryBar;
    connect(slider_, &QSlider::valueChanged, this, [this](int value) {
        automatic_->setChecked(false);
        setBytes(std::min(static_cast<quint64>(value) * step, facts_.bytes_total));
        Q_EMIT changed(!slider_->isSliderDown());
    });
    connect(slider_, &QSlider::sliderReleased, this, [this] { Q_EMIT changed(true); });
    connect(gib_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        automatic_->setChecked(false);
        setBytes(static_cast<quint64>(value * gib));
        Q_EMIT changed(true);
    });
    connect(automatic_, &QCheckBox::clicked, this, [this](bool on) {
        if (on) setBytes(usualBudget());
        Q_EMIT changed(true);
    });
    auto* row = new QHBoxLayout;
    row->addWidget(slider_, 1);
    row->addWidget(gib_);
    row->addWidget(automatic_);
    column.addLayout(row);
    column.addWidget(bar_);
}

quint64 DeviceRow::usualBudget() const {
    if (!facts_.graphics) return facts_.bytes_free;
    return facts_.bytes_free > margin ? facts_.bytes_free - margin : 0;
}

void DeviceRow::setBytes(quint64 bytes) {
    bytes_ = bytes;
    const QSignalBlocker one(slider_), two(gib_);
    slider_->setValue(static_cast<int>((bytes + step / 2) / step));
    gib_->setValue(static_cast<double>(bytes) / gib);
}

std::optional<quint64> DeviceRow::budget() const {
    if (automatic_ == nullptr || automatic_->isChecked()) return std::nullopt;
    return bytes_;
}

void DeviceRow::setChoice(bool used, std::optional<quint64> budget) {
    if (slider_ == nullptr) return;
    if (used_ != nullptr) {
        const QSignalBlocker quiet(used_);
        used_->setChecked(used);
    }
    for (QWidget* part : std::initializer_list<QWidget*>{slider_, gib_, automatic_, bar_}) part->setEnabled(used);
    automatic_->setChecked(!budget);
    setBytes(std::min(budget.value_or(usualBudget()), facts_.bytes_total));
}

void DeviceRow::showPlan(const Prediction& prediction, quint64 counted) {
    if (bar_ == nullptr) return;
    const quint64 needed = prediction.bytes(facts_.name);
    bar_->show(prediction.named(facts_.name), facts_.bytes_total, bytes_, counted);
    QStringList words;
    if (facts_.graphics && !facts_.computes)
        words << tr("A plan only: this version of Hearth does not compute on it yet.");
    if (facts_.graphics && isUsed() && needed == 0 && !prediction.layers.isEmpty())
        words << tr("The plan leaves it empty.");
    if (counted > 0) words << tr("Predicted %1, counted %2.").arg(sizeText(needed), sizeText(counted));
    if (!facts_.graphics && needed > bytes_ && prediction.problem.isEmpty())
        words << tr("%1 are needed: what does not fit is read from disk again and again.").arg(sizeText(needed));
    state_->setText(words.join(u' '));
    state_->setVisible(!words.isEmpty());
}

void DeviceRow::allowMoves(bool up, bool down) {
    if (up_ == nullptr) return;
    up_->setEnabled(up);
    down_->setEnabled(down);
}

}  // namespace hearth::ui
