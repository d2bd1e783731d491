#pragma once

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QWidget>
#include <functional>

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
    /// Puts a text into the next message, as a file of that name.
    void attach(const QString& name, const QString& text);
    int attachments() const { return static_cast<int>(attachments_.size()); }
    /// Counts the tokens of texts, from any thread; empty = nobody can.
    void setCounter(const std::function<uint(const QString&)>& counter);
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
    void attachRequested();

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void stopEditing();
    void showAttachments();
    void count();
    QString withAttachments(const QString& text) const;

    struct Attachment {
        QString name, text;
    };

    Chat* chat_ = nullptr;
    qint64 editing_ = 0;   ///< the message that is being changed, or 0
    QString draft_;        ///< what stood in the box before that
    Banner* banner_;
    QStackedWidget* pages_;
    ChatView* view_;
    QLabel *empty_title_, *empty_text_, *edit_hint_;
    QPushButton *empty_button_, *button_;
    InputBox* input_;
    QToolButton* attach_;
    QHBoxLayout* chips_;
    QWidget* below_input_;
    QLabel* count_;
    QTimer counting_;
    quint64 counted_ = 0;   ///< the newest request to count
    std::function<uint(const QString&)> counter_;
    QList<Attachment> attachments_;
};

}  // namespace hearth::ui
