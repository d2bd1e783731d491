#include "ui/library/scan.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMap>
#include <QRegularExpression>
#include <QSet>
#include <QStorageInfo>
#include <algorithm>

namespace hearth::ui {
namespace {

/// Enough for any collection; a link to the root of a disk must not be searched for ever.
constexpr int most_folders = 20000, most_depth = 24;
constexpr qint64 most_manifest_bytes = 1 << 20;

struct LibraryWords {
    Q_DECLARE_TR_FUNCTIONS(Library)
};

/// PREFIX-00002-of-00005.gguf
const QRegularExpression& partPattern() {
    static const QRegularExpression pattern(QStringLiteral("^(.*)-(\\d{5})-of-(\\d{5})\\.gguf$"),
                                            QRegularExpression::CaseInsensitiveOption);
    return pattern;
}

struct Parts {
    QMap<int, QFileInfo> files;
    int count = 0;
};

void addFile(FoundModel& model, const QFileInfo& file) {
    model.files << file.absoluteFilePath();
    model.bytes += static_cast<quint64>(file.size());
    model.modified = std::max(model.modified, file.lastModified().toMSecsSinceEpoch());
}

class Search {
public:
    void folder(const QString& path, const LibraryRoot& root, int depth) {
        const QString real = QFileInfo(path).canonicalFilePath();
        if (real.isEmpty() || depth > most_depth || seen_.size() > most_folders || seen_.contains(real)) return;
        seen_.insert(real);
        result.folders << path;
        QMap<QString, Parts> sets;
        QDirIterator entries(path, QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Readable);
        while (entries.hasNext()) {
            const QFileInfo entry = entries.nextFileInfo();
            if (entry.isDir()) folder(entry.filePath(), root, depth + 1);
            else if (entry.suffix().compare(QStringLiteral("gguf"), Qt::CaseInsensitive) == 0) file(entry, root, sets);
        }
        for (auto it = sets.begin(); it != sets.end(); ++it) set(it.key(), it.value(), root);
    }

    void ollama(const LibraryRoot& root) {
        const QString manifests = root.path + QStringLiteral("/manifests"),
                      blobs = root.path + QStringLiteral("/blobs/");
        result.folders << manifests;
        QDirIterator entries(manifests, QDir::Files, QDirIterator::Subdirectories);
        for (int read = 0; entries.hasNext() && read < most_folders; ++read) {
            const QFileInfo entry = entries.nextFileInfo();
            QFile manifest(entry.filePath());
            if (entry.size() > most_manifest_bytes || !manifest.open(QIODevice::ReadOnly)) continue;
            const QJsonObject all = QJsonDocument::fromJson(manifest.readAll()).object();
            for (const QJsonValue& layer : all[QStringLiteral("layers")].toArray()) {
                if (layer[QStringLiteral("mediaType")].toString() !=
                    QStringLiteral("application/vnd.ollama.image.model"))
                    continue;
                static const QRegularExpression digest(QStringLiteral("^sha256:([0-9a-f]{64})$"));
                const auto match = digest.match(layer[QStringLiteral("digest")].toString());
                const QFileInfo blob(blobs + QStringLiteral("sha256-") + match.captured(1));
                if (!match.hasMatch() || !blob.isFile() || once_.contains(blob.canonicalFilePath())) continue;
                once_.insert(blob.canonicalFilePath());
                const QString name = entry.dir().dirName() + u':' + entry.fileName();
                FoundModel model{blob.absoluteFilePath(), name, {}, root.path, root.owner};
                addFile(model, blob);
                result.models.push_back(model);
            }
        }
    }

    Scan result;

private:
    void file(const QFileInfo& entry, const LibraryRoot& root, QMap<QString, Parts>& sets) {
        if (!entry.isFile() || entry.fileName().contains(QStringLiteral("mmproj"), Qt::CaseInsensitive)) return;
        if (const auto part = partPattern().match(entry.fileName()); part.hasMatch()) {
            Parts& parts = sets[part.captured(1) + u'/' + part.captured(3)];
            parts.count = part.captured(3).toInt();
            parts.files.insert(part.captured(2).toInt(), entry);
            return;
        }
        if (once_.contains(entry.canonicalFilePath())) return;
        once_.insert(entry.canonicalFilePath());
        FoundModel model{entry.absoluteFilePath(), entry.completeBaseName(), {}, root.path, root.owner};
        addFile(model, entry);
        result.models.push_back(model);
    }

    void set(const QString& key, const Parts& parts, const LibraryRoot& root) {
        const QFileInfo& first = parts.files.first();
        if (once_.contains(first.canonicalFilePath())) return;
        once_.insert(first.canonicalFilePath());
        FoundModel model{first.absoluteFilePath(), key.section(u'/', 0, -2), {}, root.path, root.owner};
        for (const QFileInfo& part : parts.files) addFile(model, part);
        QStringList missing;
        for (int number = 1; number <= std::min(parts.count, 999); ++number)
            if (!parts.files.contains(number)) missing << QString::number(number);
        if (!missing.isEmpty())
            model.problem = LibraryWords::tr("Of %1 parts these are missing: %2. Put all of them into one folder.")
                                .arg(parts.count)
                                .arg(missing.mid(0, 12).join(QStringLiteral(", ")));
        result.models.push_back(model);
    }

    QSet<QString> seen_, once_;   ///< folders and files, without links
};

}  // namespace

Scan scan(const QList<LibraryRoot>& roots) {
    Search search;
    for (const LibraryRoot& root : roots) {
        if (!QFileInfo(root.path).isDir()) continue;
        search.result.drives.insert(root.path, QStorageInfo(root.path).rootPath());
        if (root.kind == LibraryRoot::OllamaStore) search.ollama(root);
        else search.folder(root.path, root, 0);
    }
    return search.result;
}

QList<LibraryRoot> knownStores(const QString& home, const QStringList& environment) {
    const QString ollama = environment.value(0), hub = environment.value(1), hugging_face = environment.value(2),
                  cache = environment.value(3).isEmpty() ? home + QStringLiteral("/.cache") : environment.value(3);
    QList<LibraryRoot> all = {{home + QStringLiteral("/.lmstudio/models"), QStringLiteral("LM Studio")},
                              {cache + QStringLiteral("/lm-studio/models"), QStringLiteral("LM Studio")}};
    const QString ollama_name = QStringLiteral("Ollama");
    for (const QString& path :
         {ollama, home + QStringLiteral("/.ollama/models"), QStringLiteral("/usr/share/ollama/.ollama/models")})
        if (!path.isEmpty()) all.push_back({path, ollama_name, LibraryRoot::OllamaStore});
    const QString hf = !hub.isEmpty()            ? hub
                       : !hugging_face.isEmpty() ? hugging_face + QStringLiteral("/hub")
                                                 : cache + QStringLiteral("/huggingface/hub");
    all.push_back({hf, QStringLiteral("Hugging Face")});
    all.removeIf([](const LibraryRoot& root) { return !QFileInfo(root.path).isDir(); });
    return all;
}

QList<LibraryRoot> knownStores() {
    return knownStores(QDir::homePath(), {qEnvironmentVariable("OLLAMA_MODELS"), qEnvironmentVariable("HF_HUB_CACHE"),
                                          qEnvironmentVariable("HF_HOME"), qEnvironmentVariable("XDG_CACHE_HOME")});
}

}  // namespace hearth::ui
