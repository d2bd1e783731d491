#pragma once

#include <QLineEdit>
#include <QTimer>
#include <QTreeView>
#include <QWidget>

#include "ui/chats/chat_filter.h"
#include "ui/chats/chat_list_model.h"

namespace hearth::ui {

/// The list of chats at the side, with its search.
class ChatListPane : public QWidget {
    Q_OBJECT

public:
    explicit ChatListPane(Store& store, QWidget* parent = nullptr);

    QTreeView& tree() { return *tree_; }
    QLineEdit& searchLine() { return *search_; }
    ChatListModel& chats() { return *model_; }
    /// Marks the chat that is shown beside the list; 0 = none of them.
    void setCurrent(qint64 chat);
    qint64 current() const;

public Q_SLOTS:
    void renameCurrent();
    void removeCurrent();
    void newFolder();

Q_SIGNALS:
    /// `message`: what a search found in it, or 0.
    void chatChosen(qint64 chat, qint64 message);
    void newChatRequested();
    void removeRequested(qint64 chat);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void filter();
    void showMenu(const QPoint& point);
    void choose(const QModelIndex& index);

    Store& store_;
    ChatListModel* model_;
    ChatFilter* filter_;
    QLineEdit* search_;
    QTreeView* tree_;
    QTimer typing_;
    quint64 searching_ = 0;
};

}  // namespace hearth::ui
