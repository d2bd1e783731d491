#pragma once

#include <QAbstractItemModel>
#include <QDate>
#include <memory>
#include <vector>

#include "ui/store/store.h"

namespace hearth::ui {

/// All chats of the store in two levels: folders by name, then what lies in none of them by age; inside each the newest first.
class ChatListModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Roles {
        ChatRole = Qt::UserRole + 1,   ///< qint64; 0 = the row is a group
        FolderRole,                    ///< qint64, of a chat or a group; 0 = none
    };

    explicit ChatListModel(Store& store, QObject* parent = nullptr);

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    /// Renames a chat or a folder.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    Qt::DropActions supportedDropActions() const override { return Qt::MoveAction; }
    QStringList mimeTypes() const override;
    QMimeData* mimeData(const QModelIndexList& indexes) const override;
    bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                      const QModelIndex& parent) override;

    QModelIndex indexOf(qint64 chat) const;
    void moveToFolder(qint64 chat, qint64 folder);

private:
    struct Group {
        qint64 folder = 0;
        int age = 0;   ///< without a folder: an Age
        QString title;
        std::vector<qint64> chats;
    };
    enum Age { Today, Yesterday, LastWeek, LastMonth, Older };

    void rebuild();
    void update(qint64 chat);
    void take(qint64 chat);
    Group& groupFor(const ChatRecord& chat, bool tell);
    Group makeGroup(qint64 folder, int age) const;
    /// The group of a chat, without its chats.
    Group keyOf(const ChatRecord& chat) const;
    int ageOf(const ChatRecord& chat) const;
    QModelIndex indexOf(const Group& group) const;
    static bool before(const Group& a, const Group& b);
    size_t placeIn(const Group& group, const ChatRecord& chat) const;

    Store& store_;
    std::vector<std::unique_ptr<Group>> groups_;
    QHash<qint64, Group*> group_of_;
    QDate today_;
};

}  // namespace hearth::ui
