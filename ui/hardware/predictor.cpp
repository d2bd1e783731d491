#include "ui/hardware/predictor.h"

#include "ui/background.h"

namespace hearth::ui {

void Predictor::ask(const QString& path, const PlacementChoices& choices, Machine::Effort effort) {
    const Question question{path, choices, effort};
    if (busy_) waiting_ = question;
    else answer(question);
}

void Predictor::answer(const Question& question) {
    busy_ = true;
    Machine& machine = machine_;
    inBackground<Outlook>(
        this,
        [&machine, question] {
            Outlook outlook;
            outlook.planned = machine.predict(question.path, question.choices, question.effort, false);
            outlook.executed = machine.predict(question.path, question.choices, question.effort, true);
            return outlook;
        },
        [this](const Result<Outlook>& result) {
            busy_ = false;
            if (waiting_) {
                const Question next = *std::exchange(waiting_, std::nullopt);
                answer(next);
            }
            Q_EMIT predicted(result.value);
        });
}

}  // namespace hearth::ui
