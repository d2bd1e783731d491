#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QSpinBox>

#include "ui/settings/settings.h"
#include "ui/settings/shortcuts_page.h"

namespace hearth::ui {

/// Preferences of the whole program. Nothing changes before OK.
class SettingsDialog : public QDialog {
    Q_OBJECT

public:
    /// `folders`: name and path of each place where the program keeps something.
    SettingsDialog(Settings& settings, const QList<QAction*>& actions,
                   const QList<std::pair<QString, QString>>& folders, QWidget* parent = nullptr);

Q_SIGNALS:
    /// Settings have new values.
    void applied();

private:
    QWidget* makeGeneralPage();
    QWidget* makeDataPage(const QList<std::pair<QString, QString>>& folders);
    void apply();

    Settings& settings_;
    QComboBox *language_, *theme_, *send_key_;
    QSpinBox *zoom_, *threads_;
    QCheckBox *notifies_, *awake_, *tray_;
    ShortcutsPage* shortcuts_;
};

}  // namespace hearth::ui
