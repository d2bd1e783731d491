#pragma once

#include <QHash>
#include <QSortFilterProxyModel>

#include "ui/store/records.h"

namespace hearth::ui {

/// The chats of a ChatListModel whose title holds what was typed, and those that a search found, with the place it found.
class ChatFilter : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit ChatFilter(QObject* parent = nullptr);

    /// Empty = all chats. Forgets what was found for other words.
    void setWords(const QString& words);
    void setHits(const QList<SearchHit>& hits);
    /// The message that was found in a chat, or 0.
    qint64 messageFound(qint64 chat) const { return hits_.value(chat).message; }
    QVariant data(const QModelIndex& index, int role) const override;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList words_;
    QHash<qint64, SearchHit> hits_;
};

}  // namespace hearth::ui
