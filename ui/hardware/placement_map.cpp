#include "ui/hardware/placement_map.h"

#include <QPainter>
#include <algorithm>

namespace hearth::ui {
namespace {

const QString cpu = QStringLiteral("cpu");

QString nameOf(const QString& device) { return device == cpu ? PlacementMap::tr("main memory") : device; }

}  // namespace

PlacementMap::PlacementMap(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("placement_map"));
    setLayoutDirection(Qt::LeftToRight);   // a picture, not a text
    setAccessibleName(tr("Where the model lives"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize PlacementMap::sizeHint() const {
    const int rows = static_cast<int>(layers_.size());
    return {260, rows == 0 ? 0 : std::clamp(rows * 7, 60, 260) + fontMetrics().height() * 3};
}

void PlacementMap::show(const Prediction& prediction) {
    if (layers_ == prediction.layers) return;
    layers_ = prediction.layers;
    devices_ = {cpu};
    for (const PlannedLayer& layer : layers_)
        for (const QString& device : QStringList{layer.attention, layer.cache} + layer.feed_forward.keys())
            if (!device.isEmpty() && !devices_.contains(device)) devices_ << device;
    describe();
    updateGeometry();
    update();
}

void PlacementMap::setComputed(double share) {
    if (share == computed_) return;
    computed_ = share;
    describe();
    update();
}

/// The picture in words: ranges of layers that live alike.
void PlacementMap::describe() {
    QStringList words;
    for (qsizetype first = 0; first < layers_.size();) {
        qsizetype last = first;
        while (last + 1 < layers_.size() && layers_[last + 1] == layers_[first]) ++last;
        const PlannedLayer& layer = layers_[first];
        QStringList neurons;
        for (auto it = layer.feed_forward.begin(); it != layer.feed_forward.end(); ++it)
            neurons << tr("%1 % in %2").arg(qRound(100 * it.value())).arg(nameOf(it.key()));
        words << tr("Layers %1 to %2: attention in %3, neurons %4.")
                     .arg(first)
                     .arg(last)
                     .arg(nameOf(layer.attention), neurons.join(QStringLiteral(", ")));
        first = last + 1;
    }
    if (computed_ >= 0) words << tr("%1 % of the neurons were computed.").arg(qRound(100 * computed_));
    setAccessibleDescription(words.join(u' '));
    setToolTip(words.size() > 8 ? words.mid(0, 8).join(u'\n') + QStringLiteral(" …") : words.join(u'\n'));
}

/// Main memory is the cool cellar; graphics devices are fires of different woods.
QColor PlacementMap::colourOf(const QString& device) const {
    const bool dark = palette().base().color().lightness() < 128;
    if (device == cpu) return QColor::fromHsl(212, dark ? 60 : 75, dark ? 95 : 170);
    constexpr int hues[] = {22, 350, 48, 320};
    const qsizetype at = std::max<qsizetype>(0, devices_.indexOf(device) - 1);
    return QColor::fromHsl(hues[at % 4], 200, dark ? 135 : 140);
}

PlacementMap::Columns PlacementMap::columns(double top, double height) const {
    const double side = std::max(14.0, width() * 0.09), gap = 4;
    return {QRectF(0, top, side, height), QRectF(side + gap, top, width() - 2 * (side + gap), height),
            QRectF(width() - side, top, side, height)};
}

void PlacementMap::paintLayer(QPainter& painter, const PlannedLayer& layer, double top, double height) const {
    const Columns c = columns(top, height);
    painter.fillRect(c.attention, colourOf(layer.attention));
    if (!layer.cache.isEmpty()) painter.fillRect(c.cache, colourOf(layer.cache));
    // Hot neurons are those that moved to a graphics device: they come first.
    QStringList order = layer.feed_forward.keys();
    std::ranges::stable_sort(order, [](const QString& a, const QString& b) { return a != cpu && b == cpu; });
    double x = c.neurons.left();
    for (const QString& device : order) {
        const QRectF piece(x, top, c.neurons.width() * layer.feed_forward[device], height);
        QLinearGradient heat(piece.topLeft(), piece.topRight());
        heat.setColorAt(0, colourOf(device).lighter(device == cpu ? 100 : 118));
        heat.setColorAt(1, colourOf(device).darker(device == cpu ? 118 : 105));
        painter.fillRect(piece, heat);
        x = piece.right();
    }
}

void PlacementMap::paintLegend(QPainter& painter) const {
    const int line = fontMetrics().height();
    const Columns c = columns(0, line);
    painter.setPen(palette().text().color());
    painter.drawText(c.neurons, Qt::AlignLeft | Qt::AlignVCenter, tr("neurons, hottest first"));
    painter.drawText(QRectF(0, 0, width(), line), Qt::AlignRight | Qt::AlignVCenter, tr("cache"));
    double x = 0;
    const double top = height() - line * 1.3;
    for (const QString& device : devices_) {
        const QRectF swatch(x, top + line * 0.2, line * 0.6, line * 0.6);
        painter.fillRect(swatch, colourOf(device));
        const QString name = nameOf(device);
        painter.drawText(QRectF(swatch.right() + 4, top, width(), line), Qt::AlignLeft | Qt::AlignVCenter, name);
        x = swatch.right() + fontMetrics().horizontalAdvance(name) + 16;
    }
    if (computed_ >= 0)
        painter.drawText(QRectF(0, top, width(), line), Qt::AlignRight | Qt::AlignVCenter,
                         tr("%1 % computed").arg(qRound(100 * computed_)));
}

void PlacementMap::paintEvent(QPaintEvent*) {
    if (layers_.isEmpty()) return;
    QPainter painter(this);
    const int line = fontMetrics().height();
    const double top = line * 1.2, room = height() - line * 2.8;
    const double row = room / static_cast<double>(layers_.size()), gap = row > 4 ? 1 : 0;
    for (qsizetype i = 0; i < layers_.size(); ++i)
        paintLayer(painter, layers_[i], top + row * static_cast<double>(i), row - gap);
    paintLegend(painter);
}

}  // namespace hearth::ui
