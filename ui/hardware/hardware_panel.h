#pragma once

#include <QComboBox>
#include <QPushButton>
#include <QScrollArea>
#include <QSpinBox>
#include <QVBoxLayout>

#include "ui/hardware/device_row.h"
#include "ui/hardware/meter.h"
#include "ui/hardware/placement_map.h"
#include "ui/hardware/predictor.h"
#include "ui/settings/settings.h"
#include "ui/worker/types.h"

namespace hearth::ui {

/// How fast it is, where the model lives, and how much of each device it may take.
class HardwarePanel : public QScrollArea {
    Q_OBJECT

public:
    HardwarePanel(Machine& machine, Settings& settings, QWidget* parent = nullptr);

    Meter& meter() { return *meter_; }
    PlacementMap& map() { return *map_; }
    QList<DeviceRow*> rows() const { return rows_; }
    Predictor& predictor() { return predictor_; }

    /// Asks for the devices, in the background.
    void refreshDevices();
    /// What is loaded, or null; `name`: of the model in settings.
    void setModel(const ModelInfo* model);
    /// What is really held, by device.
    void setCounted(const QMap<QString, quint64>& bytes);
    /// Speeds are known better now.
    void predictAgain();
    /// What a model named so is to be loaded with.
    static PlacementChoices choicesFor(const Settings& settings, const QString& model);
    QString predictionText() const { return prediction_->text(); }

Q_SIGNALS:
    /// Choices for all models have changed.
    void choicesChanged();
    void reloadRequested();

private:
    void makeScope(QVBoxLayout& column);
    void makeGeneral(QVBoxLayout& column);
    void showDevices(const QList<DeviceFacts>& devices);
    void showChoices();
    PlacementChoices choices() const;
    void changed(bool final);
    void move(DeviceRow* row, int step);
    void arrange();
    void ask(Machine::Effort effort);
    void showOutlook(const Outlook& outlook);
    QString wordsOf(const Outlook& outlook) const;
    bool forModelOnly() const { return scope_->currentIndex() == 1; }
    uint threads() const { return static_cast<uint>(threads_->value()); }

    Machine& machine_;
    Settings& settings_;
    Predictor predictor_;
    Meter* meter_;
    PlacementMap* map_;
    QComboBox* scope_;
    QPushButton *global_, *reload_;
    QVBoxLayout* devices_;
    QList<DeviceRow*> rows_;   ///< in the order of their priority, the processor last
    QSpinBox *ctx_, *threads_;
    QLabel *where_, *prediction_;
    std::optional<ModelInfo> model_;
    PlacementChoices loaded_with_;
    uint loaded_threads_ = 0;
    QMap<QString, quint64> counted_;
    Outlook outlook_;
};

}  // namespace hearth::ui
