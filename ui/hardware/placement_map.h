#pragma once

#include <QWidget>

#include "ui/worker/machine.h"

namespace hearth::ui {

/// A model as a picture: a row for each layer; in it attention, then the neurons, hottest first, then the cache, each in the
/// colour of the device that it lives on.
class PlacementMap : public QWidget {
    Q_OBJECT

public:
    explicit PlacementMap(QWidget* parent = nullptr);

    void show(const Prediction& prediction);
    /// The share of neurons that the last reply computed, of those that could be skipped; negative = not known.
    void setComputed(double share);
    QString words() const { return accessibleDescription(); }
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Columns {
        QRectF attention, neurons, cache;
    };
    Columns columns(double top, double height) const;
    void paintLayer(QPainter& painter, const PlannedLayer& layer, double top, double height) const;
    void paintLegend(QPainter& painter) const;
    QColor colourOf(const QString& device) const;
    void describe();

    QList<PlannedLayer> layers_;
    QStringList devices_;  ///< in the order of their first layer, the processor first
    double computed_ = -1;
};

}  // namespace hearth::ui
