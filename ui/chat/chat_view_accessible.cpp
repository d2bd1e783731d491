#include "ui/chat/chat_view_accessible.h"

#include <QPointer>

#include "ui/chat/conversation_model.h"

namespace hearth::ui {
namespace {

class MessageAccessible : public QAccessibleInterface {
public:
    MessageAccessible(ChatView* view, int row) : view_(view), row_(row) {}

    int row() const { return row_; }
    bool isValid() const override { return view_ && row_ < view_->model()->rowCount(); }
    QObject* object() const override { return nullptr; }
    QAccessibleInterface* parent() const override { return QAccessible::queryAccessibleInterface(view_); }
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QAccessible::Role role() const override { return QAccessible::ListItem; }
    void setText(QAccessible::Text, const QString&) override {}

    QAccessible::State state() const override {
        QAccessible::State state;
        state.readOnly = true;
        state.offscreen =
            !rect().intersects(QRect(view_->viewport()->mapToGlobal(QPoint()), view_->viewport()->size()));
        return state;
    }

    QRect rect() const override {
        const QRectF area = view_->messageRect(row_);
        return {view_->viewport()->mapToGlobal(area.topLeft().toPoint()), area.size().toSize()};
    }

    QString text(QAccessible::Text kind) const override {
        if (!isValid()) return {};
        const QModelIndex index = view_->model()->index(row_, 0);
        const QString body = index.data(ConversationModel::TextRole).toString();
        switch (kind) {
            case QAccessible::Name:
                return ChatView::tr("%1, message %2 of %3: %4")
                    .arg(index.data(ConversationModel::NameRole).toString())
                    .arg(row_ + 1)
                    .arg(view_->model()->rowCount())
                    .arg(body);
            case QAccessible::Value: return body;
            case QAccessible::Description: return index.data(ConversationModel::NotesRole).toStringList().join(u' ');
            default: return {};
        }
    }

private:
    QPointer<ChatView> view_;
    int row_;
};

}  // namespace

ChatViewAccessible::ChatViewAccessible(ChatView* view) : QAccessibleWidget(view, QAccessible::List) {}

ChatViewAccessible::~ChatViewAccessible() {
    for (const QAccessible::Id id : std::as_const(children_)) QAccessible::deleteAccessibleInterface(id);
}

QAccessibleInterface* ChatViewAccessible::factory(const QString&, QObject* object) {
    auto* view = qobject_cast<ChatView*>(object);
    return view != nullptr ? new ChatViewAccessible(view) : nullptr;
}

ChatView& ChatViewAccessible::view() const { return *static_cast<ChatView*>(widget()); }

int ChatViewAccessible::childCount() const { return view().model() != nullptr ? view().model()->rowCount() : 0; }

QAccessibleInterface* ChatViewAccessible::child(int index) const {
    if (index < 0 || index >= childCount()) return nullptr;
    if (!children_.contains(index))
        children_[index] = QAccessible::registerAccessibleInterface(new MessageAccessible(&view(), index));
    return QAccessible::accessibleInterface(children_[index]);
}

int ChatViewAccessible::indexOfChild(const QAccessibleInterface* child) const {
    const auto* message = dynamic_cast<const MessageAccessible*>(child);
    return message != nullptr ? message->row() : -1;
}

QAccessibleInterface* ChatViewAccessible::childAt(int x, int y) const {
    for (int i = 0; i < childCount(); ++i)
        if (QAccessibleInterface* message = child(i); message->rect().contains(x, y)) return message;
    return nullptr;
}

}  // namespace hearth::ui
