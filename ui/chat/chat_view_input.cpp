// How a ChatView answers mouse and keys, and what it copies.
#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QMenu>
#include <QScrollBar>
#include <algorithm>

#include "ui/chat/chat_view.h"
#include "ui/chat/conversation_model.h"

namespace hearth::ui {

QPointF ChatView::inItem(int row, const QPointF& point) const {
    return {point.x() - left(), point.y() + viewTop() - rows_[static_cast<size_t>(row)].top};
}

ChatView::Place ChatView::placeAt(const QPoint& point) const {
    const int row = rowAt(point.y() + viewTop());
    if (row < 0) return {};
    const MessageItem& item = rows_[static_cast<size_t>(row)].item;
    if (!item.laidOut()) return {row, {}};
    // Beside or between texts the nearest one counts; options without buttons, so that those do not hide it.
    const MessageItem::Hit hit = item.hit(inItem(row, point), {});
    return {row, {std::max(0, hit.segment), std::max(0, hit.position)}};
}

void ChatView::copyText(const QString& text, const QString& what) {
    if (text.isEmpty()) return;
    QApplication::clipboard()->setText(text);
    Q_EMIT copied(what);
}

void ChatView::act(int row, const MessageItem::Hit& hit) {
    const QModelIndex index = model_->index(row, 0);
    switch (hit.action) {
        case MessageItem::Action::Copy:
            copyText(index.data(ConversationModel::TextRole).toString(), tr("Message copied"));
            break;
        case MessageItem::Action::CopyCode:
            copyText(rows_[static_cast<size_t>(row)].item.segmentText(hit.segment), tr("Code copied"));
            break;
        case MessageItem::Action::Fold:
            model_->setData(index, !index.data(ConversationModel::FoldedRole).toBool(), ConversationModel::FoldedRole);
            break;
        case MessageItem::Action::SaveCode: {
            const MessageItem& item = rows_[static_cast<size_t>(row)].item;
            Q_EMIT saveCodeRequested(item.segmentText(hit.segment), item.segmentLanguage(hit.segment));
            break;
        }
        case MessageItem::Action::WrapCode: {
            MessageItem& item = rows_[static_cast<size_t>(row)].item;
            const Anchor held = anchor();
            item.toggleWrap(hit.segment);
            item.update(index, style_);
            relayout(held);
            break;
        }
        case MessageItem::Action::Edit: Q_EMIT editRequested(row); break;
        case MessageItem::Action::Regenerate: Q_EMIT regenerateRequested(row); break;
        case MessageItem::Action::Resume: Q_EMIT resumeRequested(); break;
        case MessageItem::Action::Previous: Q_EMIT branchRequested(row, -1); break;
        case MessageItem::Action::Next: Q_EMIT branchRequested(row, 1); break;
        case MessageItem::Action::None: break;
    }
}

/// To the side: code that is not wrapped.
void ChatView::wheelEvent(QWheelEvent* event) {
    const bool sideways = (event->modifiers() & Qt::ShiftModifier) != 0;
    const QPoint turned = event->pixelDelta().isNull() ? event->angleDelta() / 2 : event->pixelDelta();
    const int by = turned.x() != 0 ? turned.x() : sideways ? turned.y() : 0;
    if (by != 0) {
        const int row = rowAt(viewTop() + event->position().y());
        if (row >= 0) {
            MessageItem& item = rows_[static_cast<size_t>(row)].item;
            if (item.scrollCode(item.hit(inItem(row, event->position()), options(row)).segment, -by)) {
                viewport()->update();
                return event->accept();
            }
        }
    }
    QAbstractScrollArea::wheelEvent(event);
}

void ChatView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || rows_.empty()) return;
    pressed_ = event->position().toPoint();
    anchor_ = cursor_ = placeAt(pressed_);
    selecting_ = true;
    viewport()->update();
}

void ChatView::mouseMoveEvent(QMouseEvent* event) {
    if (rows_.empty()) return;
    const QPoint point = event->position().toPoint();
    if (selecting_ && (event->buttons() & Qt::LeftButton)) {
        if (point.y() < 0 || point.y() > viewport()->height()) {
            QScrollBar* bar = verticalScrollBar();
            bar->setValue(bar->value() + (point.y() < 0 ? -bar->singleStep() : bar->singleStep()));
        }
        cursor_ = placeAt(point);
        viewport()->update();
        return;
    }
    const int row = rowAt(point.y() + viewTop());
    if (row != hovered_) {
        hovered_ = row;
        viewport()->update();
    }
    const MessageItem::Hit hit = rows_[static_cast<size_t>(row)].item.hit(inItem(row, event->position()), options(row));
    const bool hand = hit.action != MessageItem::Action::None || !hit.link.isEmpty();
    viewport()->setCursor(hand ? Qt::PointingHandCursor : hit.segment >= 0 ? Qt::IBeamCursor : Qt::ArrowCursor);
    viewport()->setToolTip(hit.link);
}

