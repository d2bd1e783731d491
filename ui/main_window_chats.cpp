// Which chat the main window shows, and what becomes of the others.
#include <algorithm>

#include "ui/main_window.h"

namespace hearth::ui {

void MainWindow::connectChats() {
    Store& store = context_.store;
    connect(list_, &ChatListPane::chatChosen, this, &MainWindow::openChat);
    connect(list_, &ChatListPane::newChatRequested, this, &MainWindow::newChat);
    connect(list_, &ChatListPane::removeRequested, this, &MainWindow::removeChat);
    connect(&store, &Store::ready, this, &MainWindow::restoreSession);
    connect(&store, &Store::problem, this, [this](const QString& sentence) { pane_->banner().say(sentence); });
    connect(&store, &Store::chatChanged, this, [this](qint64 id) {
        if (id == chat_->id()) list_->setCurrent(id);
    });
    connect(&pane_->view(), &ChatView::saveCodeRequested, this, &MainWindow::saveCode);
    draft_saving_.setSingleShot(true);
    draft_saving_.setInterval(500);
    connect(pane_, &ChatPane::draftChanged, this, [this] { draft_saving_.start(); });
    connect(&draft_saving_, &QTimer::timeout, this, [this] {
        context_.store.setDraft(chat_->id(), pane_->draft());
    });
}

/// The chat of last time, unless somebody has begun to write already.
void MainWindow::restoreSession() {
    Store& store = context_.store;
    if (chat_->id() == 0 && chat_->messages().isEmpty() && pane_->input().toPlainText().isEmpty()) {
        pane_->setDraft(store.draft(0));
        if (const qint64 last = context_.settings.lastChat(); store.chats().contains(last)) openChat(last);
    }
    list_->setCurrent(chat_->id());
}

void MainWindow::openChat(qint64 id, qint64 message) {
    const auto show_message = [this, message] {
        if (message == 0) return;
        chat_->messages().showMessage(message);
        pane_->view().scrollToMessage(chat_->messages().rowOf(message));
    };
    if (chat_->id() == id) return show_message();
    if (!context_.store.chats().contains(id)) return;
    const auto kept = std::ranges::find(replying_, id, [](const auto& chat) { return chat->id(); });
    if (kept != replying_.end()) {
        auto chat = std::move(*kept);
        replying_.erase(kept);
        showChat(std::move(chat));
        return show_message();
    }
    showChat(std::make_unique<Chat>(context_.worker, context_.store, context_.store.chats().value(id)));
    connect(chat_.get(), &Chat::loaded, this, show_message);
}

void MainWindow::showChat(std::unique_ptr<Chat> chat) {
    if (chat_) {
        draft_saving_.stop();
        pane_->cancelEdit();
        context_.store.setDraft(chat_->id(), pane_->draft());
        disconnect(chat_.get(), nullptr, this, nullptr);
    }
    // What is shown no more goes, but for a reply that is still being written.
    std::erase_if(replying_, [](const auto& other) { return !other->replying(); });
    auto before = std::exchange(chat_, std::move(chat));
    pane_->setChat(chat_.get());
    pane_->setDraft(context_.store.draft(chat_->id()));
    connect(chat_.get(), &Chat::changed, this, &MainWindow::refresh);
    connect(chat_.get(), &Chat::replied, this, &MainWindow::tellOfReply);
    applyModelDefaults();
    if (before && before->replying()) replying_.push_back(std::move(before));
    list_->setCurrent(chat_->id());
    refresh();
}

void MainWindow::newChat() {
    if (chat_->id() != 0) showChat(std::make_unique<Chat>(context_.worker, context_.store));
    pane_->setFocus();
}

void MainWindow::removeChat(qint64 id) {
    const QString title = context_.store.chats().value(id).title;
    const bool shown = chat_->id() == id;
    if (shown && chat_->replying()) chat_->stop();
    if (shown) showChat(std::make_unique<Chat>(context_.worker, context_.store));
    std::erase_if(replying_, [id](const auto& chat) { return chat->id() == id; });
    context_.store.removeChat(id);
    pane_->banner().say(tr("“%1” is deleted.").arg(title), tr("Undo"), [this, id, shown] {
        context_.store.restoreChat(id);
        if (shown && chat_->id() == 0) openChat(id);
    });
}

}  // namespace hearth::ui
