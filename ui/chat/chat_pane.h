#pragma once

#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QWidget>

#include "ui/banner.h"
#include "ui/chat/chat.h"
#include "ui/chat/chat_view.h"
#include "ui/chat/input_box.h"

namespace hearth::ui {

/// A chat on the screen: notices, messages, the box to write in, and one button that sends or stops.
class ChatPane : public QWidget {
    Q_OBJECT

public:
    explicit ChatPane(QWidget* parent = nullptr);

    void setChat(Chat* chat);
    /// What stands in the place of messages while there are none; `button` empty = none.
    void setEmptyState(const QString& title, const QString& text, const QString& button);

    ChatView& view() { return *view_; }
    InputBox& input() { return *input_; }
    Banner& banner() { return *banner_; }
    bool editing() const { return editing_ != 0; }
    /// What is written and not sent, unless it is a change of an old message.
    QString draft() const { return editing() ? draft_ : input_->toPlainText(); }
    void setDraft(const QString& text);

public Q_SLOTS:
    void send();
    void stop();
    void regenerate();
    void editLast();
    void edit(int row);
    void remove(int row);
    void cancelEdit();

Q_SIGNALS:
    void emptyStateButtonClicked();
    void editingChanged(bool editing);
    void draftChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void stopEditing();

    Chat* chat_ = nullptr;
    qint64 editing_ = 0;   ///< the message that is being changed, or 0
    QString draft_;        ///< what stood in the box before that
    Banner* banner_;
    QStackedWidget* pages_;
    ChatView* view_;
    QLabel *empty_title_, *empty_text_, *edit_hint_;
    QPushButton *empty_button_, *button_;
    InputBox* input_;
};

}  // namespace hearth::ui
