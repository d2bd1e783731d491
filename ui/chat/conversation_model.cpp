#include "ui/chat/conversation_model.h"

#include <QDateTime>
#include <QSet>
#include <algorithm>

namespace hearth::ui {

int ConversationModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(path_.size());
}

QVariant ConversationModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Node& node = shown(index.row());
    const MessageRecord& m = node.m;
    switch (role) {
        case TextRole: return m.text;
        case AuthorRole: return QVariant::fromValue(m.role);
        case ThinkingRole: return m.thinking;
        case StateRole: return QVariant::fromValue(m.state);
        case FoldedRole: return node.folded;
        case NotesRole: return m.notes;
        case TokensRole: return m.tokens;
        case SecondsRole: return m.seconds;
        case ThinkingSecondsRole: return m.thinking_seconds;
        case SpeedRole: return m.speed;
        case NameRole: return m.role == Role::User && m.author.isEmpty() ? tr("You") : m.author;
        case IdRole: return m.id;
        case BranchRole: return static_cast<int>(siblings(node).indexOf(m.id)) + 1;
        case BranchesRole: return static_cast<int>(siblings(node).size());
        case RatingRole: return m.rating;
        case OutsideRole: return index.row() < outside_;
        default: return {};
    }
}

QHash<int, QByteArray> ConversationModel::roleNames() const {
    return {{TextRole, "text"},         {AuthorRole, "author"},   {ThinkingRole, "thinking"},
            {StateRole, "state"},       {FoldedRole, "folded"},   {NotesRole, "notes"},
            {TokensRole, "tokens"},     {SecondsRole, "seconds"}, {ThinkingSecondsRole, "thinkingSeconds"},
            {SpeedRole, "speed"},       {NameRole, "name"},       {IdRole, "id"},
            {BranchRole, "branch"},     {BranchesRole, "branches"}, {RatingRole, "rating"},
            {OutsideRole, "outside"}};
}

bool ConversationModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return false;
    Node& node = shown(index.row());
    if (role == FoldedRole) {
        node.folded = value.toBool();
        Q_EMIT dataChanged(index, index, {FoldedRole});
        return true;
    }
    if (role != RatingRole) return false;
    node.m.rating = std::clamp(value.toInt(), -1, 1);
    changed(node.m.id, {RatingRole}, true);
    return true;
}

void ConversationModel::changed(qint64 id, const QList<int>& roles, bool at_once) {
    if (const int row = rowOf(id); row >= 0) Q_EMIT dataChanged(index(row), index(row), roles);
    Q_EMIT messageChanged(id, at_once);
}

const QList<qint64>& ConversationModel::siblings(const Node& node) const {
    return node.m.parent == 0 ? roots_ : nodes_.constFind(node.m.parent)->children;
}

int ConversationModel::rowOf(qint64 id) const {
    // What changes is nearly always the last.
    const auto at = std::find(path_.rbegin(), path_.rend(), id);
    return static_cast<int>(path_.rend() - at) - 1;
}

void ConversationModel::insert(const QList<MessageRecord>& messages) {
    for (const MessageRecord& m : messages)
        if (m.id > 0 && !nodes_.contains(m.id)) nodes_.insert(m.id, {m});
    for (const MessageRecord& m : messages) {
        const auto at = nodes_.find(m.id);
        if (at == nodes_.end() || children(0).contains(m.id)) continue;
        // A message is younger than the one it follows, so circles cannot come from this program.
        qint64& parent = at->m.parent;
        if (parent >= m.id || (parent != 0 && !nodes_.contains(parent))) parent = 0;
        QList<qint64>& beside = children(parent);
        const auto place = std::lower_bound(beside.begin(), beside.end(), m.id);
        if (place == beside.end() || *place != m.id) beside.insert(place, m.id);
    }
}

void ConversationModel::load(const QList<MessageRecord>& messages, qint64 leaf) {
    beginResetModel();
    nodes_.clear();
    roots_.clear();
    path_.clear();
    replying_ = 0;
    outside_ = 0;
    insert(messages);
    if (!nodes_.contains(leaf)) {
        leaf = 0;
        for (auto it = nodes_.cbegin(); it != nodes_.cend(); ++it) leaf = std::max(leaf, it.key());
    }
    path_ = pathThrough(leaf);
    for (size_t i = 1; i < path_.size(); ++i) nodes_[path_[i - 1]].chosen = path_[i];
    endResetModel();
}

QList<MessageRecord> ConversationModel::all() const {
    QList<MessageRecord> messages;
    for (const Node& node : nodes_) messages.push_back(node.m);
    std::ranges::sort(messages, {}, &MessageRecord::id);
    return messages;
}

MessageRecord ConversationModel::record(qint64 id) const { return nodes_.value(id).m; }

/// From the beginning to `id`, and on to what was seen last below it.
std::vector<qint64> ConversationModel::pathThrough(qint64 id) const {
    std::vector<qint64> path;
    for (qint64 at = id; at != 0; at = nodes_.constFind(at)->m.parent) path.push_back(at);
    std::ranges::reverse(path);
    while (!path.empty()) {
        const Node& last = *nodes_.constFind(path.back());
        if (last.children.isEmpty()) break;
        path.push_back(last.children.contains(last.chosen) ? last.chosen : last.children.back());
    }
    return path;
}

/// Rows that stay the same stay; the rest is exchanged.
void ConversationModel::show(std::vector<qint64> path) {
    const auto differs = std::ranges::mismatch(path_, path);
    const auto same = static_cast<int>(differs.in1 - path_.begin());
    truncate(same);
    if (static_cast<size_t>(same) < path.size()) {
        beginInsertRows({}, same, static_cast<int>(path.size()) - 1);
        path_ = std::move(path);
        for (size_t i = 1; i < path_.size(); ++i) nodes_[path_[i - 1]].chosen = path_[i];
        endInsertRows();
    }
    Q_EMIT leafChanged();
}

