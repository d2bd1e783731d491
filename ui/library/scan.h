#pragma once

#include <QHash>
#include <QList>
#include <QString>
#include <QStringList>

namespace hearth::ui {

/// A folder that models are looked for in.
struct LibraryRoot {
    enum Kind { Folder, OllamaStore };

    QString path;
    QString owner = {};   ///< the program that keeps it; empty = the user
    Kind kind = Folder;
    bool operator==(const LibraryRoot&) const = default;
};

/// A model as the disk shows it: one file, or all parts of a split set.
struct FoundModel {
    QString path;           ///< of the first part
    QString name;           ///< as its program calls it
    QStringList files;
    QString root, owner;
    quint64 bytes = 0;
    qint64 modified = 0;    ///< ms since 1970, of the newest part
    QString problem = {};   ///< a sentence; not empty = it cannot be used as it is
};

struct Scan {
    QList<FoundModel> models;
    QStringList folders;   ///< that were looked through
    QHash<QString, QString> drives =
        {};   ///< by root, where its drive is mounted; a root that is not there is not in it
};

/// Looks through `roots` at any depth, following links once. Parts of a split set are one model; a part that is missing is
/// that model's problem; picture encoders that go with a model (mmproj) are none. What cannot be read is passed over.
Scan scan(const QList<LibraryRoot>& roots);

/// Where LM Studio, Ollama and the Hugging Face cache keep their models, as far as these folders exist. `home`: the user's;
/// `environment`: what OLLAMA_MODELS, HF_HUB_CACHE, HF_HOME and XDG_CACHE_HOME say, in that order, empty = nothing.
QList<LibraryRoot> knownStores(const QString& home, const QStringList& environment);
/// The same of this user.
QList<LibraryRoot> knownStores();

}  // namespace hearth::ui
