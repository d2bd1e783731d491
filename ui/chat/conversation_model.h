#pragma once

#include <QAbstractListModel>
#include <QHash>
#include <vector>

#include "ui/store/records.h"

namespace hearth::ui {

/// The messages of one chat: a tree, of which one branch is shown as rows. Nothing that an edit or a new reply replaces is
/// lost; it stays as a branch beside. The system prompt is no row.
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
        IdRole,                          ///< qint64
        BranchRole,                      ///< int: which of its siblings this is, from 1
        BranchesRole,                    ///< int: how many siblings there are, itself included
        RatingRole,                      ///< int: −1, 0 or 1
        OutsideRole,                     ///< bool: the model no longer sees it
    };
    using State = MessageState;

    using QAbstractListModel::QAbstractListModel;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;
    /// Of FoldedRole and RatingRole only.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    /// All messages, in any order, and the last one of the branch to show. What does not hang together (parents that are not
    /// there, circles) begins the chat instead.
    void load(const QList<MessageRecord>& messages, qint64 leaf);
    QList<MessageRecord> all() const;
    MessageRecord record(qint64 id) const;
    /// The last message shown; 0 = none.
    qint64 leaf() const { return path_.empty() ? 0 : path_.back(); }
    /// The row of a message on the branch shown, or −1.
    int rowOf(qint64 id) const;

    void addUserMessage(const QString& text);
    /// Adds an empty reply, which the next functions fill, whatever is shown meanwhile. `name`: of the model.
    void beginReply(const QString& name);
    /// Goes on with the reply that is shown last.
    void resumeReply();
    void append(const QList<TextPiece>& pieces, double seconds);
    void endReply(State state, const Outcome& outcome, const QStringList& notes);
    /// Shows the first `rows` only; what is added next becomes a branch beside what followed.
    void truncate(int rows);
    /// Shows the branch through the sibling `step` away, down to what was seen of it last.
    void selectBranch(int row, int step);
    /// Shows the branch that leads through a message.
    void showMessage(qint64 id);
    /// Takes a message out with all that follows it on any branch, and returns those; a sibling is shown in its place.
    QList<MessageRecord> remove(int row);
    /// Puts back what remove() gave, and shows it.
    void restore(const QList<MessageRecord>& messages);
    /// The first `messages` of forEngine(), a system prompt not counted, are no longer seen by the model.
    void setOutside(uint messages);

    bool isEmpty() const { return path_.empty(); }
    int lastRow(Role author) const;   ///< −1 = none
    State lastState() const;
    /// What the model is to read: empty replies left out, questions in a row joined, since templates want turns.
    QList<ChatMessage> forEngine(const QString& system_prompt) const;
    int outside() const { return outside_; }   ///< rows that the model no longer sees

Q_SIGNALS:
    /// Is to be saved: at once, or when there is time because more of the same will come.
    void messageChanged(qint64 id, bool at_once);
    /// Another branch is shown, or more of it.
    void leafChanged();

private:
    struct Node {
        MessageRecord m;
        QList<qint64> children = {};
        qint64 chosen = 0;   ///< the child that was seen last
        bool folded = true;
    };
    Node& shown(int row) { return nodes_[path_[static_cast<size_t>(row)]]; }
    const Node& shown(int row) const { return *nodes_.constFind(path_[static_cast<size_t>(row)]); }
    const QList<qint64>& siblings(const Node& node) const;
    QList<qint64>& children(qint64 id) { return id == 0 ? roots_ : nodes_[id].children; }
    void add(MessageRecord message);
    void insert(const QList<MessageRecord>& messages);
    std::vector<qint64> pathThrough(qint64 id) const;
    void show(std::vector<qint64> path);
    void changed(qint64 id, const QList<int>& roles, bool at_once);

    QHash<qint64, Node> nodes_;
    QList<qint64> roots_;   ///< messages that begin the chat
    std::vector<qint64> path_;   ///< what is shown, from the beginning
    qint64 replying_ = 0;
    double resumed_seconds_ = 0;
    uint resumed_tokens_ = 0;
    int outside_ = 0;
};

}  // namespace hearth::ui
