// What the library remembers from one start to the next: a file of JSON, which is not trusted to make sense.
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>

#include "ui/library/library.h"

namespace hearth::ui {
namespace {

using namespace Qt::StringLiterals;

constexpr qint64 most_bytes = 64 << 20;

QStringList textsOf(const QJsonValue& list) {
    QStringList texts;
    for (const QJsonValue& one : list.toArray())
        if (one.isString()) texts << one.toString();
    return texts;
}

quint64 countOf(const QJsonValue& value) { return static_cast<quint64>(std::max<qint64>(0, value.toInteger())); }

QJsonObject jsonOf(const ModelFacts& facts) {
    return {{u"name"_s, facts.name},
            {u"architecture"_s, facts.architecture},
            {u"quant"_s, facts.quant},
            {u"licence"_s, facts.licence},
            {u"bytes"_s, static_cast<qint64>(facts.bytes)},
            {u"parameters"_s, static_cast<qint64>(facts.parameters)},
            {u"context"_s, static_cast<qint64>(facts.context)},
            {u"layers"_s, static_cast<qint64>(facts.layers)},
            {u"sparsity"_s, static_cast<int>(facts.sparsity)}};
}

ModelFacts factsOf(const QJsonObject& json, const QStringList& files) {
    ModelFacts facts;
    facts.name = json[u"name"_s].toString();
    facts.architecture = json[u"architecture"_s].toString();
    facts.quant = json[u"quant"_s].toString();
    facts.licence = json[u"licence"_s].toString();
    facts.files = files;
    facts.bytes = countOf(json[u"bytes"_s]);
    facts.parameters = countOf(json[u"parameters"_s]);
    facts.context = static_cast<uint>(countOf(json[u"context"_s]));
    facts.layers = static_cast<uint>(countOf(json[u"layers"_s]));
    facts.sparsity = static_cast<ModelFacts::Sparsity>(std::clamp(json[u"sparsity"_s].toInt(), 0, 2));
    return facts;
}

QJsonObject jsonOf(const LibraryEntry& one) {
    QJsonObject json{{u"path"_s, one.path},
                     {u"name"_s, one.name},
                     {u"root"_s, one.root},
                     {u"drive"_s, one.drive},
                     {u"owner"_s, one.owner},
                     {u"files"_s, QJsonArray::fromStringList(one.files)},
                     {u"bytes"_s, static_cast<qint64>(one.bytes)},
                     {u"modified"_s, one.modified},
                     {u"note"_s, one.note},
                     {u"measured_tps"_s, one.measured_tps},
                     {u"measured_bytes"_s, static_cast<qint64>(one.measured_bytes)},
                     {u"predicted_bytes"_s, static_cast<qint64>(one.predicted_bytes)}};
    if (one.facts) json.insert(u"facts"_s, jsonOf(*one.facts));
    return json;
}

LibraryEntry entryOf(const QJsonObject& json) {
    LibraryEntry one;
    one.path = json[u"path"_s].toString();
    one.name = json[u"name"_s].toString();
    one.root = json[u"root"_s].toString();
    one.drive = json[u"drive"_s].toString();
    one.owner = json[u"owner"_s].toString();
    one.files = textsOf(json[u"files"_s]);
    one.bytes = countOf(json[u"bytes"_s]);
    one.modified = json[u"modified"_s].toInteger();
    one.note = json[u"note"_s].toString();
    one.measured_tps = std::max(0.0, json[u"measured_tps"_s].toDouble());
    one.measured_bytes = countOf(json[u"measured_bytes"_s]);
    one.predicted_bytes = countOf(json[u"predicted_bytes"_s]);
    if (json[u"facts"_s].isObject()) one.facts = factsOf(json[u"facts"_s].toObject(), one.files);
    // Until the disk has been looked at.
    one.state = LibraryEntry::Offline;
    return one;
}

}  // namespace

void Library::load() {
    QFile file(index_);
    if (file.size() > most_bytes || !file.open(QIODevice::ReadOnly)) return;
    const QJsonObject all = QJsonDocument::fromJson(file.readAll()).object();
    folders_ = textsOf(all[u"folders"_s]);
    files_ = textsOf(all[u"files"_s]);
    for (const QJsonValue& model : all[u"models"_s].toArray())
        if (const LibraryEntry one = entryOf(model.toObject()); !one.path.isEmpty() && find(one.path) == nullptr)
            entries_.push_back(one);
}

void Library::save() {
    saving_.stop();
    QJsonArray models;
    for (const LibraryEntry& one : entries_) models.append(jsonOf(one));
    const QJsonObject all{{u"version"_s, 1},
                          {u"folders"_s, QJsonArray::fromStringList(folders_)},
                          {u"files"_s, QJsonArray::fromStringList(files_)},
                          {u"models"_s, models}};
    const QByteArray bytes = QJsonDocument(all).toJson();
    QDir().mkpath(QFileInfo(index_).absolutePath());
    QSaveFile file(index_);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        Q_EMIT problem(
            tr("The list of models cannot be kept: %1 cannot be written: %2.").arg(index_, file.errorString()));
}

}  // namespace hearth::ui
