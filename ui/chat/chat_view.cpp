#include "ui/chat/chat_view.h"

#include <QPainter>
#include <QResizeEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "ui/chat/chat_view_accessible.h"
#include "ui/chat/conversation_model.h"
#include "ui/chat/markdown_blocks.h"

namespace hearth::ui {

ChatView::ChatView(QWidget* parent) : QAbstractScrollArea(parent), newer_(new QToolButton(viewport())) {
    setObjectName(QStringLiteral("chat_view"));
    QAccessible::installFactory(&ChatViewAccessible::factory);   // once is enough, and more does no harm
    setAccessibleName(tr("Conversation"));
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setBackgroundRole(QPalette::Base);
    viewport()->setMouseTracking(true);
    newer_->setObjectName(QStringLiteral("newer_text"));
    newer_->setText(tr("↓ Newer text below"));
    newer_->setCursor(Qt::ArrowCursor);
    newer_->hide();
    connect(newer_, &QToolButton::clicked, this, &ChatView::scrollToEnd);
    restyle();
}

void ChatView::setModel(QAbstractItemModel* model) {
    if (model_) model_->disconnect(this);
    model_ = model;
    if (model_) {
        connect(model_, &QAbstractItemModel::rowsInserted, this,
                [this](const QModelIndex&, int first, int last) { rowsInserted(first, last); });
        connect(model_, &QAbstractItemModel::rowsRemoved, this,
                [this](const QModelIndex&, int first, int last) { rowsRemoved(first, last); });
        connect(model_, &QAbstractItemModel::modelReset, this, &ChatView::reset);
        connect(model_, &QAbstractItemModel::dataChanged, this,
                [this](const QModelIndex& from, const QModelIndex& to) { rowsChanged(from.row(), to.row()); });
    }
    reset();
}

void ChatView::rowsChanged(int first, int last) {
    const Anchor held = anchor();
    const double begin = viewTop(), end = begin + viewport()->height();
    double dirty_from = rows_[static_cast<size_t>(first)].top;
    for (int r = first; r <= last; ++r) {
        Row& row = rows_[static_cast<size_t>(r)];
        const bool in_sight = row.top <= end && row.top + row.item.height() >= begin;
        if (in_sight || following_) {
            const double from = row.item.update(model_->index(r, 0), style_);
            if (first == last) dirty_from += from;
        } else {
            row.item.estimate(model_->index(r, 0), style_);
        }
    }
    relayout(held, dirty_from);
}

void ChatView::setResumable(bool resumable) {
    if (resumable == resumable_) return;
    resumable_ = resumable;
    viewport()->update();
}

void ChatView::scrollToMessage(int row) {
    if (row < 0 || row >= static_cast<int>(rows_.size())) return;
    following_ = false;
    relayout({row, -style_.em()});
}

void ChatView::setIdle(bool idle) {
    if (idle == idle_) return;
    idle_ = idle;
    viewport()->update();
}

void ChatView::reset() {
    rows_.clear();
    anchor_ = cursor_ = {};
    hovered_ = -1;
    following_ = true;
    if (model_ && model_->rowCount() > 0) rowsInserted(0, model_->rowCount() - 1);
    else relayout({});
}

void ChatView::rowsInserted(int first, int last) {
    const Anchor held = anchor();
    for (int r = first; r <= last; ++r) {
        const auto at = rows_.emplace(rows_.begin() + r);
        at->item.estimate(model_->index(r, 0), style_);
    }
    relayout(held);
}

void ChatView::rowsRemoved(int first, int last) {
    Anchor held = anchor();
    rows_.erase(rows_.begin() + first, rows_.begin() + last + 1);
    anchor_ = cursor_ = {};
    hovered_ = -1;
    if (held.row >= first) held = {};
    relayout(held);
}

/// New fonts, colours or width: all is laid out anew where it is seen.
void ChatView::restyle() {
    const Anchor held = anchor();
    style_.font = font();
    style_.palette = palette();
    const double em = style_.em();
    style_.width = std::max(80.0, std::floor(std::min(viewport()->width() - 2 * em, 46 * em)));
    for (size_t r = 0; r < rows_.size(); ++r) {
        rows_[r].item.release();
        rows_[r].item.estimate(model_->index(static_cast<int>(r), 0), style_);
    }
    relayout({held.row, 0});
}

ChatView::Anchor ChatView::anchor() const {
    const int row = rowAt(viewTop());
    return row < 0 ? Anchor{} : Anchor{row, viewTop() - rows_[static_cast<size_t>(row)].top};
}

double ChatView::viewTop() const { return verticalScrollBar()->value(); }
double ChatView::left() const { return std::floor((viewport()->width() - style_.width) / 2); }

/// The message at that height, or the nearest one above; −1 when there is none.
int ChatView::rowAt(double y) const {
    const auto after = std::ranges::upper_bound(rows_, y, {}, &Row::top);
    const auto row = static_cast<int>(after - rows_.begin()) - 1;
    return rows_.empty() ? -1 : std::max(row, 0);
}

void ChatView::stack() {
    double y = std::round(style_.em());
    for (Row& row : rows_) {
        row.top = y;
        y += std::ceil(row.item.height());
    }
    const int page = viewport()->height();
    verticalScrollBar()->setPageStep(page);
    verticalScrollBar()->setSingleStep(static_cast<int>(style_.em() * 2));
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(y) - page));
}