void ConversationModel::add(MessageRecord message) {
    message.id = newId();
    message.parent = leaf();
    message.created = QDateTime::currentMSecsSinceEpoch();
    insert({message});
    const int row = rowCount();
    beginInsertRows({}, row, row);
    if (message.parent != 0) nodes_[message.parent].chosen = message.id;
    path_.push_back(message.id);
    endInsertRows();
    Q_EMIT messageChanged(message.id, true);
    Q_EMIT leafChanged();
}

void ConversationModel::addUserMessage(const QString& text) { add({.role = Role::User, .text = text}); }

void ConversationModel::beginReply(const QString& name) {
    add({.role = Role::Assistant, .state = State::Waiting, .author = name});
    replying_ = leaf();
    resumed_seconds_ = 0;
    resumed_tokens_ = 0;
}

void ConversationModel::resumeReply() {
    if (path_.empty()) return;
    replying_ = leaf();
    MessageRecord& m = nodes_[replying_].m;
    resumed_seconds_ = m.seconds;
    resumed_tokens_ = m.tokens;
    m.state = State::Streaming;
    m.notes.clear();
    changed(replying_, {StateRole, NotesRole}, true);
}

void ConversationModel::append(const QList<TextPiece>& pieces, double seconds) {
    const auto at = nodes_.find(replying_);
    if (at == nodes_.end()) return;
    MessageRecord& m = at->m;
    for (const TextPiece& piece : pieces) {
        if (piece.channel == Channel::Thinking) {
            m.thinking += piece.text;
            m.thinking_seconds = seconds;
        } else {
            m.text += piece.text;
        }
    }
    m.state = State::Streaming;
    changed(replying_, {TextRole, ThinkingRole, ThinkingSecondsRole, StateRole}, false);
}

void ConversationModel::endReply(State state, const Outcome& outcome, const QStringList& notes) {
    const auto at = nodes_.find(replying_);
    if (at == nodes_.end()) return;
    MessageRecord& m = at->m;
    m.state = state;
    m.notes = notes;
    m.tokens = outcome.statistics.tokens + resumed_tokens_;
    m.seconds = outcome.statistics.seconds + resumed_seconds_;
    m.speed = outcome.statistics.tokens_per_s;
    changed(std::exchange(replying_, 0), {StateRole, NotesRole, TokensRole, SecondsRole, SpeedRole}, true);
}

void ConversationModel::truncate(int rows) {
    if (rows >= rowCount()) return;
    beginRemoveRows({}, rows, rowCount() - 1);
    path_.resize(static_cast<size_t>(rows));
    endRemoveRows();
}

void ConversationModel::selectBranch(int row, int step) {
    if (row < 0 || row >= rowCount()) return;
    const QList<qint64>& all = siblings(shown(row));
    const qsizetype to = all.indexOf(path_[static_cast<size_t>(row)]) + step;
    if (to >= 0 && to < all.size()) show(pathThrough(all[to]));
}

void ConversationModel::showMessage(qint64 id) {
    if (nodes_.contains(id) && rowOf(id) < 0) show(pathThrough(id));
}

QList<MessageRecord> ConversationModel::remove(int row) {
    if (row < 0 || row >= rowCount()) return {};
    const qint64 id = path_[static_cast<size_t>(row)];
    const qint64 parent = nodes_[id].m.parent;
    QList<qint64> ids = {id};
    for (qsizetype i = 0; i < ids.size(); ++i) ids += nodes_[ids[i]].children;
    truncate(row);
    QList<MessageRecord> gone;
    for (const qint64 one : ids) gone << nodes_.take(one).m;
    if (ids.contains(replying_)) replying_ = 0;
    QList<qint64>& beside = children(parent);
    beside.removeOne(id);
    if (!beside.isEmpty()) show(pathThrough(beside.back()));
    else Q_EMIT leafChanged();
    return gone;
}

void ConversationModel::restore(const QList<MessageRecord>& messages) {
    if (messages.isEmpty()) return;
    insert(messages);
    show(pathThrough(messages.first().id));
}

void ConversationModel::setOutside(uint messages) {
    int rows = 0;
    Role before = Role::System;
    for (uint seen = 0; rows < rowCount(); ++rows) {
        const MessageRecord& m = shown(rows).m;
        if (m.role == Role::Assistant && m.text.isEmpty()) continue;
        if (m.role != before && seen++ == messages) break;
        before = m.role;
    }
    if (messages == 0) rows = 0;
    if (rows == outside_) return;
    outside_ = rows;
    if (rowCount() > 0) Q_EMIT dataChanged(index(0), index(rowCount() - 1), {OutsideRole});
}

int ConversationModel::lastRow(Role author) const {
    for (int row = rowCount() - 1; row >= 0; --row)
        if (shown(row).m.role == author) return row;
    return -1;
}

ConversationModel::State ConversationModel::lastState() const {
    return path_.empty() ? State::Complete : shown(rowCount() - 1).m.state;
}

QList<ChatMessage> ConversationModel::forEngine(const QString& system_prompt) const {
    QList<ChatMessage> all;
    if (!system_prompt.isEmpty()) all.push_back({Role::System, system_prompt});
    for (int row = 0; row < rowCount(); ++row) {
        const MessageRecord& m = shown(row).m;
        if (m.role == Role::Assistant && m.text.isEmpty()) continue;
        if (!all.isEmpty() && all.back().role == m.role) all.back().text += QStringLiteral("\n\n") + m.text;
        else all.push_back({m.role, m.text, m.thinking});
    }
    return all;
}

}  // namespace hearth::ui
