#include "ui/worker/types.h"

#include <QJsonDocument>
#include <QJsonObject>

namespace hearth::ui {
namespace {

/// Calls `visit` with the name and place of each choice, so that reading, writing and merging agree on what there is.
template <typename Choices, typename Visit>
void forEach(Choices& choices, const Visit& visit) {
    visit(QLatin1StringView("temperature"), choices.temperature);
    visit(QLatin1StringView("top_p"), choices.top_p);
    visit(QLatin1StringView("min_p"), choices.min_p);
    visit(QLatin1StringView("repeat_penalty"), choices.repeat_penalty);
    visit(QLatin1StringView("top_k"), choices.top_k);
    visit(QLatin1StringView("max_tokens"), choices.max_tokens);
    visit(QLatin1StringView("thinking"), choices.thinking);
}

void read(const QJsonValue& value, std::optional<double>& to) {
    if (value.isDouble()) to = value.toDouble();
}
void read(const QJsonValue& value, std::optional<int>& to) {
    if (value.isDouble()) to = value.toInt();
}
void read(const QJsonValue& value, std::optional<qint64>& to) {
    if (value.isDouble()) to = value.toInteger();
}
void read(const QJsonValue& value, std::optional<bool>& to) {
    if (value.isBool()) to = value.toBool();
}

}  // namespace

QString ReplyChoices::toJson() const {
    QJsonObject object;
    forEach(*this, [&object](QLatin1StringView name, const auto& choice) {
        if (choice) object.insert(name, QJsonValue(*choice));
    });
    return object.isEmpty() ? QString() : QString::fromUtf8(QJsonDocument(object).toJson(QJsonDocument::Compact));
}

ReplyChoices ReplyChoices::fromJson(const QString& json) {
    const QJsonObject object = QJsonDocument::fromJson(json.toUtf8()).object();
    ReplyChoices choices;
    forEach(choices, [&object](QLatin1StringView name, auto& choice) { read(object.value(name), choice); });
    return choices;
}

ReplyChoices ReplyChoices::over(const ReplyChoices& others) const {
    QJsonObject all = QJsonDocument::fromJson(others.toJson().toUtf8()).object();
    const QJsonObject own = QJsonDocument::fromJson(toJson().toUtf8()).object();
    for (auto it = own.begin(); it != own.end(); ++it) all.insert(it.key(), it.value());
    return fromJson(QString::fromUtf8(QJsonDocument(all).toJson()));
}

}  // namespace hearth::ui
