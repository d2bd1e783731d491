#pragma once

#include <QObject>
#include <QTimer>

#include "ui/chat/conversation_model.h"
#include "ui/store/store.h"
#include "ui/worker/worker.h"

namespace hearth::ui {

/// One chat: its messages, its system prompt, the reply that the worker is giving it, and the keeping of all that.
class Chat : public QObject {
    Q_OBJECT

public:
    /// `record`: of a chat that the store knows, whose messages are then fetched, or an empty one, which the store learns of
    /// with the first message.
    Chat(Worker& worker, Store& store, const ChatRecord& record = {}, QObject* parent = nullptr);
    /// A reply that is still being written is stopped and kept as far as it got.
    ~Chat() override;

    qint64 id() const { return record_.id; }
    QString title() const { return record_.title; }
    /// Its messages are here.
    bool isLoaded() const { return loaded_; }
    ConversationModel& messages() { return messages_; }
    const QString& systemPrompt() const { return record_.system_prompt; }
    void setSystemPrompt(const QString& text);
    /// What this chat chose for itself.
    ReplyChoices choices() const { return ReplyChoices::fromJson(record_.options); }
    void setChoices(const ReplyChoices& choices);
    /// What holds where the chat has no choice of its own.
    void setDefaults(const ReplyChoices& choices) { defaults_ = choices; }

    /// A model is loaded and nothing else is going on.
    bool canSend() const;
    bool canRegenerate() const;
    bool canEdit() const;
    /// The last reply was cut off.
    bool canResume() const;
    bool replying() const { return request_ != 0; }
    bool stopping() const { return stopping_; }
    QString lastAnswer() const;
    /// All of it, as it would be kept now.
    WholeChat whole() const { return {record_, messages_.all()}; }

    void send(const QString& text);
    /// Answers `text` in the place of the question in that row; what was there stays as a branch.
    void edit(int row, const QString& text);
    /// Answers the question of that row, or before that row, once more; what was answered stays as a branch.
    void regenerate(int row);
    /// Lets the model go on with its last reply.
    void resume();
    void stop();
    void selectBranch(int row, int step);
    /// Takes a message and what follows it away; undoRemove() puts it back.
    void remove(int row);
    void undoRemove();

Q_SIGNALS:
    /// What can be done may have changed.
    void changed();
    /// The messages have been fetched.
    void loaded();
    /// A reply has ended, one way or another.
    void replied();

private:
    void ask(bool resumes = false);
    void end(quint64 request, ConversationModel::State state, const Outcome& outcome, const QStringList& notes);
    void keep(qint64 message, bool at_once);
    void keepRecord();
    void keepChanged();

    Worker& worker_;
    Store& store_;
    ChatRecord record_;
    ConversationModel messages_;
    ReplyChoices defaults_;
    QList<MessageRecord> removed_;
    quint64 request_ = 0;
    qint64 unsaved_ = 0;   ///< a message that has grown since it was saved, or 0
    QTimer saving_;        ///< runs only while there is one
    bool stopping_ = false, loaded_ = true;
};

}  // namespace hearth::ui
