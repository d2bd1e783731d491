#include "ui/settings/chat_settings_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QLabel>
#include <QVBoxLayout>

namespace hearth::ui {
namespace {

/// A number whose lowest value means: not chosen.
QDoubleSpinBox* number(const char* name, double most, double step) {
    auto* box = new QDoubleSpinBox;
    box->setObjectName(QLatin1StringView(name));
    box->setDecimals(2);
    box->setRange(-step, most);
    box->setSingleStep(step);
    box->setSpecialValueText(ChatSettingsDialog::tr("as the model"));
    return box;
}

QSpinBox* count(const char* name, int most) {
    auto* box = new QSpinBox;
    box->setObjectName(QLatin1StringView(name));
    box->setRange(-1, most);
    box->setSpecialValueText(ChatSettingsDialog::tr("as the model"));
    return box;
}

std::optional<double> chosen(const QDoubleSpinBox* box) {
    return box->value() < 0 ? std::nullopt : std::optional(box->value());
}

template <typename T>
std::optional<T> chosen(const QSpinBox* box) {
    return box->value() < 0 ? std::nullopt : std::optional<T>(box->value());
}

}  // namespace

ChatSettingsDialog::ChatSettingsDialog(Settings& settings, const QString& system_prompt, const ReplyChoices& choices,
                                       const ModelInfo* model, QWidget* parent)
    : QDialog(parent),
      settings_(settings),
      prompt_(new QPlainTextEdit(system_prompt)),
      delete_preset_(new QPushButton(tr("&Delete"))),
      preset_(new QComboBox),
      thinking_(new QComboBox),
      temperature_(number("temperature", 5, 0.05)),
      top_p_(number("top_p", 1, 0.05)),
      min_p_(number("min_p", 1, 0.01)),
      repeat_penalty_(number("repeat_penalty", 2, 0.05)),
      top_k_(count("top_k", 100000)),
      max_tokens_(count("max_tokens", 1 << 24)),
      for_model_(new QCheckBox(model != nullptr ? tr("For &new chats with %1 too").arg(model->name) : QString())) {
    setObjectName(QStringLiteral("chat_settings_dialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Settings of this chat"));
    prompt_->setTabChangesFocus(true);
    prompt_->setPlaceholderText(tr("For example: You are a patient teacher. Answer in short sentences."));
    auto* label = new QLabel(tr("&System prompt: what the model is told before the chat begins"));
    label->setBuddy(prompt_);
    preset_->setObjectName(QStringLiteral("preset"));
    fillPresets({});
    auto* save = new QPushButton(tr("&Save as …"));
    save->setObjectName(QStringLiteral("save_preset"));
    save->setToolTip(tr("Keeps the system prompt and these numbers under a name."));
    delete_preset_->setObjectName(QStringLiteral("delete_preset"));
    for (QPushButton* button : {save, delete_preset_}) button->setAutoDefault(false);
    connect(save, &QPushButton::clicked, this, &ChatSettingsDialog::askForName);
    connect(delete_preset_, &QPushButton::clicked, this, &ChatSettingsDialog::deletePreset);
    auto* presets = new QHBoxLayout;
    presets->addWidget(preset_, 1);
    presets->addWidget(save);
    presets->addWidget(delete_preset_);
    thinking_->setObjectName(QStringLiteral("thinking"));
    thinking_->addItems({tr("as the model"), tr("on"), tr("off")});
    thinking_->setEnabled(model != nullptr && model->can_think);
    if (!thinking_->isEnabled()) thinking_->setToolTip(tr("The template of this model has no switch for thinking."));
    for_model_->setVisible(model != nullptr);
    for_model_->setObjectName(QStringLiteral("for_model"));

    auto* form = new QFormLayout;
    auto* preset_label = new QLabel(tr("&Preset"));
    preset_label->setBuddy(preset_);
    form->addRow(preset_label, presets);
    form->addRow(tr("&Temperature"), temperature_);
    form->addRow(tr("Top-&p"), top_p_);
    form->addRow(tr("Top-&k"), top_k_);
    form->addRow(tr("&Min-p"), min_p_);
    form->addRow(tr("&Repeat penalty"), repeat_penalty_);
    form->addRow(tr("Most tokens of a &reply"), max_tokens_);
    form->addRow(tr("T&hinking"), thinking_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    auto* column = new QVBoxLayout(this);
    column->addWidget(label);
    column->addWidget(prompt_, 1);
    column->addLayout(form);
    column->addWidget(for_model_);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(preset_, &QComboBox::activated, this, &ChatSettingsDialog::applyPreset);
    show(choices);
    resize(520, 520);
}

void ChatSettingsDialog::show(const ReplyChoices& choices) {
    const auto set = [](QDoubleSpinBox* box, const std::optional<double>& value) {
        box->setValue(value.value_or(box->minimum()));
    };
    set(temperature_, choices.temperature);
    set(top_p_, choices.top_p);
    set(min_p_, choices.min_p);
    set(repeat_penalty_, choices.repeat_penalty);
    top_k_->setValue(choices.top_k.value_or(-1));
    max_tokens_->setValue(static_cast<int>(std::clamp<qint64>(choices.max_tokens.value_or(-1), -1, 1 << 24)));
    thinking_->setCurrentIndex(!choices.thinking ? 0 : *choices.thinking ? 1 : 2);
}

void ChatSettingsDialog::fillPresets(const QString& shown) {
    preset_->clear();
    preset_->addItems({tr("Choose …"), tr("As the model"), tr("Precise"), tr("Balanced"), tr("Creative")});
    const QMap<QString, Settings::Preset> own = settings_.presets();
    if (!own.isEmpty()) preset_->insertSeparator(preset_->count());
    for (const QString& name : own.keys()) preset_->addItem(name, name);
    preset_->setCurrentIndex(std::max(0, preset_->findData(shown.isEmpty() ? QVariant(0) : QVariant(shown))));
    delete_preset_->setEnabled(!preset_->currentData().toString().isEmpty());
}

void ChatSettingsDialog::askForName() {
    auto* dialog = new QInputDialog(this);
    dialog->setObjectName(QStringLiteral("preset_name"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Save a preset"));
    dialog->setLabelText(tr("Its name; one that is there already is replaced:"));
    dialog->setTextValue(preset_->currentData().toString());
    connect(dialog, &QInputDialog::textValueSelected, this, &ChatSettingsDialog::savePreset);
    dialog->open();
}

void ChatSettingsDialog::savePreset(const QString& name) {
    const QString clean = name.simplified().left(80);
    if (clean.isEmpty()) return;
    settings_.setPreset(clean, Settings::Preset{choices().toJson(), systemPrompt().trimmed()});
    fillPresets(clean);
}

void ChatSettingsDialog::deletePreset() {
    settings_.setPreset(preset_->currentData().toString(), std::nullopt);
    fillPresets({});
}

void ChatSettingsDialog::applyPreset(int number) {
    const QString own = preset_->currentData().toString();
    delete_preset_->setEnabled(!own.isEmpty());
    if (!own.isEmpty()) {
        const Settings::Preset preset = settings_.presets().value(own);
        prompt_->setPlainText(preset.system_prompt);
        return show(ReplyChoices::fromJson(preset.choices));
    }
    ReplyChoices next = choices();
    next.top_k = {};
    next.min_p = {};
    next.repeat_penalty = {};
    switch (number) {
        case 1: next.temperature = next.top_p = {}; break;
        case 2: next.temperature = 0.2, next.top_p = 0.9; break;
        case 3: next.temperature = 0.7, next.top_p = 0.95; break;
        case 4: next.temperature = 1.1, next.top_p = 1.0; break;
        default: return;
    }
    show(next);
}

ReplyChoices ChatSettingsDialog::choices() const {
    ReplyChoices c;
    c.temperature = chosen(temperature_);
    c.top_p = chosen(top_p_);
    c.min_p = chosen(min_p_);
    c.repeat_penalty = chosen(repeat_penalty_);
    c.top_k = chosen<int>(top_k_);
    c.max_tokens = chosen<qint64>(max_tokens_);
    if (thinking_->currentIndex() != 0) c.thinking = thinking_->currentIndex() == 1;
    return c;
}

}  // namespace hearth::ui
