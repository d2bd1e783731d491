#pragma once

#include <QObject>
#include <optional>

#include "ui/worker/machine.h"

namespace hearth::ui {

/// What choices would lead to.
struct Outlook {
    Prediction planned;     ///< with every device that can be planned for
    Prediction executed;    ///< with what the engine executes on today
};

/// Predicts on another thread, one question at a time; while one is being answered only the newest of the others is kept.
class Predictor : public QObject {
    Q_OBJECT

public:
    explicit Predictor(Machine& machine, QObject* parent = nullptr) : QObject(parent), machine_(machine) {}

    void ask(const QString& path, const PlacementChoices& choices, Machine::Effort effort);
    bool busy() const { return busy_; }

Q_SIGNALS:
    void predicted(const hearth::ui::Outlook& outlook);

private:
    struct Question {
        QString path;
        PlacementChoices choices;
        Machine::Effort effort;
    };
    void answer(const Question& question);

    Machine& machine_;
    std::optional<Question> waiting_;
    bool busy_ = false;
};

}  // namespace hearth::ui
