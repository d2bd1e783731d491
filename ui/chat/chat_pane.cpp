#include "ui/chat/chat_pane.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QShortcut>
#include <QVBoxLayout>

namespace hearth::ui {

ChatPane::ChatPane(QWidget* parent)
    : QWidget(parent),
      banner_(new Banner),
      pages_(new QStackedWidget),
      view_(new ChatView),
      empty_title_(new QLabel),
      empty_text_(new QLabel),
      edit_hint_(new QLabel(
          tr("You are changing your last message; sending it replaces what followed. Esc leaves it as it was."))),
      empty_button_(new QPushButton),
      button_(new QPushButton),
      input_(new InputBox) {
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
    line->addWidget(input_, 1);
    line->addWidget(button_, 0, Qt::AlignBottom);
    auto* below = new QVBoxLayout;
    below->setContentsMargins(12, 8, 12, 10);
    below->addWidget(edit_hint_);
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
    connect(input_, &QPlainTextEdit::textChanged, this, &ChatPane::refresh);
    connect(view_, &ChatView::editRequested, this, &ChatPane::editLast);
    connect(view_, &ChatView::regenerateRequested, this, &ChatPane::regenerate);
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
                                 : chat_ != nullptr && chat_->canSend() && !input_->toPlainText().trimmed().isEmpty());
    view_->setIdle(chat_ != nullptr && chat_->canSend());
    pages_->setCurrentIndex(chat_ != nullptr && !chat_->messages().isEmpty() ? 1 : 0);
}

void ChatPane::send() {
    const QString text = input_->toPlainText().trimmed();
    if (chat_ == nullptr || text.isEmpty() || !chat_->canSend()) return;
    const bool replace = editing_;
    editing_ = false;
    input_->clear();
    edit_hint_->hide();
    if (replace) {
        Q_EMIT editingChanged(false);
        chat_->replaceLastQuestion(text);
    } else {
        chat_->send(text);
    }
    view_->scrollToEnd();
    input_->setFocus();
}

void ChatPane::stop() {
    if (chat_ != nullptr) chat_->stop();
}

void ChatPane::regenerate() {
    if (chat_ == nullptr || !chat_->canRegenerate()) return;
    chat_->regenerate();
    view_->scrollToEnd();
}

void ChatPane::editLast() {
    if (chat_ == nullptr || !chat_->canEdit() || editing_) return;
    editing_ = true;
    edit_hint_->show();
    input_->setPlainText(chat_->lastQuestion());
    input_->moveCursor(QTextCursor::End);
    input_->setFocus();
    Q_EMIT editingChanged(true);
}

void ChatPane::cancelEdit() {
    if (!editing_) return;
    editing_ = false;
    edit_hint_->hide();
    input_->clear();
    Q_EMIT editingChanged(false);
}

void ChatPane::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    input_->setMaximumGrowth(height() * 2 / 5);
}

}  // namespace hearth::ui
