#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include "ui/worker/types.h"

/// What is kept about chats, as plain values.
namespace hearth::ui {

/// Interrupted: the program ended while the reply was being written.
enum class MessageState { Complete, Waiting, Streaming, Stopped, Failed, Interrupted };

struct MessageRecord {
    qint64 id = 0, chat = 0;
    qint64 parent = 0;   ///< the message that this one follows; 0 = it begins the chat
    Role role = Role::User;
    MessageState state = MessageState::Complete;
    QString author = {}, text = {}, thinking = {};
    QStringList notes = {};   ///< sentences below the message
    qint64 created = 0;       ///< ms since 1970
    uint tokens = 0;
    double seconds = 0, thinking_seconds = 0, speed = 0;
    int rating = 0;   ///< −1, 0 or 1
    bool operator==(const MessageRecord&) const = default;
};

struct ChatRecord {
    qint64 id = 0;
    qint64 folder = 0;   ///< 0 = in none
    QString title = {}, system_prompt = {};
    QString options = {};   ///< JSON of what differs from the model's own choices
    qint64 leaf = 0;        ///< the last message of the branch that was seen last
    qint64 created = 0, updated = 0;   ///< ms since 1970
    bool operator==(const ChatRecord&) const = default;
};

/// A chat with all its messages, on every branch.
struct WholeChat {
    ChatRecord chat;
    QList<MessageRecord> messages;
    bool operator==(const WholeChat&) const = default;
};

struct FolderRecord {
    qint64 id = 0;
    QString name;
    bool operator==(const FolderRecord&) const = default;
};

/// A chat that holds what was looked for, and where.
struct SearchHit {
    qint64 chat = 0;
    qint64 message = 0;   ///< 0 = in its title
    QString snippet = {};
};

/// Never used before in any file of chats, and greater than all that were: microseconds since 1970. From any thread.
qint64 newId();

}  // namespace hearth::ui

Q_DECLARE_METATYPE(hearth::ui::MessageState)
