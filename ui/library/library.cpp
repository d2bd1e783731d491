#include "ui/library/library.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "ui/background.h"

namespace hearth::ui {
namespace {

/// More than these are not watched; they are looked through at the next start, or when asked.
constexpr qsizetype most_watched = 512;

}  // namespace

Library::Library(Machine& machine, const QString& index, const QList<LibraryRoot>& stores, QObject* parent)
    : QObject(parent), machine_(machine), index_(index), stores_(stores) {
    soon_.setSingleShot(true);
    soon_.setInterval(500);
    connect(&soon_, &QTimer::timeout, this, &Library::rescan);
    connect(&watcher_, &QFileSystemWatcher::directoryChanged, &soon_, qOverload<>(&QTimer::start));
    saving_.setSingleShot(true);
    saving_.setInterval(1000);
    connect(&saving_, &QTimer::timeout, this, &Library::save);
    connect(this, &Library::changed, &saving_, qOverload<>(&QTimer::start));
    load();
    // A program that ends within the second still remembers.
    connect(QCoreApplication::instance(), &QCoreApplication::aboutToQuit, this, [this] {
        if (saving_.isActive()) save();
    });
}

LibraryEntry* Library::entry(const QString& path) {
    const auto found = std::ranges::find(entries_, path, &LibraryEntry::path);
    return found == entries_.end() ? nullptr : &*found;
}

const LibraryEntry* Library::find(const QString& path) const {
    const auto found = std::ranges::find(entries_, path, &LibraryEntry::path);
    return found == entries_.end() ? nullptr : &*found;
}

QList<LibraryRoot> Library::roots() const {
    QList<LibraryRoot> all;
    for (const QString& folder : folders_) all.push_back({folder});
    return all + stores_;
}

void Library::addFolder(const QString& path) {
    const QString clean = QDir::cleanPath(path);
    if (folders_.contains(clean)) return rescan();
    folders_ << clean;
    Q_EMIT changed();
    rescan();
}

void Library::removeFolder(const QString& path) {
    folders_.removeAll(path);
    entries_.removeIf([&path](const LibraryEntry& one) { return one.root == path; });
    Q_EMIT changed();
    rescan();
}

void Library::addFile(const QString& path) {
    if (find(path) != nullptr || files_.contains(path)) return;
    files_ << path;
    rescan();
}

void Library::rescan() {
    if (scanning_) {
        again_ = true;
        return;
    }
    scanning_ = true;
    Q_EMIT busyChanged();
    const QList<LibraryRoot> all = roots();
    const QStringList files = files_;
    inBackground<Scan>(
        this,
        [all, files] {
            Scan found = scan(all);
            for (const QString& file : files) {
                const QFileInfo info(file);
                const auto same = [&file](const FoundModel& model) { return model.files.contains(file); };
                if (!info.isFile() || std::ranges::any_of(found.models, same)) continue;
                found.models.push_back({file,
                                        info.completeBaseName(),
                                        {file},
                                        {},
                                        {},
                                        static_cast<quint64>(info.size()),
                                        info.lastModified().toMSecsSinceEpoch()});
            }
            return found;
        },
        [this](const Result<Scan>& result) {
            scanning_ = false;
            take(result.value);
            if (std::exchange(again_, false)) rescan();
        });
}

/// What is new is added, what has changed is read again; what is gone stays only where its folder is gone, or lies on another
/// drive than before: then one is not plugged in.
void Library::take(const Scan& found) {
    QHash<QString, LibraryEntry> before;
    for (const LibraryEntry& one : entries_) before.insert(one.path, one);
    QList<LibraryEntry> now;
    for (const FoundModel& model : found.models) {
        LibraryEntry one = before.take(model.path);
        const bool same = one.facts && one.modified == model.modified && one.bytes == model.bytes;
        one.path = model.path;
        one.name = model.name;
        one.root = model.root;
        one.drive = found.drives.value(model.root);
        one.owner = model.owner;
        one.files = model.files;
        one.bytes = model.bytes;
        one.modified = model.modified;
        one.problem = model.problem;
        if (!same) one.facts.reset();
        one.state = !model.problem.isEmpty() ? LibraryEntry::Broken
                    : same                   ? LibraryEntry::Ready
                                             : LibraryEntry::Reading;
        now.push_back(one);
    }
    for (LibraryEntry& one : before) {
        if (one.root.isEmpty() || found.drives.value(one.root) == one.drive) continue;
        one.state = LibraryEntry::Offline;
        one.prediction.reset();
        now.push_back(one);
    }
    entries_ = now;
    if (!watcher_.directories().isEmpty()) watcher_.removePaths(watcher_.directories());
    if (const QStringList watched = found.folders.mid(0, most_watched); !watched.isEmpty()) watcher_.addPaths(watched);
    Q_EMIT changed();
    readNext();
    predictAll();
    Q_EMIT busyChanged();
}

/// One header after the other: a slow disk is not asked for ten at once.
void Library::readNext() {
    if (reading_ > 0) return;
    const auto next = std::ranges::find(entries_, LibraryEntry::Reading, &LibraryEntry::state);
    if (next == entries_.end()) return;
    ++reading_;
    const QString path = next->path;
    Machine& machine = machine_;
    inBackground<ModelFacts>(
        this, [&machine, path] { return machine.read(path); },
        [this, path](const Result<ModelFacts>& result) {
            --reading_;
            if (LibraryEntry* const one = entry(path)) {
                one->problem = result.problem;
                one->state = result.problem.isEmpty() ? LibraryEntry::Ready : LibraryEntry::Broken;
                if (result.problem.isEmpty()) one->facts = result.value;
                Q_EMIT changed();
                if (one->state == LibraryEntry::Ready) predict(path);
            }
            readNext();
            if (!busy()) Q_EMIT busyChanged();
        });
}

void Library::predict(const QString& path) {
    ++reading_;
    Machine& machine = machine_;
    const quint64 asked = choice_;
    inBackground<Prediction>(
        this, [&machine, path, choices = choices_] { return machine.predict(path, choices, Machine::Exact, true); },
        [this, path, asked](const Result<Prediction>& result) {
            --reading_;
            LibraryEntry* const one = entry(path);
            if (one != nullptr && one->state == LibraryEntry::Ready && asked == choice_) {
                one->prediction = result.value;
                Q_EMIT changed();
            }
            readNext();
            if (!busy()) Q_EMIT busyChanged();
        });
}

void Library::predictAll() {
    QStringList paths;
    for (const LibraryEntry& one : entries_)
        if (one.state == LibraryEntry::Ready && one.facts) paths << one.path;
    for (const QString& path : paths) predict(path);
}

void Library::setChoices(const PlacementChoices& choices) {
    if (choices == choices_) return;
    choices_ = choices;
    ++choice_;
    predictAll();
}

void Library::wantSpeeds() {
    if (std::exchange(measured_, true)) return;
    ++reading_;
    Q_EMIT busyChanged();
    Machine& machine = machine_;
    inBackground<bool>(
        this,
        [&machine] {
            machine.measure();
            return true;
        },
        [this](const Result<bool>& result) {
            --reading_;
            if (!result.problem.isEmpty()) Q_EMIT problem(result.problem);
            ++choice_;
            predictAll();
            Q_EMIT speedsMeasured();
            if (!busy()) Q_EMIT busyChanged();
        });
}

void Library::setNote(const QString& path, const QString& note) {
    LibraryEntry* const one = entry(path);
    if (one == nullptr || one->note == note) return;
    one->note = note;
    Q_EMIT changed();
}

void Library::noteSpeed(const QString& path, double tokens_per_s) {
    LibraryEntry* const one = entry(path);
    if (one == nullptr) return;
    one->measured_tps = tokens_per_s;
    Q_EMIT changed();
}

void Library::noteMemory(const QString& path, quint64 bytes, quint64 predicted) {
    LibraryEntry* const one = entry(path);
    if (one == nullptr || (one->measured_bytes == bytes && one->predicted_bytes == predicted)) return;
    one->measured_bytes = bytes;
    one->predicted_bytes = predicted;
    Q_EMIT changed();
}

QString Library::whyKept(const QString& path) const {
    const LibraryEntry* const one = find(path);
    if (one == nullptr) return tr("It is no longer there.");
    if (one->state == LibraryEntry::Offline) return tr("Its drive is not plugged in.");
    if (!one->owner.isEmpty()) return tr("%1 keeps these files; remove the model there.").arg(one->owner);
    return {};
}

void Library::moveToTrash(const QString& path) {
    if (const QString why = whyKept(path); !why.isEmpty()) return Q_EMIT problem(why);
    const QStringList files = find(path)->files;
    inBackground<QStringList>(
        this,
        [files] {
            QStringList kept;
            for (const QString& name : files)
                if (QFile file(name); !file.moveToTrash()) kept << name;
            return kept;
        },
        [this](const Result<QStringList>& result) {
            if (!result.value.isEmpty())
                Q_EMIT problem(
                    tr("%1 could not be put into the trash; nothing was deleted. Delete it in the file manager.")
                        .arg(result.value.first()));
            rescan();
        });
}

}  // namespace hearth::ui
