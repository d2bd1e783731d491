#pragma once

#include <QList>
#include <QMap>
#include <QMetaType>
#include <QString>
#include <QStringList>
#include <optional>

/// What model files and devices are, and what would become of the one on the other: plain values, known without loading.
namespace hearth::ui {

/// What a model file says about itself.
struct ModelFacts {
    enum Sparsity { Dense, Zeros, Experts };

    QString name, architecture, quant, licence;
    QStringList files;  ///< of a split set all
    quint64 bytes = 0, parameters = 0;
    uint context = 0, layers = 0;  ///< context: positions, as trained
    Sparsity sparsity = Dense;  ///< Zeros: many neurons are exactly zero and are skipped
    bool operator==(const ModelFacts&) const = default;
};

struct DeviceFacts {
    QString name;  ///< "cpu", "cuda:0", "emulated:0"
    QString description;
    quint64 bytes_total = 0, bytes_free = 0;
    bool graphics = false;
    bool computes = false;  ///< the engine executes on it today
    QString why_not;  ///< a clause; empty when it can be planned for
    uint threads = 0;  ///< of the processor: its fast cores
    double read_bytes_per_s = 0;  ///< 0 = not measured
    bool operator==(const DeviceFacts&) const = default;
};

/// What somebody chose about where models live.
struct PlacementChoices {
    uint ctx = 0;  ///< positions; 0 = the file's, as far as memory goes
    QMap<QString, quint64> budgets;  ///< device → bytes; one that is not named may use what is free
    QStringList order;  ///< devices, those that are to be used first; the others follow
    QStringList unused;  ///< devices that are switched off
    bool operator==(const PlacementChoices&) const = default;

    /// As JSON; what cannot be read back makes no choice.
    QString toJson() const;
    static PlacementChoices fromJson(const QString& json);
};

/// Bytes of one kind on one device.
struct PlannedPart {
    QString what, device;
    quint64 bytes = 0;
    bool operator==(const PlannedPart&) const = default;
};

/// Where a layer is computed.
struct PlannedLayer {
    QString attention, cache;  ///< devices
    QMap<QString, double> feed_forward;  ///< shares of its bytes, by device
    bool operator==(const PlannedLayer&) const = default;
};

/// What would become of a model: what is where, and how fast.
struct Prediction {
    enum Fit { FullGpu, Hybrid, Cpu, TooBig };

    QList<PlannedPart> parts;
    QList<PlannedLayer> layers;
    uint ctx = 0;  ///< positions
    double prefill_tps = 0, decode_tps = 0, tps_per_gib = 0;  ///< 0 = not known
    QString limit;  ///< a clause: what bounds the speed, or did not fit
    Fit fit = Cpu;
    double graphics_share = 0;  ///< of the weights that are multiplied
    QString problem;  ///< a sentence; not empty = there is no plan

    quint64 bytes(const QString& device) const;
    /// Bytes by the names that people are shown, largest first.
    QList<PlannedPart> named(const QString& device) const;
};

/// Asks about files and devices without loading anything; what it does may be called from any thread, and waits for the disk.
class Machine {
public:
    enum Effort { Quick, Exact };  ///< Quick: while something is dragged

    virtual ~Machine() = default;

    /// Reads a file's header. Throws Error.
    virtual ModelFacts read(const QString& path) = 0;
    /// All devices, also those that cannot be used; the processor first.
    virtual QList<DeviceFacts> devices() = 0;
    /// `executed`: only with what the engine executes on today; otherwise with every device that can be planned for. What goes
    /// wrong is the prediction's problem.
    virtual Prediction predict(const QString& path, const PlacementChoices& choices, Effort effort, bool executed) = 0;
    /// Measures how fast the processor is, once for each machine; about two seconds of all its cores. Throws Error.
    virtual void measure() = 0;
};

}  // namespace hearth::ui

Q_DECLARE_METATYPE(hearth::ui::Prediction)
