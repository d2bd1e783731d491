#include "ui/chats/chat_list_model.h"

#include <QDateTime>
#include <QFont>
#include <QMimeData>
#include <algorithm>

namespace hearth::ui {
namespace {

const QString chat_mime = QStringLiteral("application/x-hearth-chat");

}  // namespace

ChatListModel::ChatListModel(Store& store, QObject* parent) : QAbstractItemModel(parent), store_(store) {
    connect(&store_, &Store::ready, this, &ChatListModel::rebuild);
    connect(&store_, &Store::foldersChanged, this, &ChatListModel::rebuild);
    connect(&store_, &Store::chatChanged, this, &ChatListModel::update);
    connect(&store_, &Store::chatRemoved, this, &ChatListModel::take);
    rebuild();
}

int ChatListModel::ageOf(const ChatRecord& chat) const {
    const qint64 days = QDateTime::fromMSecsSinceEpoch(chat.updated).date().daysTo(today_);
    return days <= 0 ? Today : days == 1 ? Yesterday : days <= 7 ? LastWeek : days <= 30 ? LastMonth : Older;
}

ChatListModel::Group ChatListModel::makeGroup(qint64 folder, int age) const {
    if (folder == 0) {
        const QString titles[] = {tr("Today"), tr("Yesterday"), tr("Last 7 days"), tr("Last 30 days"), tr("Older")};
        return {.folder = 0, .age = age, .title = titles[age], .chats = {}};
    }
    for (const FolderRecord& f : store_.folders())
        if (f.id == folder) return {.folder = folder, .age = 0, .title = f.name, .chats = {}};
    return {.folder = folder, .age = 0, .title = tr("Folder"), .chats = {}};
}

bool ChatListModel::before(const Group& a, const Group& b) {
    if ((a.folder != 0) != (b.folder != 0)) return a.folder != 0;
    if (a.folder == 0) return a.age < b.age;
    const int names = a.title.localeAwareCompare(b.title);
    return names != 0 ? names < 0 : a.folder < b.folder;
}

ChatListModel::Group ChatListModel::keyOf(const ChatRecord& chat) const {
    const bool known =
        std::ranges::any_of(store_.folders(), [&chat](const FolderRecord& f) { return f.id == chat.folder; });
    return makeGroup(known ? chat.folder : 0, ageOf(chat));
}

ChatListModel::Group& ChatListModel::groupFor(const ChatRecord& chat, bool tell) {
    auto fresh = std::make_unique<Group>(keyOf(chat));
    const auto at = std::lower_bound(groups_.begin(), groups_.end(), fresh,
                                     [](const auto& a, const auto& b) { return before(*a, *b); });
    if (at != groups_.end() && !before(*fresh, **at)) return **at;
    const int row = static_cast<int>(at - groups_.begin());
    if (tell) beginInsertRows({}, row, row);
    Group& group = **groups_.insert(at, std::move(fresh));
    if (tell) endInsertRows();
    return group;
}

size_t ChatListModel::placeIn(const Group& group, const ChatRecord& chat) const {
    const auto at = std::ranges::lower_bound(
        group.chats, std::pair(-chat.updated, -chat.id), {},
        [this](qint64 id) { return std::pair(-store_.chats().constFind(id)->updated, -id); });
    return static_cast<size_t>(at - group.chats.begin());
}

void ChatListModel::rebuild() {
    beginResetModel();
    today_ = QDate::currentDate();
    groups_.clear();
    group_of_.clear();
    for (const FolderRecord& f : store_.folders()) groups_.push_back(std::make_unique<Group>(makeGroup(f.id, 0)));
    std::ranges::sort(groups_, [](const auto& a, const auto& b) { return before(*a, *b); });
    QList<const ChatRecord*> all;
    for (const ChatRecord& chat : store_.chats()) all << &chat;
    std::ranges::sort(all, [](const ChatRecord* a, const ChatRecord* b) {
        return std::pair(a->updated, a->id) > std::pair(b->updated, b->id);
    });
    for (const ChatRecord* chat : all) {
        Group& group = groupFor(*chat, false);
        group.chats.push_back(chat->id);
        group_of_.insert(chat->id, &group);
    }
    endResetModel();
}

void ChatListModel::update(qint64 id) {
    if (today_ != QDate::currentDate()) return rebuild();
    const ChatRecord chat = store_.chats().value(id);
    Group* before_now = group_of_.value(id);
    if (before_now != nullptr) {
        const Group wanted = keyOf(chat);
        if (!before(wanted, *before_now) && !before(*before_now, wanted)) {
            // Without it the place where it belongs is found; often that is where it is.
            const auto at = std::ranges::find(before_now->chats, id);
            const auto row = at - before_now->chats.begin();
            before_now->chats.erase(at);
            const bool stays = placeIn(*before_now, chat) == static_cast<size_t>(row);
            before_now->chats.insert(before_now->chats.begin() + row, id);
            if (stays) {
                const QModelIndex index = indexOf(id);
                Q_EMIT dataChanged(index, index);
                return;
            }
        }
        take(id);
    }
    Group& group = groupFor(chat, true);
    const size_t place = placeIn(group, chat);
    beginInsertRows(indexOf(group), static_cast<int>(place), static_cast<int>(place));
    group.chats.insert(group.chats.begin() + static_cast<std::ptrdiff_t>(place), id);
    group_of_.insert(id, &group);
    endInsertRows();
}

void ChatListModel::take(qint64 id) {
    Group* group = group_of_.value(id);
    if (group == nullptr) return;
    const auto at = std::ranges::find(group->chats, id);
    const int row = static_cast<int>(at - group->chats.begin());
    beginRemoveRows(indexOf(*group), row, row);
    group->chats.erase(at);
    group_of_.remove(id);
    endRemoveRows();
    // A day without chats goes; a folder stays.
    if (!group->chats.empty() || group->folder != 0) return;
    const int place = indexOf(*group).row();
    beginRemoveRows({}, place, place);
    groups_.erase(groups_.begin() + place);
    endRemoveRows();
}

QModelIndex ChatListModel::indexOf(const Group& group) const {
    const auto at = std::ranges::find_if(groups_, [&group](const auto& g) { return g.get() == &group; });
    return createIndex(static_cast<int>(at - groups_.begin()), 0, nullptr);
}

QModelIndex ChatListModel::indexOf(qint64 chat) const {
    Group* group = group_of_.value(chat);
    if (group == nullptr) return {};
    return createIndex(static_cast<int>(std::ranges::find(group->chats, chat) - group->chats.begin()), 0, group);
}

QModelIndex ChatListModel::index(int row, int column, const QModelIndex& parent) const {
    if (!hasIndex(row, column, parent)) return {};
    return createIndex(row, column, parent.isValid() ? groups_[static_cast<size_t>(parent.row())].get() : nullptr);
}

QModelIndex ChatListModel::parent(const QModelIndex& index) const {
    const auto* group = static_cast<const Group*>(index.internalPointer());
    return index.isValid() && group != nullptr ? indexOf(*group) : QModelIndex();
}

int ChatListModel::rowCount(const QModelIndex& parent) const {
    if (!parent.isValid()) return static_cast<int>(groups_.size());
    if (parent.internalPointer() != nullptr || parent.column() != 0) return 0;
    return static_cast<int>(groups_[static_cast<size_t>(parent.row())]->chats.size());
}

int ChatListModel::columnCount(const QModelIndex&) const { return 1; }

QVariant ChatListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const auto* inside = static_cast<const Group*>(index.internalPointer());
    if (inside == nullptr) {
        const Group& group = *groups_[static_cast<size_t>(index.row())];
        switch (role) {
            case Qt::DisplayRole:
            case Qt::EditRole: return group.title;
            case ChatRole: return 0LL;
            case FolderRole: return group.folder;
            case Qt::FontRole: {
                QFont font;
                font.setBold(true);
                return font;
            }
            default: return {};
        }
    }
    const auto chat = store_.chats().constFind(inside->chats[static_cast<size_t>(index.row())]);
    if (chat == store_.chats().constEnd()) return {};
    switch (role) {
        case Qt::DisplayRole: return chat->title.isEmpty() ? tr("Chat without a title") : chat->title;
        case Qt::EditRole: return chat->title;
        case Qt::ToolTipRole:
            return QStringLiteral("%1\n%2").arg(
                chat->title, QLocale().toString(QDateTime::fromMSecsSinceEpoch(chat->updated), QLocale::ShortFormat));
        case ChatRole: return chat->id;
        case FolderRole: return chat->folder;
        default: return {};
    }
}

