#include "ui/library/memory_bar.h"

#include <QCoreApplication>
#include <QPainter>
#include <algorithm>

#include "ui/library/library_model.h"

namespace hearth::ui {

QColor partColour(const QString& what, const QColor& base) {
    // Names are translated, so the hue follows from the order in which Prediction::named() knows them.
    static const QStringList order = {
        QCoreApplication::translate("Prediction", "weights"), QCoreApplication::translate("Prediction", "KV cache"),
        QCoreApplication::translate("Prediction", "scratch"), QCoreApplication::translate("Prediction", "driver"),
        QCoreApplication::translate("Prediction", "copies by neuron")};
    constexpr int hues[] = {24, 205, 140, 285, 50};
    const qsizetype at = std::max<qsizetype>(0, order.indexOf(what));
    const bool dark = base.lightness() < 128;
    return QColor::fromHsl(hues[at], dark ? 120 : 165, dark ? 105 : 165);
}

MemoryBar::MemoryBar(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Memory"));
    setLayoutDirection(Qt::LeftToRight);   // a scale, not a text
}

QSize MemoryBar::sizeHint() const { return {240, fontMetrics().height() * 9 / 5}; }

void MemoryBar::show(const QList<PlannedPart>& parts, quint64 capacity, std::optional<quint64> budget,
                     quint64 counted) {
    parts_ = parts;
    capacity_ = capacity;
    budget_ = budget;
    counted_ = counted;
    QStringList words;
    quint64 sum = 0;
    for (const PlannedPart& part : parts) {
        words << tr("%1 %2").arg(part.what, sizeText(part.bytes));
        sum += part.bytes;
    }
    QString all = tr("Predicted %1 of %2").arg(sizeText(sum), sizeText(capacity));
    if (!words.isEmpty()) all += QStringLiteral(": ") + words.join(QStringLiteral(", "));
    if (budget) all += tr("; at most %1 may be used").arg(sizeText(*budget));
    if (counted > 0) all += tr("; counted %1").arg(sizeText(counted));
    setAccessibleDescription(all);
    setToolTip(all);
    update();
}

void MemoryBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
    const QColor base = palette().base().color(), line = palette().mid().color();
    painter.setPen(line);
    painter.setBrush(base);
    painter.drawRoundedRect(frame, 3, 3);
    if (capacity_ == 0) return;
    quint64 sum = 0;
    for (const PlannedPart& part : parts_) sum += part.bytes;
    const double per_byte = frame.width() / static_cast<double>(std::max(capacity_, sum));
    double x = frame.left();
    painter.setPen(Qt::NoPen);
    for (const PlannedPart& part : parts_) {
        const QRectF piece(x, frame.top() + 1, static_cast<double>(part.bytes) * per_byte, frame.height() - 2);
        painter.setBrush(partColour(part.what, base));
        painter.drawRect(piece);
        const QString label = QStringLiteral("%1 %2").arg(part.what, sizeText(part.bytes));
        if (fontMetrics().horizontalAdvance(label) + 8 <= piece.width()) {
            painter.setPen(palette().text().color());
            painter.drawText(piece, Qt::AlignCenter, label);
            painter.setPen(Qt::NoPen);
        }
        x = piece.right();
    }
    const auto mark = [&](quint64 bytes, Qt::PenStyle style) {
        const double at = std::min(frame.left() + static_cast<double>(bytes) * per_byte, frame.right() - 1);
        painter.setPen(QPen(palette().text().color(), 2, style));
        painter.drawLine(QPointF(at, frame.top()), QPointF(at, frame.bottom()));
    };
    if (budget_ && *budget_ <= std::max(capacity_, sum)) mark(*budget_, Qt::SolidLine);
    if (counted_ > 0) mark(counted_, Qt::DotLine);
}

}  // namespace hearth::ui
