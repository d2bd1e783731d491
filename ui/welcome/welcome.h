#pragma once

#include <QButtonGroup>
#include <QCheckBox>
#include <QDialog>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QStackedWidget>

#include "ui/library/library.h"

namespace hearth::ui {

/// What a first start shows: what was found of this computer, which model is to answer first, and what leaves the computer
/// (nothing). Never in the way: the window behind it works.
class Welcome : public QDialog {
    Q_OBJECT

public:
    /// `starter`: the model that comes with Hearth, or empty where it is not installed.
    Welcome(Machine& machine, Library& library, const QString& starter, QWidget* parent = nullptr);

    int page() const { return pages_->currentIndex(); }

Q_SIGNALS:
    /// A model that was chosen; not when the starter was, which is loaded anyway.
    void modelChosen(const QString& path);
    /// Somebody wants to choose from the list of models.
    void modelsWanted();

private:
    QWidget* makeComputerPage();
    QWidget* makeModelPage();
    QWidget* makePrivacyPage();
    void showDevices(const QList<DeviceFacts>& devices);
    void showFound();
    void chooseFolder();
    void go(int page);
    void finish();

    Library& library_;
    QStackedWidget* pages_;
    QLabel *step_, *devices_, *found_;
    QRadioButton *use_starter_, *use_own_;
    QPushButton *back_, *next_, *skip_;
};

}  // namespace hearth::ui
