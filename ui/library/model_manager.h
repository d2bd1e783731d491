#pragma once

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>

#include "ui/banner.h"
#include "ui/library/library_model.h"
#include "ui/library/memory_bar.h"

namespace hearth::ui {

/// All models on this computer: a table to compare them, and what can be done with the one that is chosen.
class ModelManager : public QDialog {
    Q_OBJECT

public:
    explicit ModelManager(Library& library, QWidget* parent = nullptr);

    QTableView& table() { return *table_; }
    LibraryModel& model() { return model_; }
    /// The chosen one; empty = none.
    QString path() const;
    void choose(const QString& path);
    /// What is loaded, and whether a load could begin now.
    void setLoaded(const QString& path, bool idle);
    /// The memory that models are compared with.
    void setMainMemory(quint64 bytes);

Q_SIGNALS:
    void loadRequested(const QString& path);
    void unloadRequested();

private:
    QWidget* makeDetails();
    QWidget* makeFolders();
    void showDetails();
    void showFolders();
    void chooseFolder();
    void askToDelete();
    void keepNote();

    Library& library_;
    LibraryModel model_;
    QSortFilterProxyModel sorted_;
    Banner* banner_;
    QLineEdit* search_;
    QTableView* table_;
    QLabel *empty_, *title_, *facts_, *memory_text_, *busy_;
    MemoryBar* memory_;
    QPlainTextEdit* note_;
    QPushButton *load_, *reveal_, *delete_, *remove_folder_;
    QListWidget* folders_;
    QString loaded_, noted_;   ///< noted_: the path that the note in the box belongs to
    quint64 main_memory_ = 0;
    bool idle_ = true;
};

}  // namespace hearth::ui
