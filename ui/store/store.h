#pragma once

#include <QHash>
#include <QObject>
#include <QThread>
#include <atomic>
#include <functional>
#include <memory>

#include "ui/store/records.h"

namespace hearth::ui {

class Database;

/// All chats, for the GUI thread. The list of chats is held in memory; messages are read when they are wanted. Nothing here
/// waits: writing happens on one thread, in order, and is on disk as soon as that thread has nothing left to do; searching on
/// another. What goes wrong is told by problem(), and chats are then kept until the program ends only.
class Store : public QObject {
    Q_OBJECT

public:
    /// Opens or makes the file in the background; ready() says when the list is there.
    explicit Store(const QString& path, QObject* parent = nullptr);
    /// Writes what is still to be written.
    ~Store() override;

    bool isReady() const { return ready_; }
    const QString& path() const { return path_; }
    const QHash<qint64, ChatRecord>& chats() const { return chats_; }
    const QList<FolderRecord>& folders() const { return folders_; }
    QString draft(qint64 chat) const { return drafts_.value(chat); }

    void save(const ChatRecord& chat);
    void save(const MessageRecord& message);
    void save(const QList<MessageRecord>& messages);
    void save(const WholeChat& whole);
    void removeMessages(const QList<qint64>& ids);
    void removeChat(qint64 id);
    /// Undoes removeChat(), until the program ends.
    void restoreChat(qint64 id);
    void save(const FolderRecord& folder);
    void removeFolder(qint64 id);
    void setDraft(qint64 chat, const QString& text);

    /// Answered by loaded(), after all that was saved before.
    void load(qint64 chat);
    /// Answered by loadedAll().
    void loadAll();
    /// Answered by found() with the same number, unless a newer search came in between.
    quint64 search(const QString& words);

Q_SIGNALS:
    void ready();
    void loaded(qint64 chat, const QList<hearth::ui::MessageRecord>& messages);
    void loadedAll(const QList<hearth::ui::WholeChat>& chats);
    void found(quint64 number, const QList<hearth::ui::SearchHit>& hits);
    void chatChanged(qint64 id);
    void chatRemoved(qint64 id);
    void foldersChanged();
    void problem(const QString& sentence);

private:
    struct Side;
    using Job = std::function<void(Database&)>;
    void write(Job job);
    void open();
    /// On the writer's thread.
    void runJob(const Job& job);
    void tell(const QString& sentence);

    QString path_;
    bool ready_ = false;
    QHash<qint64, ChatRecord> chats_, removed_;
    QList<FolderRecord> folders_;
    QHash<qint64, QString> drafts_;
    std::unique_ptr<Side> writer_, reader_;
    std::atomic<int> waiting_ = 0;         ///< jobs of the writer
    std::atomic<quint64> newest_search_ = 0;
};

}  // namespace hearth::ui
