#pragma once

#include <QFileSystemWatcher>
#include <QHash>
#include <QObject>
#include <QTimer>
#include <optional>

#include "ui/library/scan.h"
#include "ui/worker/machine.h"

namespace hearth::ui {

/// A model that was found once.
struct LibraryEntry {
    enum State { Reading, Ready, Offline, Broken };

    QString path, name, root, owner;
    QString drive = {};            ///< where the drive of its root is mounted
    QStringList files;
    quint64 bytes = 0;
    qint64 modified = 0;
    State state = Reading;
    QString problem = {};          ///< a sentence, of a broken one
    std::optional<ModelFacts> facts = {};
    std::optional<Prediction> prediction = {};
    QString note = {};             ///< the user's words
    double measured_tps = 0;       ///< of the last long enough reply; 0 = none yet
    quint64 measured_bytes = 0;    ///< of main memory that the program held more with it loaded; 0 = not yet known
    quint64 predicted_bytes = 0;   ///< of main memory, when that was measured
};

/// The models on this computer's disks, for the GUI thread; disks and headers are read on others. What was found is
/// remembered in a file, so that a drive that is not plugged in loses nothing.
class Library : public QObject {
    Q_OBJECT

public:
    /// `index`: the file it is remembered in; `stores`: folders of other programs, used in place.
    Library(Machine& machine, const QString& index, const QList<LibraryRoot>& stores, QObject* parent = nullptr);

    /// In no order; what is shown is sorted elsewhere.
    const QList<LibraryEntry>& entries() const { return entries_; }
    const LibraryEntry* find(const QString& path) const;
    /// The user's folders.
    const QStringList& folders() const { return folders_; }
    const QList<LibraryRoot>& stores() const { return stores_; }
    void addFolder(const QString& path);
    /// Its models are forgotten; files stay.
    void removeFolder(const QString& path);
    /// A single file outside of all folders, that somebody opened.
    void addFile(const QString& path);

    void rescan();
    bool busy() const { return scanning_ || reading_ > 0; }
    /// What every prediction is made for.
    void setChoices(const PlacementChoices& choices);
    /// Measures the processor once, so that speeds can be predicted.
    void wantSpeeds();

    void setNote(const QString& path, const QString& note);
    /// What a model really did.
    void noteSpeed(const QString& path, double tokens_per_s);
    void noteMemory(const QString& path, quint64 bytes, quint64 predicted);
    /// Why its files cannot be thrown away from here, as a sentence; empty = they can.
    QString whyKept(const QString& path) const;
    /// Puts all its files into the system's trash. What failed is told by problem().
    void moveToTrash(const QString& path);

Q_SIGNALS:
    /// Entries came, went or changed.
    void changed();
    void busyChanged();
    void problem(const QString& sentence);
    void speedsMeasured();

private:
    void load();
    void save();
    void take(const Scan& found);
    void readNext();
    void predictAll();
    void predict(const QString& path);
    LibraryEntry* entry(const QString& path);
    QList<LibraryRoot> roots() const;

    Machine& machine_;
    QString index_;
    QList<LibraryRoot> stores_;
    QStringList folders_, files_;
    QList<LibraryEntry> entries_;
    PlacementChoices choices_;
    quint64 choice_ = 0;   ///< counts setChoices(): an answer to an older one is not used
    QFileSystemWatcher watcher_;
    QTimer soon_, saving_;
    bool scanning_ = false, again_ = false, measured_ = false;
    int reading_ = 0;   ///< headers and predictions under way
};

}  // namespace hearth::ui
