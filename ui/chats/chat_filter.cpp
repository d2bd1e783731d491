#include "ui/chats/chat_filter.h"

#include <algorithm>

#include "ui/chats/chat_list_model.h"

namespace hearth::ui {

ChatFilter::ChatFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setRecursiveFilteringEnabled(true);
    setDynamicSortFilter(true);
}

void ChatFilter::setWords(const QString& words) {
    words_ = words.split(u' ', Qt::SkipEmptyParts);
    hits_.clear();
    invalidateFilter();
}

void ChatFilter::setHits(const QList<SearchHit>& hits) {
    hits_.clear();
    for (const SearchHit& hit : hits) hits_.insert(hit.chat, hit);
    invalidateFilter();
    for (const SearchHit& hit : hits)
        if (const QModelIndex index = mapFromSource(static_cast<ChatListModel*>(sourceModel())->indexOf(hit.chat));
            index.isValid())
            Q_EMIT dataChanged(index, index);
}

QVariant ChatFilter::data(const QModelIndex& index, int role) const {
    const QVariant value = QSortFilterProxyModel::data(index, role);
    if (role != Qt::DisplayRole || hits_.isEmpty()) return value;
    const auto hit = hits_.constFind(index.data(ChatListModel::ChatRole).toLongLong());
    if (hit == hits_.constEnd() || hit->snippet.isEmpty()) return value;
    return value.toString() + u'\n' + hit->snippet;
}

bool ChatFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (words_.isEmpty()) return true;
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    const qint64 chat = index.data(ChatListModel::ChatRole).toLongLong();
    if (chat == 0) return false;   // a group is there for what it holds
    if (hits_.contains(chat)) return true;
    const QString title = index.data(Qt::EditRole).toString();
    return std::ranges::all_of(words_, [&title](const QString& word) { return title.contains(word, Qt::CaseInsensitive); });
}

}  // namespace hearth::ui
