#include "ui/chat/chat.h"

#include <QRandomGenerator>

namespace hearth::ui {
namespace {

using State = ConversationModel::State;

}  // namespace

Chat::Chat(Worker& worker, QObject* parent) : QObject(parent), worker_(worker) {
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
}

void Chat::setSystemPrompt(const QString& text) { system_prompt_ = text.trimmed(); }

bool Chat::canSend() const { return worker_.model().has_value() && !worker_.busy(); }
bool Chat::canRegenerate() const { return canSend() && messages_.lastRow(Role::User) >= 0; }
bool Chat::canEdit() const { return canRegenerate(); }

QString Chat::lastQuestion() const {
    const int row = messages_.lastRow(Role::User);
    return row < 0 ? QString() : messages_.index(row).data(ConversationModel::TextRole).toString();
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

void Chat::replaceLastQuestion(const QString& text) {
    if (!canEdit() || text.trimmed().isEmpty()) return;
    messages_.truncate(messages_.lastRow(Role::User));
    send(text);
}

void Chat::regenerate() {
    if (!canRegenerate()) return;
    messages_.truncate(messages_.lastRow(Role::User) + 1);
    ask();
}

void Chat::ask() {
    const QList<ChatMessage> prompt = messages_.forEngine(system_prompt_);
    messages_.beginReply(worker_.model()->name);
    stopping_ = false;
    request_ = worker_.reply(prompt, {.seed = QRandomGenerator::global()->generate64()});
    Q_EMIT changed();
}

void Chat::stop() {
    if (!replying()) return;
    worker_.stop(request_);
    stopping_ = true;
    Q_EMIT changed();
}

void Chat::end(quint64 request, State state, const Outcome& outcome, const QStringList& notes) {
    if (request != request_) return;
    request_ = 0;
    stopping_ = false;
    messages_.endReply(state, outcome, notes);
    Q_EMIT changed();
    Q_EMIT replied();
}

}  // namespace hearth::ui
