#include "ui/chat/conversation_model.h"

namespace hearth::ui {

int ConversationModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(messages_.size());
}

QVariant ConversationModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Message& m = messages_[static_cast<size_t>(index.row())];
    switch (role) {
        case TextRole: return m.text;
        case AuthorRole: return QVariant::fromValue(m.author);
        case ThinkingRole: return m.thinking;
        case StateRole: return QVariant::fromValue(m.state);
        case FoldedRole: return m.folded;
        case NotesRole: return m.notes;
        case TokensRole: return m.tokens;
        case SecondsRole: return m.seconds;
        case ThinkingSecondsRole: return m.thinking_seconds;
        case SpeedRole: return m.speed;
        case NameRole: return m.name;
        default: return {};
    }
}

QHash<int, QByteArray> ConversationModel::roleNames() const {
    return {{TextRole, "text"},     {AuthorRole, "author"},   {ThinkingRole, "thinking"},
            {StateRole, "state"},   {FoldedRole, "folded"},   {NotesRole, "notes"},
            {TokensRole, "tokens"}, {SecondsRole, "seconds"}, {ThinkingSecondsRole, "thinkingSeconds"},
            {SpeedRole, "speed"},   {NameRole, "name"}};
}

bool ConversationModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (role != FoldedRole || !checkIndex(index, CheckIndexOption::IndexIsValid)) return false;
    messages_[static_cast<size_t>(index.row())].folded = value.toBool();
    changed(index.row(), {FoldedRole});
    return true;
}

void ConversationModel::changed(int row, const QList<int>& roles) { Q_EMIT dataChanged(index(row), index(row), roles); }

void ConversationModel::addUserMessage(const QString& text) {
    const int row = rowCount();
    beginInsertRows({}, row, row);
    messages_.push_back({.author = Role::User, .name = tr("You"), .text = text});
    endInsertRows();
}

void ConversationModel::beginReply(const QString& name) {
    const int row = rowCount();
    beginInsertRows({}, row, row);
    messages_.push_back({.author = Role::Assistant, .name = name, .state = State::Waiting});
    endInsertRows();
}

void ConversationModel::append(const QList<TextPiece>& pieces, double seconds) {
    if (messages_.empty()) return;
    Message& m = messages_.back();
    for (const TextPiece& piece : pieces) {
        if (piece.channel == Channel::Thinking) {
            m.thinking += piece.text;
            m.thinking_seconds = seconds;
        } else {
            m.text += piece.text;
        }
    }
    m.state = State::Streaming;
    changed(rowCount() - 1, {TextRole, ThinkingRole, ThinkingSecondsRole, StateRole});
}

void ConversationModel::endReply(State state, const Outcome& outcome, const QStringList& notes) {
    if (messages_.empty()) return;
    Message& m = messages_.back();
    m.state = state;
    m.notes = notes;
    m.tokens = outcome.statistics.tokens;
    m.seconds = outcome.statistics.seconds;
    m.speed = outcome.statistics.tokens_per_s;
    changed(rowCount() - 1, {StateRole, NotesRole, TokensRole, SecondsRole, SpeedRole});
}

void ConversationModel::truncate(int rows) {
    if (rows >= rowCount()) return;
    beginRemoveRows({}, rows, rowCount() - 1);
    messages_.resize(static_cast<size_t>(rows));
    endRemoveRows();
}

int ConversationModel::lastRow(Role author) const {
    for (int row = rowCount() - 1; row >= 0; --row)
        if (messages_[static_cast<size_t>(row)].author == author) return row;
    return -1;
}

ConversationModel::State ConversationModel::lastState() const {
    return messages_.empty() ? State::Complete : messages_.back().state;
}

QList<ChatMessage> ConversationModel::forEngine(const QString& system_prompt) const {
    QList<ChatMessage> all;
    if (!system_prompt.isEmpty()) all.push_back({Role::System, system_prompt});
    for (const Message& m : messages_) {
        if (m.author == Role::Assistant && m.text.isEmpty()) continue;
        if (!all.isEmpty() && all.back().role == m.author) all.back().text += QStringLiteral("\n\n") + m.text;
        else all.push_back({m.author, m.text, m.thinking});
    }
    return all;
}

QString ConversationModel::asMarkdown() const {
    QString all;
    for (const Message& m : messages_) all += QStringLiteral("## %1\n\n%2\n\n").arg(m.name, m.text.trimmed());
    return all;
}

}  // namespace hearth::ui
