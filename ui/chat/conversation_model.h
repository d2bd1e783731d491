#pragma once

#include <QAbstractListModel>
#include <vector>

#include "ui/worker/types.h"

namespace hearth::ui {

/// The messages of one chat as rows. The system prompt is no row.
class ConversationModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Roles {
        TextRole = Qt::DisplayRole,      ///< QString, Markdown in a reply
        AuthorRole = Qt::UserRole + 1,   ///< ui::Role
        ThinkingRole,                    ///< QString
        StateRole,                       ///< State
        FoldedRole,                      ///< bool: the thinking is folded away
        NotesRole,                       ///< QStringList: sentences below the message
        TokensRole,                      ///< uint
        SecondsRole,                     ///< double, of the whole reply
        ThinkingSecondsRole,             ///< double
        SpeedRole,                       ///< double, tokens per second
        NameRole,                        ///< QString: who wrote it, for people
    };
    enum class State { Complete, Waiting, Streaming, Stopped, Failed };
    Q_ENUM(State)

    using QAbstractListModel::QAbstractListModel;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    /// Of FoldedRole only.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    void addUserMessage(const QString& text);
    /// Adds an empty reply, which the next functions fill. `name`: of the model.
    void beginReply(const QString& name);
    void append(const QList<TextPiece>& pieces, double seconds);
    void endReply(State state, const Outcome& outcome, const QStringList& notes);
    void truncate(int rows);

    bool isEmpty() const { return messages_.empty(); }
    int lastRow(Role author) const;   ///< −1 = none
    State lastState() const;
    /// What the model is to read: empty replies left out, questions in a row joined, since templates want turns.
    QList<ChatMessage> forEngine(const QString& system_prompt) const;
    QString asMarkdown() const;

private:
    struct Message {
        Role author = Role::User;
        QString name = {}, text = {}, thinking = {};
        State state = State::Complete;
        bool folded = true;
        QStringList notes = {};
        uint tokens = 0;
        double seconds = 0, thinking_seconds = 0, speed = 0;
    };
    void changed(int row, const QList<int>& roles);

    std::vector<Message> messages_;
};

}  // namespace hearth::ui
