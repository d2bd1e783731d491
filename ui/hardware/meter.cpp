#include "ui/hardware/meter.h"

#include <QLocale>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>

namespace hearth::ui {
namespace {

QString number(double value) { return QLocale().toString(value, 'f', value < 100 ? 1 : 0); }

}  // namespace

SpeedGraph::SpeedGraph(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Generation speed"));
    setLayoutDirection(Qt::LeftToRight);   // time, not a text
}

void SpeedGraph::show(const SpeedHistory& history) {
    history_ = history;
    setAccessibleDescription(tr("now %1, average %2, peak %3 tokens per second")
                                 .arg(number(history.now()), number(history.average()), number(history.peak())));
    update();
}

void SpeedGraph::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().base());
    double most = 1;
    for (size_t i = 0; i < history_.size(); ++i) most = std::max(most, history_.at(i));
    const double step = static_cast<double>(width()) / SpeedHistory::capacity;
    const double scale = (height() - 4) / most;
    const QColor ember(0xd9, 0x77, 0x2b);
    for (size_t i = 0; i < history_.size(); ++i) {
        const double tall = history_.at(i) * scale;
        const double x = width() - static_cast<double>(history_.size() - i) * step;
        painter.fillRect(QRectF(x, height() - tall, std::max(step, 1.0), tall), ember);
    }
    if (history_.average() > 0) {
        const double y = height() - history_.average() * scale;
        painter.setPen(QPen(palette().text().color(), 1, Qt::DotLine));
        painter.drawLine(QPointF(0, y), QPointF(width(), y));
    }
    painter.setPen(palette().mid().color());
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

Meter::Meter(QWidget* parent)
    : QWidget(parent),
      speed_(new QLabel),
      figures_(new QLabel),
      reading_(new QLabel),
      skipped_(new QLabel),
      progress_(new QProgressBar),
      graph_(new SpeedGraph) {
    setObjectName(QStringLiteral("meter"));
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    large.setFeature(QFont::Tag("tnum"), 1);
    speed_->setFont(large);
    speed_->setObjectName(QStringLiteral("speed_now"));
    figures_->setObjectName(QStringLiteral("speed_figures"));
    reading_->setObjectName(QStringLiteral("reading"));
    skipped_->setObjectName(QStringLiteral("skipped"));
    for (QLabel* label : {figures_, reading_, skipped_}) label->setWordWrap(true);
    progress_->setTextVisible(false);
    progress_->setFixedHeight(fontMetrics().height() / 2);
    progress_->setAccessibleName(tr("Prompt that is read"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins({});
    for (QWidget* part : std::initializer_list<QWidget*>{speed_, graph_, figures_, reading_, progress_, skipped_})
        column->addWidget(part);
    clock_.start();
    reset();
}

void Meter::reset() {
    history_ = {};
    reading_since_ = -1;
    graph_->show(history_);
    speed_->setText(tr("– tokens/s"));
    figures_->setText(tr("No reply yet."));
    for (QWidget* part : std::initializer_list<QWidget*>{reading_, progress_, skipped_}) part->hide();
}

void Meter::take(const Statistics& now, bool replying) {
    const double time = static_cast<double>(clock_.elapsed()) / 1000;
    if (replying && now.tokens == 0 && now.prompt_tokens > 0) {
        if (reading_since_ < 0) {
            reading_since_ = time;
            read_before_ = now.prompt_done;
        }
        return showReading(now);
    }
    progress_->hide();
    if (now.tokens == 0) return;
    if (now.prompt_seconds > 0 && now.prompt_computed >= 16) {
        reading_->setText(
            tr("Prompt: %1 tokens read at %2 tokens/s.")
                .arg(QLocale().toString(now.prompt_computed), number(now.prompt_computed / now.prompt_seconds)));
        reading_->show();
    } else {
        reading_->hide();
    }
    reading_since_ = -1;
    if (replying) history_.push(time, now.tokens);
    speed_->setText(tr("%1 tokens/s").arg(number(now.tokens_per_s)));
    figures_->setText(history_.average() > 0
                          ? tr("average %1 · peak %2 · %3 tokens")
                                .arg(number(history_.average()), number(std::max(history_.peak(), history_.average())),
                                     QLocale().toString(now.tokens))
                          : tr("%n tokens", nullptr, static_cast<int>(now.tokens)));
    graph_->show(history_);
    const double computed = computedShare(now);
    skipped_->setVisible(computed >= 0);
    if (computed >= 0)
        skipped_->setText(tr("%1 % of the neurons were zero and were skipped.").arg(number(100 * (1 - computed))));
}

void Meter::showReading(const Statistics& now) {
    const double passed = static_cast<double>(clock_.elapsed()) / 1000 - reading_since_;
    const uint done = now.prompt_done - std::min(now.prompt_done, read_before_);
    QString words =
        tr("Reading %1 of %2 tokens").arg(QLocale().toString(now.prompt_done), QLocale().toString(now.prompt_tokens));
    if (done > 0 && passed > 0.2) {
        const double rate = done / passed;
        words += tr(", %1 tokens/s, about %2 s left")
                     .arg(number(rate), number((now.prompt_tokens - now.prompt_done) / rate));
    }
    speed_->setText(tr("reading …"));
    reading_->setText(words + QLatin1Char('.'));
    reading_->show();
    progress_->setRange(0, static_cast<int>(now.prompt_tokens));
    progress_->setValue(static_cast<int>(now.prompt_done));
    progress_->show();
}

double Meter::computedShare(const Statistics& now) {
    if (now.neurons == 0) return -1;
    return static_cast<double>(now.neurons_computed) / static_cast<double>(now.neurons);
}

QString Meter::words() const { return speed_->text() + u'\n' + figures_->text() + u'\n' + reading_->text(); }

}  // namespace hearth::ui
