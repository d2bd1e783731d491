#include "ui/store/database.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <QSqlError>
#include <atomic>

#include "engine/base/error.h"

namespace hearth::ui {
namespace {

using namespace Qt::StringLiterals;

struct DatabaseWords {
    Q_DECLARE_TR_FUNCTIONS(Database)
};

[[noreturn]] void fail(const QString& why, const QString& next) {
    throw Error(DatabaseWords::tr("the chats cannot be kept").toStdString(), why.toStdString(), next.toStdString());
}

/// What a file may say that no version of the program writes becomes the nearest sensible value.
template <typename T>
T within(const QVariant& value, T most) {
    return static_cast<T>(std::clamp(value.toInt(), 0, static_cast<int>(most)));
}

}  // namespace

const Database::Schema& Database::schema() {
    static const Schema versions = {{
        u"CREATE TABLE folder(id INTEGER PRIMARY KEY, name TEXT NOT NULL)"_s,
        u"CREATE TABLE chat(id INTEGER PRIMARY KEY, folder INTEGER NOT NULL DEFAULT 0, title TEXT NOT NULL,"
        " system_prompt TEXT NOT NULL, options TEXT NOT NULL, leaf INTEGER NOT NULL, created INTEGER NOT NULL,"
        " updated INTEGER NOT NULL, removed INTEGER NOT NULL DEFAULT 0)"_s,
        u"CREATE TABLE message(id INTEGER PRIMARY KEY, chat INTEGER NOT NULL REFERENCES chat ON DELETE CASCADE,"
        " parent INTEGER NOT NULL, role INTEGER NOT NULL, state INTEGER NOT NULL, author TEXT NOT NULL,"
        " text TEXT NOT NULL, thinking TEXT NOT NULL, notes TEXT NOT NULL, created INTEGER NOT NULL,"
        " tokens INTEGER NOT NULL, seconds REAL NOT NULL, thinking_seconds REAL NOT NULL, speed REAL NOT NULL,"
        " rating INTEGER NOT NULL)"_s,
        u"CREATE INDEX message_of_chat ON message(chat, id)"_s,
        u"CREATE TABLE draft(chat INTEGER PRIMARY KEY, text TEXT NOT NULL)"_s,
        // Trigrams, since words are of no use in Chinese and Japanese.
        u"CREATE VIRTUAL TABLE message_text USING fts5(text, content='message', content_rowid='id',"
        " tokenize='trigram')"_s,
        u"CREATE TRIGGER message_added AFTER INSERT ON message BEGIN"
        " INSERT INTO message_text(rowid, text) VALUES(new.id, new.text); END"_s,
        u"CREATE TRIGGER message_gone AFTER DELETE ON message BEGIN"
        " INSERT INTO message_text(message_text, rowid, text) VALUES('delete', old.id, old.text); END"_s,
        u"CREATE TRIGGER message_changed AFTER UPDATE OF text ON message WHEN old.text IS NOT new.text BEGIN"
        " INSERT INTO message_text(message_text, rowid, text) VALUES('delete', old.id, old.text);"
        " INSERT INTO message_text(rowid, text) VALUES(new.id, new.text); END"_s,
    }};
    return versions;
}

Database::Database(const QString& path, bool writer, const Schema& schema) : path_(path) {
    static std::atomic<int> number = 0;
    name_ = u"hearth-chats-%1"_s.arg(++number);
    connection_ = QSqlDatabase::addDatabase(u"QSQLITE"_s, name_);
    try {
        open();
        if (writer) prepareToWrite(schema);
    } catch (...) {
        connection_.close();
        connection_ = {};
        QSqlDatabase::removeDatabase(name_);
        throw;
    }
}

Database::~Database() {
    if (in_transaction_) connection_.commit();
    connection_.close();
    connection_ = {};
    QSqlDatabase::removeDatabase(name_);
}

void Database::open() {
    connection_.setDatabaseName(path_);
    connection_.setConnectOptions(u"QSQLITE_BUSY_TIMEOUT=5000"_s);
    if (!connection_.open())
        fail(DatabaseWords::tr("%1 cannot be opened: %2").arg(path_, connection_.lastError().databaseText()),
             DatabaseWords::tr("See that the folder can be written to, then start Hearth again"));
}

void Database::prepareToWrite(const Schema& schema) {
    // A write-ahead log beside the file means that the program did not come to its end.
    const bool crashed = QFile::exists(path_ + u"-wal"_s);
    if (QSqlQuery probe(connection_); !probe.exec(u"PRAGMA schema_version"_s) || (crashed && damaged())) putAside();
    run(u"PRAGMA foreign_keys = ON"_s);
    run(u"PRAGMA synchronous = NORMAL"_s);
    QSqlQuery mode = run(u"PRAGMA journal_mode = WAL"_s);
    if (mode.next() && mode.value(0).toString() != u"wal"_s)
        notes_ << DatabaseWords::tr(
            "The folder of the chats is on a drive that cannot keep a log, so a crash may cost the last seconds.");
    mode.finish();
    migrate(schema);
    run(u"DELETE FROM chat WHERE removed != 0"_s);
    run(u"DELETE FROM draft WHERE chat != 0 AND chat NOT IN (SELECT id FROM chat)"_s);
    run(u"UPDATE message SET state = ? WHERE state IN (?, ?)"_s,
        {static_cast<int>(MessageState::Interrupted), static_cast<int>(MessageState::Waiting),
         static_cast<int>(MessageState::Streaming)});
}

bool Database::damaged() {
    QSqlQuery check(connection_);
    return !check.exec(u"PRAGMA quick_check(1)"_s) || !check.next() || check.value(0).toString() != u"ok"_s;
}

void Database::putAside() {
    connection_.close();
    const QString aside =
        u"%1.damaged-%2"_s.arg(path_, QDateTime::currentDateTime().toString(u"yyyyMMdd-HHmmss-zzz"_s));
    if (!QFile::rename(path_, aside))
        fail(DatabaseWords::tr("%1 is damaged and cannot be renamed").arg(path_),
             DatabaseWords::tr("Move that file away, then start Hearth again"));
    for (const QString& tail : {u"-wal"_s, u"-shm"_s}) QFile::rename(path_ + tail, aside + tail);
    notes_ << DatabaseWords::tr("The file of your chats is damaged. It was put aside as %1, and a new one was begun.")
                  .arg(aside);
    open();
}

void Database::migrate(const Schema& schema) {
    QSqlQuery asked = run(u"PRAGMA user_version"_s);
    const int version = asked.next() ? asked.value(0).toInt() : 0;
    asked.finish();
    if (version > schema.size() || version < 0)
        fail(DatabaseWords::tr("%1 was written by a newer version of Hearth").arg(path_),
             DatabaseWords::tr("Use that version; nothing was changed"));
    if (version == schema.size()) return;
    if (version > 0) {
        const QString copy = u"%1.version-%2"_s.arg(path_).arg(version);
        QFile::remove(copy);
        run(u"VACUUM INTO ?"_s, {copy});
    }
    begin();
    for (qsizetype v = version; v < schema.size(); ++v)
        for (const QString& statement : schema[v]) run(statement);
    run(u"PRAGMA user_version = %1"_s.arg(schema.size()));
    commit();
}

QSqlQuery Database::run(const QString& sql, const QVariantList& values) {
    QSqlQuery query(connection_);
    query.setForwardOnly(true);
    bool good = query.prepare(sql);
    for (const QVariant& value : values) {
        // An empty text is a text, not NULL.
        const bool empty = value.typeId() == QMetaType::QString && value.toString().isNull();
        query.addBindValue(empty ? QVariant(u""_s) : value);
    }
    good = good && query.exec();
    if (!good) {
        const QString why = query.lastError().databaseText();
        fail(DatabaseWords::tr("%1: %2").arg(path_, why),
             DatabaseWords::tr("See that the drive is not full and can be written to"));
    }
    return query;
}

void Database::begin() {
    if (in_transaction_) return;
    run(u"BEGIN IMMEDIATE"_s);
    in_transaction_ = true;
}

void Database::commit() {
    if (!in_transaction_) return;
    in_transaction_ = false;
    run(u"COMMIT"_s);
}

QList<ChatRecord> Database::chats() {
    QList<ChatRecord> all;
    QSqlQuery q =
        run(u"SELECT id, folder, title, system_prompt, options, leaf, created, updated FROM chat WHERE removed = 0"_s);
    while (q.next())
        all.push_back({q.value(0).toLongLong(), q.value(1).toLongLong(), q.value(2).toString(), q.value(3).toString(),
                       q.value(4).toString(), q.value(5).toLongLong(), q.value(6).toLongLong(),
                       q.value(7).toLongLong()});
    return all;
}

QList<FolderRecord> Database::folders() {
    QList<FolderRecord> all;
    QSqlQuery q = run(u"SELECT id, name FROM folder ORDER BY name"_s);
    while (q.next()) all.push_back({q.value(0).toLongLong(), q.value(1).toString()});
    return all;
}

QHash<qint64, QString> Database::drafts() {
    QHash<qint64, QString> all;
    QSqlQuery q = run(u"SELECT chat, text FROM draft"_s);
    while (q.next()) all.insert(q.value(0).toLongLong(), q.value(1).toString());
    return all;
}

QList<MessageRecord> Database::messages(qint64 chat) {
    QList<MessageRecord> all;
    QSqlQuery q =
        run(u"SELECT id, chat, parent, role, state, author, text, thinking, notes, created, tokens, seconds,"
            " thinking_seconds, speed, rating FROM message WHERE chat = ? ORDER BY id"_s,
            {chat});
    while (q.next()) {
        const QString notes = q.value(8).toString();
        all.push_back({.id = q.value(0).toLongLong(),
                       .chat = q.value(1).toLongLong(),
                       .parent = q.value(2).toLongLong(),
                       .role = within(q.value(3), Role::Assistant),
                       .state = within(q.value(4), MessageState::Interrupted),
                       .author = q.value(5).toString(),
                       .text = q.value(6).toString(),
                       .thinking = q.value(7).toString(),
                       .notes = notes.isEmpty() ? QStringList() : notes.split(u'\n'),
                       .created = q.value(9).toLongLong(),
                       .tokens = q.value(10).toUInt(),
                       .seconds = q.value(11).toDouble(),
                       .thinking_seconds = q.value(12).toDouble(),
                       .speed = q.value(13).toDouble(),
                       .rating = std::clamp(q.value(14).toInt(), -1, 1)});
    }
    return all;
}

QList<SearchHit> Database::search(const QString& words) {
    // Words of three characters and more through the index; shorter ones have no trigram and are looked for in what remains.
    QStringList indexed, like;
    for (const QString& word : words.split(u' ', Qt::SkipEmptyParts)) {
        if (word.size() >= 3) indexed << u'"' + QString(word).replace(u'"', u"\"\""_s) + u'"';
        else
            like << u'%' + QString(word).replace(u'\\', u"\\\\"_s).replace(u'%', u"\\%"_s).replace(u'_', u"\\_"_s) +
                        u'%';
    }
    if (indexed.isEmpty() && like.isEmpty()) return {};
    QString sql = indexed.isEmpty()
                      ? u"SELECT m.chat, m.id, substr(m.text, 1, 120) FROM message m JOIN chat c ON c.id = m.chat"
                        " WHERE c.removed = 0"_s
                      : u"SELECT m.chat, m.id, snippet(message_text, 0, '', '', '…', 40) FROM message_text"
                        " JOIN message m ON m.id = message_text.rowid JOIN chat c ON c.id = m.chat"
                        " WHERE message_text MATCH ? AND c.removed = 0"_s;
    QVariantList values;
    if (!indexed.isEmpty()) values << indexed.join(u" AND "_s);
    for (const QString& pattern : like) {
        sql += u" AND m.text LIKE ? ESCAPE '\\'"_s;
        values << pattern;
    }
    sql += u" ORDER BY m.id DESC LIMIT 2000"_s;
    QList<SearchHit> hits;
    QHash<qint64, bool> seen;  // one hit a chat: its newest
    for (QSqlQuery q = run(sql, values); q.next() && hits.size() < 200;) {
        const qint64 chat = q.value(0).toLongLong();
        if (seen.contains(chat)) continue;
        seen.insert(chat, true);
        hits.push_back({chat, q.value(1).toLongLong(), q.value(2).toString().simplified()});
    }
    return hits;
}

void Database::save(const ChatRecord& c) {
    run(u"INSERT INTO chat(id, folder, title, system_prompt, options, leaf, created, updated) VALUES(?,?,?,?,?,?,?,?)"
        " ON CONFLICT(id) DO UPDATE SET folder = excluded.folder, title = excluded.title,"
        " system_prompt = excluded.system_prompt, options = excluded.options, leaf = excluded.leaf,"
        " updated = excluded.updated"_s,
        {c.id, c.folder, c.title, c.system_prompt, c.options, c.leaf, c.created, c.updated});
}

void Database::save(const FolderRecord& folder) {
    run(u"INSERT INTO folder(id, name) VALUES(?,?) ON CONFLICT(id) DO UPDATE SET name = excluded.name"_s,
        {folder.id, folder.name});
}

void Database::save(const MessageRecord& m) {
    run(u"INSERT INTO message(id, chat, parent, role, state, author, text, thinking, notes, created, tokens, seconds,"
        " thinking_seconds, speed, rating) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT(id) DO UPDATE SET state = excluded.state, author = excluded.author, text = excluded.text,"
        " thinking = excluded.thinking, notes = excluded.notes, tokens = excluded.tokens, seconds = excluded.seconds,"
        " thinking_seconds = excluded.thinking_seconds, speed = excluded.speed, rating = excluded.rating"_s,
        {m.id, m.chat, m.parent, static_cast<int>(m.role), static_cast<int>(m.state), m.author, m.text, m.thinking,
         m.notes.join(u'\n'), m.created, m.tokens, m.seconds, m.thinking_seconds, m.speed, m.rating});
}

void Database::removeMessage(qint64 id) { run(u"DELETE FROM message WHERE id = ?"_s, {id}); }

void Database::setRemoved(qint64 chat, bool removed) {
    run(u"UPDATE chat SET removed = ? WHERE id = ?"_s, {removed ? 1 : 0, chat});
}

void Database::removeFolder(qint64 id) {
    run(u"UPDATE chat SET folder = 0 WHERE folder = ?"_s, {id});
    run(u"DELETE FROM folder WHERE id = ?"_s, {id});
}

void Database::setDraft(qint64 chat, const QString& text) {
    if (text.isEmpty()) run(u"DELETE FROM draft WHERE chat = ?"_s, {chat});
    else
        run(u"INSERT INTO draft(chat, text) VALUES(?,?) ON CONFLICT(chat) DO UPDATE SET text = excluded.text"_s,
            {chat, text});
}

}  // namespace hearth::ui
