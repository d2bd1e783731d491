#include "ui/chats/chat_list_pane.h"

#include <QHBoxLayout>
#include <QInputDialog>
#include <QKeyEvent>
#include <QMenu>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

namespace hearth::ui {
namespace {

/// Rows with air, for fingers and eyes.
class RoomyDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        return QStyledItemDelegate::sizeHint(option, index) + QSize(0, option.fontMetrics.height() * 2 / 3);
    }
};

}  // namespace

ChatListPane::ChatListPane(Store& store, QWidget* parent)
    : QWidget(parent),
      store_(store),
      model_(new ChatListModel(store, this)),
      filter_(new ChatFilter(this)),
      search_(new QLineEdit),
      tree_(new QTreeView) {
    filter_->setSourceModel(model_);
    auto* fresh = new QPushButton(tr("New chat"));
    fresh->setObjectName(QStringLiteral("new_chat_button"));
    search_->setObjectName(QStringLiteral("find_chat"));
    search_->setPlaceholderText(tr("Find in all chats"));
    search_->setAccessibleName(tr("Find in all chats"));
    search_->setClearButtonEnabled(true);
    search_->installEventFilter(this);
    tree_->setObjectName(QStringLiteral("chat_list"));
    tree_->setAccessibleName(tr("Chats"));
    tree_->setModel(filter_);
    tree_->setItemDelegate(new RoomyDelegate(this));
    tree_->setHeaderHidden(true);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setIndentation(fontMetrics().averageCharWidth() * 2);
    tree_->setEditTriggers(QAbstractItemView::EditKeyPressed);
    tree_->setExpandsOnDoubleClick(true);
    tree_->setDragDropMode(QAbstractItemView::InternalMove);
    tree_->setTextElideMode(Qt::ElideRight);
    tree_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    tree_->setContextMenuPolicy(Qt::CustomContextMenu);
    tree_->installEventFilter(this);

    auto* top = new QVBoxLayout;
    top->setContentsMargins(8, 8, 8, 4);
    top->addWidget(fresh);
    top->addWidget(search_);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(top);
    column->addWidget(tree_, 1);
    setFocusProxy(tree_);

    typing_.setSingleShot(true);
    typing_.setInterval(150);
    connect(fresh, &QPushButton::clicked, this, &ChatListPane::newChatRequested);
    connect(search_, &QLineEdit::textChanged, this, &ChatListPane::filter);
    connect(&typing_, &QTimer::timeout, this, [this] { searching_ = store_.search(search_->text()); });
    connect(&store_, &Store::found, this, [this](quint64 number, const QList<SearchHit>& hits) {
        if (number != searching_) return;
        filter_->setHits(hits);
        tree_->expandAll();
    });
    connect(tree_, &QTreeView::clicked, this, &ChatListPane::choose);
    connect(tree_, &QTreeView::activated, this, &ChatListPane::choose);
    connect(tree_, &QTreeView::customContextMenuRequested, this, &ChatListPane::showMenu);
    connect(filter_, &QAbstractItemModel::modelReset, tree_, &QTreeView::expandAll);
    connect(filter_, &QAbstractItemModel::rowsInserted, this, [this](const QModelIndex& parent) {
        if (parent.isValid()) tree_->expand(parent);
    });
    tree_->expandAll();
}

void ChatListPane::filter() {
    filter_->setWords(search_->text());
    tree_->expandAll();
    searching_ = 0;
    if (search_->text().trimmed().isEmpty()) typing_.stop();
    else typing_.start();
}

void ChatListPane::choose(const QModelIndex& index) {
    const qint64 chat = index.data(ChatListModel::ChatRole).toLongLong();
    if (chat != 0) Q_EMIT chatChosen(chat, filter_->messageFound(chat));
}

void ChatListPane::setCurrent(qint64 chat) {
    const QModelIndex index = filter_->mapFromSource(model_->indexOf(chat));
    if (index == tree_->currentIndex()) return;
    if (index.isValid()) tree_->setCurrentIndex(index);
    else tree_->selectionModel()->clear();
}

qint64 ChatListPane::current() const { return tree_->currentIndex().data(ChatListModel::ChatRole).toLongLong(); }

void ChatListPane::renameCurrent() {
    const QModelIndex index = tree_->currentIndex();
    if (!index.isValid()) return;
    tree_->setFocus();
    tree_->edit(index);
}

void ChatListPane::removeCurrent() {
    if (const qint64 chat = current(); chat != 0) Q_EMIT removeRequested(chat);
}

void ChatListPane::newFolder() {
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("new_folder_dialog"));
    dialog->setWindowTitle(tr("New folder"));
    dialog->setLabelText(tr("Name of the folder:"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& name) {
        if (!name.simplified().isEmpty()) store_.save(FolderRecord{newId(), name.simplified()});
    });
    dialog->open();
}

void ChatListPane::showMenu(const QPoint& point) {
    const QModelIndex index = tree_->indexAt(point);
    const qint64 chat = index.data(ChatListModel::ChatRole).toLongLong();
    const qint64 folder = index.data(ChatListModel::FolderRole).toLongLong();
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (chat != 0 || folder != 0) menu->addAction(tr("&Rename"), this, [this, index = QPersistentModelIndex(index)] {
        tree_->edit(index);
    });
    if (chat != 0) {
        QMenu* move = menu->addMenu(tr("&Move to"));
        for (const FolderRecord& f : store_.folders())
            move->addAction(f.name, this, [this, chat, id = f.id] { model_->moveToFolder(chat, id); })
                ->setEnabled(f.id != folder);
        move->addAction(tr("&No folder"), this, [this, chat] { model_->moveToFolder(chat, 0); })->setEnabled(folder != 0);
        menu->addAction(tr("&Delete"), this, [this, chat] { Q_EMIT removeRequested(chat); });
    } else if (folder != 0) {
        menu->addAction(tr("&Delete folder, keep its chats"), this, [this, folder] { store_.removeFolder(folder); });
    }
    menu->addSeparator();
    menu->addAction(tr("New &folder …"), this, &ChatListPane::newFolder);
    menu->popup(tree_->viewport()->mapToGlobal(point));
}

bool ChatListPane::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (watched == tree_ && key->key() == Qt::Key_Delete) {
        removeCurrent();
        return true;
    }
    if (watched == search_ && key->key() == Qt::Key_Down) {
        const QModelIndex first = filter_->index(0, 0, filter_->index(0, 0));
        if (first.isValid()) tree_->setCurrentIndex(first);
        tree_->setFocus(Qt::TabFocusReason);
        return true;
    }
    if (watched == search_ && key->key() == Qt::Key_Escape && !search_->text().isEmpty()) {
        search_->clear();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace hearth::ui