void ChatView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || rows_.empty()) return;
    selecting_ = false;
    const QPoint point = event->position().toPoint();
    if ((point - pressed_).manhattanLength() >= QApplication::startDragDistance()) return;
    anchor_ = cursor_;
    const int row = rowAt(point.y() + viewTop());
    const MessageItem::Hit hit = rows_[static_cast<size_t>(row)].item.hit(inItem(row, event->position()), options(row));
    if (hit.action != MessageItem::Action::None) act(row, hit);
    else if (!hit.link.isEmpty()) Q_EMIT linkActivated(hit.link);
}

void ChatView::leaveEvent(QEvent* event) {
    QAbstractScrollArea::leaveEvent(event);
    hovered_ = -1;
    viewport()->update();
}

void ChatView::contextMenuEvent(QContextMenuEvent* event) {
    if (rows_.empty()) return;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const int row = rowAt(viewport()->mapFromGlobal(event->globalPos()).y() + viewTop());
    QAction* selection = menu->addAction(tr("&Copy"), this, &ChatView::copy);
    selection->setEnabled(hasSelection());
    menu->addAction(tr("Copy &message"), this, [this, row] { act(row, {.action = MessageItem::Action::Copy}); });
    const QModelIndex index = model_->index(row, 0);
    const bool reply = index.data(ConversationModel::AuthorRole).value<Role>() == Role::Assistant;
    if (reply) {
        const int rating = index.data(ConversationModel::RatingRole).toInt();
        const auto rate = [&](const QString& label, int value) {
            QAction* action = menu->addAction(label, this, [this, row, rating, value] {
                model_->setData(model_->index(row, 0), rating == value ? 0 : value, ConversationModel::RatingRole);
            });
            action->setCheckable(true);
            action->setChecked(rating == value);
        };
        rate(tr("&Good reply"), 1);
        rate(tr("&Bad reply"), -1);
    }
    menu->addSeparator();
    menu->addAction(tr("&Edit"), this, [this, row] { Q_EMIT editRequested(row); })->setEnabled(idle_ && !reply);
    menu->addAction(tr("&Regenerate"), this, [this, row] { Q_EMIT regenerateRequested(row); })->setEnabled(idle_);
    menu->addAction(tr("&Delete from here"), this, [this, row] { Q_EMIT removeRequested(row); })->setEnabled(idle_);
    menu->addSeparator();
    menu->addAction(tr("Select &all"), this, &ChatView::selectAll);
    menu->popup(event->globalPos());
}

void ChatView::selectAll() {
    if (rows_.empty()) return;
    constexpr int all = 1 << 30;
    anchor_ = {0, {0, 0}};
    cursor_ = {static_cast<int>(rows_.size()) - 1, {all, all}};
    viewport()->update();
}

/// Whole messages as their Markdown, parts as the text that is seen.
QString ChatView::selectedText() const {
    QStringList parts;
    for (size_t r = 0; r < rows_.size(); ++r) {
        MessageItem::Selection selection;
        if (!selectionOf(static_cast<int>(r), selection)) continue;
        const QModelIndex index = model_->index(static_cast<int>(r), 0);
        MessageItem& item = rows_[r].item;
        if (item.segments() == 0) item.update(index, style_);
        const bool whole = selection.from == MessageItem::Place{} && selection.to.segment >= item.segments();
        parts << (whole ? index.data(ConversationModel::TextRole).toString() : item.selectedText(selection));
    }
    return parts.join(QStringLiteral("\n\n"));
}

/// The lowest message down to the end of the screen that has branches; −1 = none.
int ChatView::currentRow() const {
    const double bottom = viewTop() + viewport()->height();
    for (int r = rowAt(bottom); r >= 0; --r)
        if (model_->index(r, 0).data(ConversationModel::BranchesRole).toInt() > 1) return r;
    return -1;
}

void ChatView::stepBranch(int step) {
    if (const int row = rows_.empty() ? -1 : currentRow(); row >= 0) Q_EMIT branchRequested(row, step);
}

void ChatView::copy() { copyText(selectedText(), tr("Copied")); }

void ChatView::keyPressEvent(QKeyEvent* event) {
    QScrollBar* bar = verticalScrollBar();
    if (event->matches(QKeySequence::Copy)) return copy();
    if (event->matches(QKeySequence::SelectAll)) return selectAll();
    if (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)
        return stepBranch(event->key() == Qt::Key_Left ? -1 : 1);
    switch (event->key()) {
        case Qt::Key_Home: bar->setValue(0); break;
        case Qt::Key_End: scrollToEnd(); break;
        case Qt::Key_Space:
            bar->triggerAction(event->modifiers() & Qt::ShiftModifier ? QScrollBar::SliderPageStepSub
                                                                      : QScrollBar::SliderPageStepAdd);
            break;
        default: QAbstractScrollArea::keyPressEvent(event);
    }
}

}  // namespace hearth::ui
