#include "ui/worker/machine.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

namespace hearth::ui {
namespace {

struct PredictionWords {
    Q_DECLARE_TR_FUNCTIONS(Prediction)
};

/// Few names, so that a bar can be read.
QString shownName(const QString& what) {
    static const QStringList weights = {QStringLiteral("attention"), QStringLiteral("norms"),
                                        QStringLiteral("predictor"), QStringLiteral("output"),
                                        QStringLiteral("embedding"), QStringLiteral("feed-forward"),
                                        QStringLiteral("experts")};
    if (weights.contains(what)) return PredictionWords::tr("weights");
    if (what == QStringLiteral("KV cache")) return PredictionWords::tr("KV cache");
    if (what == QStringLiteral("driver")) return PredictionWords::tr("driver");
    if (what == QStringLiteral("row-per-neuron copies")) return PredictionWords::tr("copies by neuron");
    return PredictionWords::tr("scratch");
}

QJsonArray listOf(const QStringList& texts) { return QJsonArray::fromStringList(texts); }

QStringList textsOf(const QJsonValue& list) {
    QStringList texts;
    for (const QJsonValue& one : list.toArray())
        if (one.isString()) texts << one.toString();
    return texts;
}

}  // namespace

QString PlacementChoices::toJson() const {
    QJsonObject sizes;
    for (auto it = budgets.begin(); it != budgets.end(); ++it) sizes.insert(it.key(), static_cast<qint64>(it.value()));
    const QJsonObject all{{QStringLiteral("ctx"), static_cast<qint64>(ctx)},
                          {QStringLiteral("budgets"), sizes},
                          {QStringLiteral("order"), listOf(order)},
                          {QStringLiteral("unused"), listOf(unused)}};
    return QString::fromUtf8(QJsonDocument(all).toJson(QJsonDocument::Compact));
}

PlacementChoices PlacementChoices::fromJson(const QString& json) {
    const QJsonObject all = QJsonDocument::fromJson(json.toUtf8()).object();
    PlacementChoices choices;
    choices.ctx = static_cast<uint>(std::clamp<qint64>(all[QStringLiteral("ctx")].toInteger(), 0, 1 << 28));
    const QJsonObject sizes = all[QStringLiteral("budgets")].toObject();
    for (auto it = sizes.begin(); it != sizes.end(); ++it)
        if (const qint64 bytes = it.value().toInteger(-1); bytes >= 0)
            choices.budgets.insert(it.key(), static_cast<quint64>(bytes));
    choices.order = textsOf(all[QStringLiteral("order")]);
    choices.unused = textsOf(all[QStringLiteral("unused")]);
    return choices;
}

quint64 Prediction::bytes(const QString& device) const {
    quint64 sum = 0;
    for (const PlannedPart& part : parts)
        if (part.device == device) sum += part.bytes;
    return sum;
}

QList<PlannedPart> Prediction::named(const QString& device) const {
    QList<PlannedPart> all;
    for (const PlannedPart& part : parts) {
        if (part.device != device) continue;
        const QString name = shownName(part.what);
        const auto same = std::ranges::find(all, name, &PlannedPart::what);
        if (same != all.end()) same->bytes += part.bytes;
        else all.push_back({name, device, part.bytes});
    }
    std::ranges::stable_sort(all, std::greater(), &PlannedPart::bytes);
    return all;
}

}  // namespace hearth::ui
