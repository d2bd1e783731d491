#include "ui/chat/chat.h"

#include <QDateTime>
#include <QRandomGenerator>

namespace hearth::ui {
namespace {

using State = ConversationModel::State;

constexpr int save_ms = 2000;        ///< at most so much of a reply is lost with the power
constexpr qsizetype title_length = 60;

/// The first line that says something.
QString titleOf(const QString& question) {
    for (const QString& line : question.split(u'\n')) {
        const QString words = line.simplified();
        if (words.isEmpty()) continue;
        return words.size() <= title_length ? words : words.left(title_length - 1).trimmed() + QChar(0x2026);
    }
    return {};
}

}  // namespace

Chat::Chat(Worker& worker, Store& store, const ChatRecord& record, QObject* parent)
    : QObject(parent), worker_(worker), store_(store), record_(record) {
    connect(&worker_, &Worker::textArrived, this, [this](quint64 request, const QList<TextPiece>& pieces) {
        if (request == request_) messages_.append(pieces, worker_.statistics().seconds);
    });
    connect(&worker_, &Worker::finished, this, [this](quint64 request, const Outcome& outcome) {
        QStringList notes = outcome.notes;
        if (outcome.end == End::ContextFull)
            notes << tr("The context is full, so the reply ends here. A new chat begins with an empty one.");
        if (outcome.end == End::TokenLimit) notes << tr("The reply reached its limit of tokens.");
        end(request, State::Complete, outcome, notes);
    });
    connect(&worker_, &Worker::stopped, this, [this](quint64 request, const Outcome& outcome) {
        end(request, State::Stopped, outcome, outcome.notes + QStringList{tr("Stopped.")});
    });
    connect(&worker_, &Worker::failed, this, [this](quint64 request, const Failure& failure) {
        QString sentence = tr("This did not work: %1: %2.").arg(failure.what, failure.why);
        if (!failure.next.isEmpty()) sentence += QStringLiteral(" %1.").arg(failure.next);
        end(request, State::Failed, {}, {sentence});
    });
    connect(&worker_, &Worker::busyChanged, this, &Chat::changed);
    connect(&worker_, &Worker::modelChanged, this, &Chat::changed);
    connect(&messages_, &ConversationModel::messageChanged, this, &Chat::keep);
    connect(&messages_, &ConversationModel::leafChanged, this, &Chat::keepRecord);
    saving_.setSingleShot(true);
    saving_.setInterval(save_ms);
    connect(&saving_, &QTimer::timeout, this, &Chat::keepChanged);
    if (record_.id == 0) return;
    loaded_ = false;
    connect(&store_, &Store::loaded, this, [this](qint64 chat, const QList<MessageRecord>& messages) {
        if (loaded_ || chat != record_.id) return;
        loaded_ = true;
        messages_.load(messages, record_.leaf);
        Q_EMIT changed();
        Q_EMIT loaded();
    });
    connect(&store_, &Store::chatChanged, this, [this](qint64 chat) {
        if (chat != record_.id) return;
        record_.title = store_.chats().value(chat).title;
        record_.folder = store_.chats().value(chat).folder;
        Q_EMIT changed();
    });
    store_.load(record_.id);
}

Chat::~Chat() {
    if (!replying()) return;
    worker_.stop(request_);
    messages_.endReply(State::Interrupted, {}, {});
}

void Chat::keepRecord() {
    record_.leaf = messages_.leaf();
    if (record_.id != 0) store_.save(record_);
}

void Chat::keep(qint64 message, bool at_once) {
    if (at_once) {
        const MessageRecord& m = messages_.record(message);
        if (record_.id == 0) {
            record_.id = newId();
            record_.created = QDateTime::currentMSecsSinceEpoch();
            record_.title = titleOf(m.text);
            store_.setDraft(0, {});   // the draft of the chat without a number was this message's
        }
        record_.updated = QDateTime::currentMSecsSinceEpoch();
        keepRecord();
        unsaved_ = message;
        return keepChanged();
    }
    unsaved_ = message;
    if (!saving_.isActive()) saving_.start();
}

void Chat::keepChanged() {
    saving_.stop();
    if (unsaved_ == 0) return;
    MessageRecord m = messages_.record(std::exchange(unsaved_, 0));
    if (m.id == 0) return;
    m.chat = record_.id;
    store_.save(m);
}

void Chat::setSystemPrompt(const QString& text) {
    record_.system_prompt = text.trimmed();
    keepRecord();
}

void Chat::setChoices(const ReplyChoices& choices) {
    record_.options = choices.toJson();
    keepRecord();
    Q_EMIT changed();
}

bool Chat::canSend() const { return loaded_ && worker_.model().has_value() && !worker_.busy(); }
bool Chat::canRegenerate() const { return canSend() && messages_.lastRow(Role::User) >= 0; }
bool Chat::canEdit() const { return canRegenerate(); }

bool Chat::canResume() const {
    const int row = messages_.rowCount() - 1;
    const State state = messages_.lastState();
    return canSend() && row >= 0 && messages_.lastRow(Role::Assistant) == row && state != State::Complete &&
           !messages_.index(row).data(ConversationModel::TextRole).toString().isEmpty();
}

QString Chat::lastAnswer() const {
    const int row = messages_.lastRow(Role::Assistant);
    return row < 0 ? QString() : messages_.index(row).data(ConversationModel::TextRole).toString();
}

void Chat::send(const QString& text) {
    if (!canSend() || text.trimmed().isEmpty()) return;
    messages_.addUserMessage(text);
    ask();
}

void Chat::edit(int row, const QString& text) {
    if (!canEdit() || text.trimmed().isEmpty()) return;
    messages_.truncate(row);
    send(text);
}

void Chat::regenerate(int row) {
    if (!canRegenerate()) return;
    while (row >= 0 && messages_.index(row).data(ConversationModel::AuthorRole).value<Role>() != Role::User) --row;
    if (row < 0) return;
    messages_.truncate(row + 1);
    ask();
}

void Chat::resume() {
    if (canResume()) ask(true);
}

void Chat::ask(bool resumes) {
    const QList<ChatMessage> prompt = messages_.forEngine(record_.system_prompt);
    if (resumes) messages_.resumeReply();
    else messages_.beginReply(worker_.model()->name);
    stopping_ = false;
    request_ = worker_.reply(
        prompt,
        {.seed = QRandomGenerator::global()->generate64(), .choices = choices().over(defaults_), .resumes = resumes});
    Q_EMIT changed();
}

void Chat::stop() {
    if (!replying()) return;
    worker_.stop(request_);
    stopping_ = true;
    Q_EMIT changed();
}

void Chat::selectBranch(int row, int step) {
    if (!replying()) messages_.selectBranch(row, step);
}

void Chat::remove(int row) {
    if (replying()) return;
    removed_ = messages_.remove(row);
    QList<qint64> ids;
    for (const MessageRecord& m : removed_) ids << m.id;
    store_.removeMessages(ids);
    Q_EMIT changed();
}

void Chat::undoRemove() {
    if (replying()) return;
    messages_.restore(removed_);
    for (MessageRecord& m : removed_) m.chat = record_.id;
    store_.save(std::exchange(removed_, {}));
    Q_EMIT changed();
}

void Chat::end(quint64 request, State state, const Outcome& outcome, const QStringList& notes) {
    if (request != request_) return;
    request_ = 0;
    stopping_ = false;
    messages_.endReply(state, outcome, notes);
    messages_.setOutside(outcome.left_out);
    Q_EMIT changed();
    Q_EMIT replied();
}

}  // namespace hearth::ui
