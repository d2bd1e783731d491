#include "ui/store/store.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <algorithm>

#include "ui/background.h"
#include "ui/store/database.h"

namespace hearth::ui {
/// A thread with a connection of its own.
struct Store::Side {
    QThread thread;
    QObject* context = new QObject;   ///< lives on the thread; jobs are queued to it
    std::unique_ptr<Database> database;   ///< made and used there only
    bool told = false;                ///< one sentence is enough, however many jobs fail

    explicit Side(const char* name) {
        thread.setObjectName(QLatin1StringView(name));
        context->moveToThread(&thread);
        QObject::connect(&thread, &QThread::finished, context, &QObject::deleteLater);
        thread.start();
    }
    /// Waits for the jobs that are queued, which may still name this side; nothing may be queued after it.
    void finish() {
        QMetaObject::invokeMethod(
            context,
            [this] {
                database.reset();
                thread.quit();
            },
            Qt::QueuedConnection);
        thread.wait();
    }
};

Store::Store(const QString& path, QObject* parent)
    : QObject(parent),
      path_(path),
      writer_(std::make_unique<Side>("store")),
      reader_(std::make_unique<Side>("search")) {
    QDir().mkpath(QFileInfo(path_).absolutePath());
    QMetaObject::invokeMethod(writer_->context, [this] { open(); }, Qt::QueuedConnection);
}

Store::~Store() {
    reader_->finish();
    writer_->finish();
}

void Store::tell(const QString& sentence) {
    QMetaObject::invokeMethod(this, [this, sentence] { Q_EMIT problem(sentence); }, Qt::QueuedConnection);
}

/// On the writer's thread.
void Store::open() {
    QList<ChatRecord> chats;
    QList<FolderRecord> folders;
    QHash<qint64, QString> drafts;
    try {
        writer_->database = std::make_unique<Database>(path_, true);
        for (const QString& note : writer_->database->notes()) tell(note);
        chats = writer_->database->chats();
        folders = writer_->database->folders();
        drafts = writer_->database->drafts();
    } catch (const Error& error) {
        writer_->database.reset();
        tell(sentenceOf(error));
    }
    QMetaObject::invokeMethod(
        this,
        [this, chats, folders, drafts] {
            for (const ChatRecord& chat : chats)
                if (!chats_.contains(chat.id)) chats_.insert(chat.id, chat);
            folders_ = folders + folders_;
            for (auto it = drafts.begin(); it != drafts.end(); ++it)
                if (!drafts_.contains(it.key())) drafts_.insert(it.key(), it.value());
            ready_ = true;
            Q_EMIT ready();
        },
        Qt::QueuedConnection);
}

void Store::write(Job job) {
    ++waiting_;
    QMetaObject::invokeMethod(writer_->context, [this, job = std::move(job)] { runJob(job); }, Qt::QueuedConnection);
}

void Store::runJob(const Job& job) {
    const bool last = --waiting_ == 0;
    if (!writer_->database) return;
    try {
        writer_->database->begin();
        job(*writer_->database);
        if (last) writer_->database->commit();
    } catch (const Error& error) {
        if (!std::exchange(writer_->told, true)) tell(sentenceOf(error));
        try {
            writer_->database->commit();
        } catch (const Error&) {
            // Said already.
        }
    }
}

void Store::save(const ChatRecord& chat) {
    chats_.insert(chat.id, chat);
    write([chat](Database& db) { db.save(chat); });
    Q_EMIT chatChanged(chat.id);
}

void Store::save(const MessageRecord& message) {
    write([message](Database& db) { db.save(message); });
}

void Store::save(const QList<MessageRecord>& messages) {
    write([messages](Database& db) {
        for (const MessageRecord& m : messages) db.save(m);
    });
}

void Store::save(const WholeChat& whole) {
    save(whole.chat);
    save(whole.messages);
}

void Store::removeMessages(const QList<qint64>& ids) {
    write([ids](Database& db) {
        for (const qint64 id : ids) db.removeMessage(id);
    });
}

void Store::removeChat(qint64 id) {
    if (!chats_.contains(id)) return;
    removed_.insert(id, chats_.take(id));
    write([id](Database& db) { db.setRemoved(id, true); });
    Q_EMIT chatRemoved(id);
}

void Store::restoreChat(qint64 id) {
    if (!removed_.contains(id)) return;
    chats_.insert(id, removed_.take(id));
    write([id](Database& db) { db.setRemoved(id, false); });
    Q_EMIT chatChanged(id);
}

void Store::save(const FolderRecord& folder) {
    const auto at = std::ranges::find(folders_, folder.id, &FolderRecord::id);
    if (at == folders_.end()) folders_.push_back(folder);
    else *at = folder;
    std::ranges::sort(folders_, [](const auto& a, const auto& b) { return a.name.localeAwareCompare(b.name) < 0; });
    write([folder](Database& db) { db.save(folder); });
    Q_EMIT foldersChanged();
}

void Store::removeFolder(qint64 id) {
    folders_.removeIf([id](const FolderRecord& f) { return f.id == id; });
    QList<qint64> inside;
    for (ChatRecord& chat : chats_)
        if (chat.folder == id) {
            chat.folder = 0;
            inside << chat.id;
        }
    write([id](Database& db) { db.removeFolder(id); });
    Q_EMIT foldersChanged();
    for (const qint64 chat : inside) Q_EMIT chatChanged(chat);
}

void Store::setDraft(qint64 chat, const QString& text) {
    if (drafts_.value(chat) == text) return;
    if (text.isEmpty()) drafts_.remove(chat);
    else drafts_.insert(chat, text);
    write([chat, text](Database& db) { db.setDraft(chat, text); });
}

void Store::load(qint64 chat) {
    QMetaObject::invokeMethod(
        writer_->context,
        [this, chat] {
            QList<MessageRecord> messages;
            try {
                if (writer_->database) messages = writer_->database->messages(chat);
            } catch (const Error& error) {
                tell(sentenceOf(error));
            }
            QMetaObject::invokeMethod(this, [this, chat, messages] { Q_EMIT loaded(chat, messages); },
                                      Qt::QueuedConnection);
        },
        Qt::QueuedConnection);
}

void Store::loadAll() {
    QMetaObject::invokeMethod(
        writer_->context,
        [this] {
            QList<WholeChat> all;
            try {
                if (writer_->database)
                    for (const ChatRecord& chat : writer_->database->chats())
                        all.push_back({chat, writer_->database->messages(chat.id)});
            } catch (const Error& error) {
                tell(sentenceOf(error));
            }
            QMetaObject::invokeMethod(this, [this, all] { Q_EMIT loadedAll(all); }, Qt::QueuedConnection);
        },
        Qt::QueuedConnection);
}

quint64 Store::search(const QString& words) {
    const quint64 number = ++newest_search_;
    QMetaObject::invokeMethod(
        reader_->context,
        [this, words, number] {
            if (number != newest_search_) return;   // somebody types on
            QList<SearchHit> hits;
            try {
                if (!reader_->database && QFileInfo::exists(path_))
                    reader_->database = std::make_unique<Database>(path_, false);
                if (reader_->database) hits = reader_->database->search(words);
            } catch (const Error& error) {
                if (!std::exchange(reader_->told, true)) tell(sentenceOf(error));
            }
            QMetaObject::invokeMethod(this, [this, number, hits] { Q_EMIT found(number, hits); }, Qt::QueuedConnection);
        },
        Qt::QueuedConnection);
    return number;
}

}  // namespace hearth::ui
