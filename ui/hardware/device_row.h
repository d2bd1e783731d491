#pragma once

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFrame>
#include <QLabel>
#include <QSlider>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/library/memory_bar.h"

namespace hearth::ui {

/// One device: whether it may be used, how much of it, and what would fill that.
class DeviceRow : public QFrame {
    Q_OBJECT

public:
    explicit DeviceRow(const DeviceFacts& facts, QWidget* parent = nullptr);

    const DeviceFacts& facts() const { return facts_; }
    bool isUsed() const { return used_ == nullptr || used_->isChecked(); }
    /// Nothing = what is free.
    std::optional<quint64> budget() const;
    void setChoice(bool used, std::optional<quint64> budget);
    /// `counted`: bytes that are really there, 0 = not counted.
    void showPlan(const Prediction& prediction, quint64 counted);
    void allowMoves(bool up, bool down);
    MemoryBar* bar() { return bar_; }
    QSlider* slider() { return slider_; }

Q_SIGNALS:
    /// `final`: nothing is being dragged any more.
    void changed(bool final);
    void moveRequested(int step);

private:
    void makeHead(QVBoxLayout& column);
    void makeBudget(QVBoxLayout& column);
    void setBytes(quint64 bytes);
    quint64 usualBudget() const;

    DeviceFacts facts_;
    QCheckBox *used_ = nullptr, *automatic_ = nullptr;
    QSlider* slider_ = nullptr;
    QDoubleSpinBox* gib_ = nullptr;
    MemoryBar* bar_ = nullptr;
    QLabel* state_ = nullptr;
    QToolButton *up_ = nullptr, *down_ = nullptr;
    quint64 bytes_ = 0;
};

}  // namespace hearth::ui
