#pragma once

#include <QWidget>

#include "ui/worker/machine.h"

namespace hearth::ui {

/// Bytes on one device, drawn on the scale of all that it has: named parts, the limit that was set, and what was counted.
class MemoryBar : public QWidget {
    Q_OBJECT

public:
    explicit MemoryBar(QWidget* parent = nullptr);

    /// `budget`: a mark, or nothing; `counted`: what really is there, or 0 = nobody has counted.
    void show(const QList<PlannedPart>& parts, quint64 capacity, std::optional<quint64> budget = {},
              quint64 counted = 0);
    /// All of it in words, as the screen reader has it.
    QString words() const { return accessibleDescription(); }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {80, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QList<PlannedPart> parts_;
    quint64 capacity_ = 0, counted_ = 0;
    std::optional<quint64> budget_;
};

/// The colour of a part by its name, on a background like `base`.
QColor partColour(const QString& what, const QColor& base);

}  // namespace hearth::ui
