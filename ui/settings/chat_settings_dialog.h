#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>

#include "ui/settings/settings.h"
#include "ui/worker/types.h"

namespace hearth::ui {

/// What a chat tells its model beforehand, and how replies are chosen.
class ChatSettingsDialog : public QDialog {
    Q_OBJECT

public:
    /// `model`: what is loaded, or null.
    ChatSettingsDialog(Settings& settings, const QString& system_prompt, const ReplyChoices& choices,
                       const ModelInfo* model, QWidget* parent = nullptr);

    QString systemPrompt() const { return prompt_->toPlainText(); }
    ReplyChoices choices() const;
    /// Whether the same is to hold for new chats with this model.
    bool forModel() const { return for_model_->isChecked(); }

private:
    void show(const ReplyChoices& choices);
    void fillPresets(const QString& shown);
    void applyPreset(int number);
    void askForName();
    void savePreset(const QString& name);
    void deletePreset();

    Settings& settings_;
    QPlainTextEdit* prompt_;
    QPushButton* delete_preset_;
    QComboBox *preset_, *thinking_;
    QDoubleSpinBox *temperature_, *top_p_, *min_p_, *repeat_penalty_;
    QSpinBox *top_k_, *max_tokens_;
    QCheckBox* for_model_;
};

}  // namespace hearth::ui
