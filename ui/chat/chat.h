#pragma once

#include <QObject>

#include "ui/chat/conversation_model.h"
#include "ui/worker/worker.h"

namespace hearth::ui {

/// One chat: its messages, its system prompt, and the reply that the worker is giving it.
class Chat : public QObject {
    Q_OBJECT

public:
    explicit Chat(Worker& worker, QObject* parent = nullptr);

    ConversationModel& messages() { return messages_; }
    const QString& systemPrompt() const { return system_prompt_; }
    void setSystemPrompt(const QString& text);

    /// A model is loaded and nothing else is going on.
    bool canSend() const;
    bool canRegenerate() const;
    bool canEdit() const;
    bool replying() const { return request_ != 0; }
    bool stopping() const { return stopping_; }
    /// The text of the newest message that the user wrote.
    QString lastQuestion() const;
    QString lastAnswer() const;

    void send(const QString& text);
    /// Puts `text` in the place of the last question, and answers that one.
    void replaceLastQuestion(const QString& text);
    /// Answers the last question once more.
    void regenerate();
    void stop();

Q_SIGNALS:
    /// What can be done may have changed.
    void changed();
    /// A reply has ended, one way or another.
    void replied();

private:
    void ask();
    void end(quint64 request, ConversationModel::State state, const Outcome& outcome, const QStringList& notes);

    Worker& worker_;
    ConversationModel messages_;
    QString system_prompt_;
    quint64 request_ = 0;
    bool stopping_ = false;
};

}  // namespace hearth::ui
