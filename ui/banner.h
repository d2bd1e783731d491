#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <functional>

namespace hearth::ui {

/// A bar above the chat that says in words what went wrong and what can be done about it. Hidden until it has something to say.
class Banner : public QFrame {
    Q_OBJECT

public:
    explicit Banner(QWidget* parent = nullptr);

    /// `action` may be empty; then there is no button.
    void say(const QString& sentence, const QString& action = {}, const std::function<void()>& act = {});
    QString text() const { return label_->text(); }

private:
    QLabel* label_;
    QPushButton *action_, *close_;
    std::function<void()> act_;
};

}  // namespace hearth::ui
