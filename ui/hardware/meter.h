#pragma once

#include <QElapsedTimer>
#include <QLabel>
#include <QProgressBar>
#include <QWidget>

#include "ui/hardware/speed_history.h"
#include "ui/worker/types.h"

namespace hearth::ui {

/// The graph alone: a bar for each quarter of a second.
class SpeedGraph : public QWidget {
    Q_OBJECT

public:
    explicit SpeedGraph(QWidget* parent = nullptr);
    void show(const SpeedHistory& history);
    QSize sizeHint() const override { return {200, fontMetrics().height() * 4}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    SpeedHistory history_;
};

/// How fast replies are read and written: now, on average, at best; the prompt apart, with its progress.
class Meter : public QWidget {
    Q_OBJECT

public:
    explicit Meter(QWidget* parent = nullptr);

    /// The newest figures; `replying`: something is being read or written.
    void take(const Statistics& now, bool replying);
    /// Another model: its figures are not those of the one before.
    void reset();
    QString words() const;
    /// The part of neurons that was computed, or negative.
    static double computedShare(const Statistics& now);

private:
    void showReading(const Statistics& now);

    SpeedHistory history_;
    QElapsedTimer clock_;
    double reading_since_ = -1;      ///< s
    uint read_before_ = 0;           ///< tokens that were known when the reading began
    QLabel *speed_, *figures_, *reading_, *skipped_;
    QProgressBar* progress_;
    SpeedGraph* graph_;
};

}  // namespace hearth::ui
