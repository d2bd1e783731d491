#pragma once

#include <QPlainTextEdit>

#include "ui/settings/settings.h"

namespace hearth::ui {

/// Where a message is written: grows with its text up to a height; one key sends, the others begin a line. While an
/// input method composes, Enter belongs to it.
class InputBox : public QPlainTextEdit {
    Q_OBJECT

public:
    explicit InputBox(QWidget* parent = nullptr);
    void setMaximumGrowth(int pixels);
    void setSendKey(SendKey key) { send_key_ = key; }

Q_SIGNALS:
    void sendRequested();
    /// The up arrow in an empty box.
    void editLastRequested();
    void filesDropped(const QStringList& paths);
    /// More was pasted than anybody wants to see in the box.
    void longTextPasted(const QString& text);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void inputMethodEvent(QInputMethodEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool canInsertFromMimeData(const QMimeData* source) const override;
    void insertFromMimeData(const QMimeData* source) override;

private:
    void fit();

    SendKey send_key_ = SendKey::Enter;
    bool composing_ = false;
    int most_ = 200;
};

}  // namespace hearth::ui