bool ChatListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const QString name = value.toString().simplified();
    if (role != Qt::EditRole || name.isEmpty() || !checkIndex(index, CheckIndexOption::IndexIsValid)) return false;
    if (const qint64 id = index.data(ChatRole).toLongLong(); id != 0) {
        ChatRecord chat = store_.chats().value(id);
        chat.title = name;
        store_.save(chat);
        return true;
    }
    const qint64 folder = index.data(FolderRole).toLongLong();
    if (folder == 0) return false;
    store_.save(FolderRecord{folder, name});
    return true;
}

Qt::ItemFlags ChatListModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return Qt::ItemIsDropEnabled;
    if (index.data(ChatRole).toLongLong() != 0)
        return Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsEditable | Qt::ItemIsDragEnabled |
               Qt::ItemNeverHasChildren;
    const bool folder = index.data(FolderRole).toLongLong() != 0;
    return Qt::ItemIsEnabled | Qt::ItemIsDropEnabled | (folder ? Qt::ItemIsEditable : Qt::NoItemFlags);
}

QStringList ChatListModel::mimeTypes() const { return {chat_mime}; }

QMimeData* ChatListModel::mimeData(const QModelIndexList& indexes) const {
    auto* data = new QMimeData;
    QByteArray ids;
    for (const QModelIndex& index : indexes) ids += QByteArray::number(index.data(ChatRole).toLongLong()) + ' ';
    data->setData(chat_mime, ids);
    return data;
}

bool ChatListModel::dropMimeData(const QMimeData* data, Qt::DropAction action, int, int, const QModelIndex& parent) {
    if (action != Qt::MoveAction || !data->hasFormat(chat_mime)) return false;
    const qint64 folder = parent.isValid() ? parent.data(FolderRole).toLongLong() : 0;
    for (const QByteArray& id : data->data(chat_mime).split(' '))
        if (const qint64 chat = id.toLongLong(); store_.chats().contains(chat)) moveToFolder(chat, folder);
    // What was dragged has moved already; a view must not take rows away on its own.
    return false;
}

void ChatListModel::moveToFolder(qint64 id, qint64 folder) {
    ChatRecord chat = store_.chats().value(id);
    if (chat.id == 0 || chat.folder == folder) return;
    chat.folder = folder;
    store_.save(chat);
}

}  // namespace hearth::ui
