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
    bool editing() const { return editing_; }

public Q_SLOTS:
    void send();
    void stop();
    void regenerate();
    void editLast();
    void cancelEdit();

Q_SIGNALS:
    void emptyStateButtonClicked();
    void editingChanged(bool editing);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();

    Chat* chat_ = nullptr;
    bool editing_ = false;
    Banner* banner_;
    QStackedWidget* pages_;
    ChatView* view_;
    QLabel *empty_title_, *empty_text_, *edit_hint_;
    QPushButton *empty_button_, *button_;
    InputBox* input_;
};

}  // namespace hearth::ui
