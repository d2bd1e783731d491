#pragma once

#include <QAccessibleWidget>

#include "ui/chat/chat_view.h"

namespace hearth::ui {

/// What a screen reader sees of a ChatView: a list with one item a message, read out with who wrote it and which it is.
class ChatViewAccessible : public QAccessibleWidget {
public:
    explicit ChatViewAccessible(ChatView* view);
    ~ChatViewAccessible() override;

    /// For QAccessible::installFactory().
    static QAccessibleInterface* factory(const QString& class_name, QObject* object);

    int childCount() const override;
    QAccessibleInterface* child(int index) const override;
    int indexOfChild(const QAccessibleInterface* child) const override;
    QAccessibleInterface* childAt(int x, int y) const override;

private:
    ChatView& view() const;
    mutable QHash<int, QAccessible::Id> children_;
};

}  // namespace hearth::ui
