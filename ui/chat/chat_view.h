#pragma once

#include <QAbstractItemModel>
#include <QAbstractScrollArea>
#include <QPointer>
#include <QToolButton>
#include <vector>

#include "ui/chat/message_item.h"

namespace hearth::ui {

/// Shows the messages of a ConversationModel. Only what is on the screen is laid out; it follows the end of the text while
/// that is in sight, and otherwise keeps what is being read where it is.
class ChatView : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit ChatView(QWidget* parent = nullptr);

    void setModel(QAbstractItemModel* model);
    QAbstractItemModel* model() const { return model_; }
    /// Whether nothing is being answered: only then may questions be edited and answered again.
    void setIdle(bool idle);
    /// Whether the last reply was cut off and can go on.
    void setResumable(bool resumable);
    void scrollToMessage(int row);
    void scrollToEnd();
    bool following() const { return following_; }
    QString selectedText() const;
    bool hasSelection() const { return anchor_ != cursor_; }
    void selectAll();
    /// Where the top of a message is, in pixels of the viewport; for tests.
    double messageTop(int row) const;
    /// Where a message is, in pixels of the viewport.
    QRectF messageRect(int row) const;
    /// The last code block of the newest reply that has one.
    QString lastCode() const;

public Q_SLOTS:
    void copy();
    /// Asks for another branch of the lowest message in sight that has some.
    void stepBranch(int step);

Q_SIGNALS:
    void editRequested(int row);
    void regenerateRequested(int row);
    void resumeRequested();
    void branchRequested(int row, int step);
    void removeRequested(int row);
    void saveCodeRequested(const QString& code, const QString& language);
    void linkActivated(const QString& target);
    void copied(const QString& what);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    /// A place in the text of all messages.
    struct Place {
        int row = -1;
        MessageItem::Place in;
        auto operator<=>(const Place&) const = default;
    };
    struct Anchor {
        int row = -1;
        double offset = 0;  ///< of the viewport's top below the message's top
    };
    void rowsInserted(int first, int last);
    void rowsRemoved(int first, int last);
    void reset();
    void restyle();
    /// Lays out what is in sight and sets the scroll bar, holding `anchor` (or the end, when following).
    /// `dirty_from`: what stands above, in pixels from the top of all messages, looks as before and has not moved among them.
    void relayout(const Anchor& anchor, double dirty_from = 0);
    void rowsChanged(int first, int last);
    void repaintFrom(double dirty_from, int scrolled_from);
    int currentRow() const;
    Anchor anchor() const;
    int rowAt(double y) const;
    void stack();
    bool layOutVisible();
    double viewTop() const;
    double left() const;
    QPointF inItem(int row, const QPointF& viewport_point) const;
    MessageItem::Options options(int row) const;
    bool selectionOf(int row, MessageItem::Selection& selection) const;
    Place placeAt(const QPoint& point) const;
    void act(int row, const MessageItem::Hit& hit);
    void copyText(const QString& text, const QString& what);
    void showNewerButton();

    QPointer<QAbstractItemModel> model_;
    struct Row {
        MessageItem item;
        double top = 0;
    };
    mutable std::vector<Row> rows_;  ///< mutable: copying lays out what had been released
    ChatStyle style_;
    bool following_ = true, idle_ = true, resumable_ = false, arranging_ = false, selecting_ = false;
    int hovered_ = -1;
    Place anchor_, cursor_;
    QPoint pressed_;
    QToolButton* newer_;
};

}  // namespace hearth::ui
