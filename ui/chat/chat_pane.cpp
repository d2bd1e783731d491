#include "ui/chat/chat_pane.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QShortcut>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/background.h"

namespace hearth::ui {

ChatPane::ChatPane(QWidget* parent)
    : QWidget(parent),
      banner_(new Banner),
      pages_(new QStackedWidget),
      view_(new ChatView),
      empty_title_(new QLabel),
      empty_text_(new QLabel),
      edit_hint_(new QLabel(
          tr("You are changing a message. Sending it begins a branch; what followed stays, one step aside. Esc leaves all as it was."))),
      empty_button_(new QPushButton),
      button_(new QPushButton),
      input_(new InputBox),
      attach_(new QToolButton),
      chips_(new QHBoxLayout),
      below_input_(new QWidget),
      count_(new QLabel) {
    auto* empty = new QWidget;
    empty->setBackgroundRole(QPalette::Base);
    empty->setAutoFillBackground(true);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    empty_title_->setFont(large);
    empty_title_->setAlignment(Qt::AlignCenter);
    empty_text_->setObjectName(QStringLiteral("empty_text"));
    empty_text_->setAlignment(Qt::AlignCenter);
    empty_text_->setWordWrap(true);
    empty_text_->setTextFormat(Qt::PlainText);
    auto* middle = new QVBoxLayout(empty);
    middle->addStretch();
    middle->addWidget(empty_title_);
    middle->addWidget(empty_text_);
    middle->addWidget(empty_button_, 0, Qt::AlignCenter);
    middle->addStretch();
    pages_->addWidget(empty);
    pages_->addWidget(view_);

    edit_hint_->setWordWrap(true);
    edit_hint_->hide();
    button_->setObjectName(QStringLiteral("send_or_stop"));
    button_->setAutoDefault(false);
    button_->setMinimumHeight(input_->minimumHeight());
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    attach_->setObjectName(QStringLiteral("attach"));
    attach_->setText(QStringLiteral("+"));
    attach_->setFixedSize(input_->minimumHeight(), input_->minimumHeight());
    attach_->setToolTip(tr("Attach a text file"));
    attach_->setAccessibleName(tr("Attach a text file"));
    attach_->setFocusPolicy(Qt::TabFocus);
    count_->setObjectName(QStringLiteral("token_count"));
    count_->setForegroundRole(QPalette::PlaceholderText);
    chips_->setContentsMargins(0, 0, 0, 0);
    auto* under = new QHBoxLayout(below_input_);
    under->setContentsMargins(0, 0, 0, 0);
    under->addLayout(chips_);
    under->addStretch();
    under->addWidget(count_);
    below_input_->hide();
    line->addWidget(attach_, 0, Qt::AlignBottom);
    line->addWidget(input_, 1);
    line->addWidget(button_, 0, Qt::AlignBottom);
    auto* below = new QVBoxLayout;
    below->setContentsMargins(12, 8, 12, 10);
    below->addWidget(edit_hint_);
    below->addWidget(below_input_);
    below->addLayout(line);
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(0);
    all->addWidget(banner_);
    all->addWidget(pages_, 1);
    all->addLayout(below);
    setFocusProxy(input_);

    connect(input_, &InputBox::sendRequested, this, &ChatPane::send);
    connect(input_, &InputBox::editLastRequested, this, &ChatPane::editLast);
    connect(input_, &QPlainTextEdit::textChanged, this, [this] {
        refresh();
        if (!editing()) Q_EMIT draftChanged();
    });
    connect(attach_, &QToolButton::clicked, this, &ChatPane::attachRequested);
    connect(input_, &InputBox::longTextPasted, this,
            [this](const QString& text) { attach(tr("pasted text"), text); });
    counting_.setSingleShot(true);
    counting_.setInterval(200);
    connect(input_, &QPlainTextEdit::textChanged, this, [this] { counting_.start(); });
    connect(&counting_, &QTimer::timeout, this, &ChatPane::count);
    connect(view_, &ChatView::editRequested, this, &ChatPane::edit);
    connect(view_, &ChatView::removeRequested, this, &ChatPane::remove);
    connect(view_, &ChatView::regenerateRequested, this, [this](int row) {
        chat_->regenerate(row);
        view_->scrollToEnd();
    });
    connect(view_, &ChatView::resumeRequested, this, [this] { chat_->resume(); });
    connect(view_, &ChatView::branchRequested, this, [this](int row, int step) { chat_->selectBranch(row, step); });
    connect(empty_button_, &QPushButton::clicked, this, &ChatPane::emptyStateButtonClicked);
    connect(button_, &QPushButton::clicked, this, [this] {
        if (chat_ != nullptr && chat_->replying()) stop();
        else send();
    });
    auto* escape = new QShortcut(Qt::Key_Escape, this);
    escape->setEnabled(false);
    connect(escape, &QShortcut::activated, this, &ChatPane::cancelEdit);
    connect(this, &ChatPane::editingChanged, escape, &QShortcut::setEnabled);
    refresh();
}

void ChatPane::setChat(Chat* chat) {
    cancelEdit();
    if (chat_ != nullptr) chat_->disconnect(this);
    chat_ = chat;
    view_->setModel(&chat_->messages());
    connect(chat_, &Chat::changed, this, &ChatPane::refresh);
    connect(&chat_->messages(), &QAbstractItemModel::modelReset, this, &ChatPane::refresh);
#if QT_VERSION >= QT_VERSION_CHECK(6, 8, 0)
    connect(chat_, &Chat::replied, this, [this] {
        if (!QAccessible::isActive()) return;
        QAccessibleAnnouncementEvent said(view_, chat_->lastAnswer());
        QAccessible::updateAccessibility(&said);
    });
#endif
    connect(&chat_->messages(), &QAbstractItemModel::rowsInserted, this, &ChatPane::refresh);
    connect(&chat_->messages(), &QAbstractItemModel::rowsRemoved, this, &ChatPane::refresh);
    refresh();
}

void ChatPane::setEmptyState(const QString& title, const QString& text, const QString& button) {
    empty_title_->setText(title);
    empty_text_->setText(text);
    empty_button_->setText(button);
    empty_button_->setVisible(!button.isEmpty());
}

void ChatPane::refresh() {
    const bool replying = chat_ != nullptr && chat_->replying(), stopping = replying && chat_->stopping();
    button_->setText(stopping ? tr("Stopping …") : replying ? tr("Stop") : tr("Send"));
    button_->setToolTip(replying ? tr("Esc") : tr("Enter"));
    button_->setEnabled(replying ? !stopping
                                 : chat_ != nullptr && chat_->canSend() &&
                                       (!attachments_.isEmpty() || !input_->toPlainText().trimmed().isEmpty()));
    view_->setIdle(chat_ != nullptr && chat_->canSend());
    view_->setResumable(chat_ != nullptr && chat_->canResume());
    pages_->setCurrentIndex(chat_ != nullptr && !(chat_->messages().isEmpty() && chat_->isLoaded()) ? 1 : 0);
}

void ChatPane::send() {
    const QString text = withAttachments(input_->toPlainText().trimmed());
    if (chat_ == nullptr || text.isEmpty() || !chat_->canSend()) return;
    attachments_.clear();
    showAttachments();
    const int row = chat_->messages().rowOf(editing_);
    if (editing()) stopEditing();
    else input_->clear();
    if (row >= 0) chat_->edit(row, text);
    else chat_->send(text);
    view_->scrollToEnd();
    input_->setFocus();
}

/// What is typed, and after it each file in a fence that its own text cannot close.
QString ChatPane::withAttachments(const QString& text) const {
    QString all = text;
    for (const Attachment& a : attachments_) {
        qsizetype longest = 2, run = 0;
        for (const QChar c : a.text) longest = std::max(longest, run = c == u'`' ? run + 1 : 0);
        const QString fence(longest + 1, u'`');
        if (!all.isEmpty()) all += QStringLiteral("\n\n");
        all += QStringLiteral("%1:\n%2\n%3\n%2").arg(a.name, fence, a.text);
    }
    return all;
}

void ChatPane::attach(const QString& name, const QString& text) {
    attachments_.push_back({name, text});
    showAttachments();
}

void ChatPane::showAttachments() {
    while (QLayoutItem* item = chips_->takeAt(0)) {
        item->widget()->deleteLater();
        delete item;
    }
    for (qsizetype i = 0; i < attachments_.size(); ++i) {
        auto* chip = new QPushButton(tr("%1  ✕").arg(attachments_[i].name));
        chip->setObjectName(QStringLiteral("attachment"));
        chip->setToolTip(tr("Take it out again"));
        chip->setAccessibleName(tr("Take out the attachment %1").arg(attachments_[i].name));
        chips_->addWidget(chip);
        connect(chip, &QPushButton::clicked, this, [this, i] {
            attachments_.removeAt(i);
            showAttachments();
        });
    }
    refresh();
    count();
}

void ChatPane::setCounter(const std::function<uint(const QString&)>& counter) {
    counter_ = counter;
    count();
}

void ChatPane::count() {
    const QString text = withAttachments(input_->toPlainText());
    const quint64 request = ++counted_;
    below_input_->setVisible(!attachments_.isEmpty() || (counter_ && !text.isEmpty()));
    count_->clear();
    if (!counter_ || text.isEmpty()) return;
    inBackground<uint>(
        this, [counter = counter_, text] { return counter(text); },
        [this, request](const Result<uint>& tokens) {
            if (request != counted_) return;
            count_->setText(tokens.value == 1 ? tr("1 token") : tr("%1 tokens").arg(QLocale().toString(tokens.value)));
        });
}

void ChatPane::stop() {
    if (chat_ != nullptr) chat_->stop();
}

void ChatPane::regenerate() {
    if (chat_ == nullptr || !chat_->canRegenerate()) return;
    chat_->regenerate(chat_->messages().rowCount() - 1);
    view_->scrollToEnd();
}

void ChatPane::editLast() {
    if (chat_ != nullptr) edit(chat_->messages().lastRow(Role::User));
}

void ChatPane::edit(int row) {
    if (chat_ == nullptr || row < 0 || !chat_->canEdit()) return;
    if (!editing()) draft_ = input_->toPlainText();
    const QModelIndex index = chat_->messages().index(row);
    editing_ = index.data(ConversationModel::IdRole).toLongLong();
    edit_hint_->show();
    input_->setPlainText(index.data(ConversationModel::TextRole).toString());
    input_->moveCursor(QTextCursor::End);
    input_->setFocus();
    Q_EMIT editingChanged(true);
}

void ChatPane::remove(int row) {
    if (chat_ == nullptr || chat_->replying()) return;
    cancelEdit();
    chat_->remove(row);
    banner_->say(tr("The message and what followed it are deleted."), tr("Undo"), [this] { chat_->undoRemove(); });
}

/// Back to what was being written before.
void ChatPane::stopEditing() {
    editing_ = 0;
    edit_hint_->hide();
    setDraft(std::exchange(draft_, {}));
    Q_EMIT editingChanged(false);
}

void ChatPane::cancelEdit() {
    if (editing()) stopEditing();
}

void ChatPane::setDraft(const QString& text) {
    input_->setPlainText(text);
    input_->moveCursor(QTextCursor::End);
}

void ChatPane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    input_->setMaximumGrowth(height() * 2 / 5);
}

}  // namespace hearth::ui
