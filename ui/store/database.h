#pragma once

#include <QHash>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QVariantList>

#include "ui/store/records.h"

namespace hearth::ui {

/// One connection to the file of chats (SQLite), for the thread that made it; the only place that knows SQL. Whatever fails
/// throws hearth::Error with words for the user; contents of the file are not trusted to make sense.
class Database {
public:
    /// What each version of the schema adds to the one before; number n in the list leads to user_version n + 1.
    using Schema = QList<QStringList>;
    static const Schema& schema();

    /// Opens `path`; a writer also brings it to the newest schema, keeping a copy of the file as it was beside it, and marks
    /// replies that a crash cut off. A file that is no database or damaged is put aside under another name, never deleted.
    Database(const QString& path, bool writer, const Schema& schema = Database::schema());
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Sentences that the user should read: what happened at opening.
    const QStringList& notes() const { return notes_; }

    QList<ChatRecord> chats();
    QList<FolderRecord> folders();
    /// By chat; 0 = of a chat that has not begun.
    QHash<qint64, QString> drafts();
    /// Oldest first.
    QList<MessageRecord> messages(qint64 chat);
    /// Chats whose title or a message on any branch holds all the words; at most 200.
    QList<SearchHit> search(const QString& words);

    void save(const ChatRecord& chat);
    void save(const FolderRecord& folder);
    void save(const MessageRecord& message);
    void removeMessage(qint64 id);
    /// Hides the chat; it is gone for good when the file is next opened for writing.
    void setRemoved(qint64 chat, bool removed);
    /// Its chats remain, in no folder.
    void removeFolder(qint64 id);
    void setDraft(qint64 chat, const QString& text);

    void begin();
    void commit();

private:
    void open();
    void prepareToWrite(const Schema& schema);
    void migrate(const Schema& schema);
    void putAside();
    bool damaged();
    QSqlQuery run(const QString& sql, const QVariantList& values = {});

    QString path_, name_;
    QSqlDatabase connection_;
    QStringList notes_;
    bool in_transaction_ = false;
};

}  // namespace hearth::ui