/// True when that changed a height.
bool ChatView::layOutVisible() {
    const double begin = viewTop(), page = viewport()->height();
    bool changed = false;
    for (size_t r = 0; r < rows_.size(); ++r) {
        Row& row = rows_[r];
        const double above = begin - (row.top + row.item.height()), below = row.top - (begin + page);
        if (above <= 0 && below <= 0 && !row.item.laidOut()) {
            const double before = row.item.height();
            row.item.update(model_->index(static_cast<int>(r), 0), style_);
            changed |= row.item.height() != before;
        } else if (std::max(above, below) > 3 * page) {
            row.item.release();
        }
    }
    return changed;
}

void ChatView::relayout(const Anchor& anchor, double dirty_from) {
    if (arranging_) return;
    arranging_ = true;
    const int scrolled_from = verticalScrollBar()->value();
    // Laying out what comes into sight may change heights and so what is in sight; that settles after a few rounds.
    for (int round = 0; round < 8; ++round) {
        stack();
        QScrollBar* bar = verticalScrollBar();
        if (following_) bar->setValue(bar->maximum());
        else if (anchor.row >= 0 && anchor.row < static_cast<int>(rows_.size()))
            bar->setValue(static_cast<int>(rows_[static_cast<size_t>(anchor.row)].top + anchor.offset));
        if (!layOutVisible()) break;
        dirty_from = 0;
    }
    arranging_ = false;
    showNewerButton();
    repaintFrom(dirty_from, scrolled_from);
}

/// What has only moved up or down is moved, not painted again: while a long reply streams most of it stays as it is.
void ChatView::repaintFrom(double dirty_from, int scrolled_from) {
    const int moved = scrolled_from - verticalScrollBar()->value(), page = viewport()->height();
    const int dirty = static_cast<int>(std::floor(dirty_from)) - verticalScrollBar()->value() - 1;
    if (dirty <= 0 || std::abs(moved) >= page || hasFocus() || newer_->isVisible()) return viewport()->update();
    if (moved != 0) viewport()->scroll(0, moved, viewport()->rect());
    viewport()->update(0, dirty, viewport()->width(), page - dirty);
}

void ChatView::showNewerButton() {
    const bool show = !following_ && verticalScrollBar()->value() < verticalScrollBar()->maximum();
    if (show) {
        newer_->adjustSize();
        newer_->move((viewport()->width() - newer_->width()) / 2, viewport()->height() - newer_->height() - 8);
    }
    newer_->setVisible(show);
}

void ChatView::scrollToEnd() {
    following_ = true;
    relayout({});
}

void ChatView::scrollContentsBy(int, int) {
    if (arranging_) return;
    following_ =
        verticalScrollBar()->value() >= verticalScrollBar()->maximum() - QFontMetrics(style_.font).lineSpacing();
    relayout(anchor());
}

void ChatView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    const double em = style_.em();
    const double width = std::max(80.0, std::floor(std::min(viewport()->width() - 2 * em, 46 * em)));
    if (width != style_.width) restyle();
    else relayout(anchor());
}

void ChatView::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange ||
        event->type() == QEvent::StyleChange)
        restyle();
}

MessageItem::Options ChatView::options(int row) const {
    const QModelIndex index = model_->index(row, 0);
    // The last message, and the question that it answers, show what can be done with them without being pointed at.
    const int last = model_->rowCount() - 1;
    const bool outside = index.data(ConversationModel::OutsideRole).toBool();
    const bool outside_above = row > 0 && index.siblingAtRow(row - 1).data(ConversationModel::OutsideRole).toBool();
    return {.last = row >= last - 1,
            .idle = idle_,
            .hovered = row == hovered_,
            .divider = outside_above && !outside,
            .branch = index.data(ConversationModel::BranchRole).toInt(),
            .branches = index.data(ConversationModel::BranchesRole).toInt(),
            .resumable = resumable_ && row == last};
}

bool ChatView::selectionOf(int row, MessageItem::Selection& selection) const {
    const auto& [from, to] = std::minmax(anchor_, cursor_);
    if (from == to || row < from.row || row > to.row) return false;
    constexpr int all = 1 << 30;
    selection.from = row == from.row ? from.in : MessageItem::Place{0, 0};
    selection.to = row == to.row ? to.in : MessageItem::Place{all, all};
    return true;
}

void ChatView::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(event->rect(), style_.palette.base());
    const double top = viewTop(), bottom = top + viewport()->height();
    for (int r = std::max(0, rowAt(top)); r < static_cast<int>(rows_.size()); ++r) {
        const Row& row = rows_[static_cast<size_t>(r)];
        if (row.top > bottom) break;
        MessageItem::Selection selection;
        const bool selected = selectionOf(r, selection);
        const QPointF origin(left(), row.top - top);
        painter.save();
        painter.translate(origin);
        if (model_->index(r, 0).data(ConversationModel::OutsideRole).toBool()) painter.setOpacity(0.55);
        row.item.paint(painter, model_->index(r, 0), style_, options(r), selected ? &selection : nullptr,
                       QRectF(event->rect()).translated(-origin));
        painter.restore();
    }
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(style_.palette.color(QPalette::Highlight));
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

double ChatView::messageTop(int row) const { return rows_.at(static_cast<size_t>(row)).top - viewTop(); }

QRectF ChatView::messageRect(int row) const {
    return {left(), messageTop(row), style_.width, rows_.at(static_cast<size_t>(row)).item.height()};
}

QString ChatView::lastCode() const {
    for (int r = static_cast<int>(rows_.size()) - 1; r >= 0; --r) {
        const auto blocks = splitMarkdown(model_->index(r, 0).data(ConversationModel::TextRole).toString());
        for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
            if (block->code) return block->text;
    }
    return {};
}

}  // namespace hearth::ui
