#pragma once

#include <QAbstractTableModel>

#include "ui/library/library.h"

namespace hearth::ui {

/// The library as a table; what is shown is text, what is sorted by is SortRole.
class LibraryModel : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Name, Architecture, Parameters, Quant, Size, Context, Fit, Speed, ColumnCount };
    enum Role { SortRole = Qt::UserRole, PathRole };

    explicit LibraryModel(const Library& library, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    const LibraryEntry& entry(int row) const { return rows_[row]; }
    int rowOf(const QString& path) const;
    /// That one is in the engine; empty = none.
    void setLoaded(const QString& path);

private:
    void sync();

    const Library& library_;
    QList<LibraryEntry> rows_;
    QString loaded_;
};

/// "Full GPU", "Hybrid 61 %", "CPU", "Too big"; empty while it is not known.
QString fitText(const LibraryEntry& entry);
/// Tokens per second: measured, else "about ..."; empty while neither is known.
QString speedText(const LibraryEntry& entry);
/// "14.8 B", "135 M".
QString parametersText(quint64 parameters);
/// A path with ~ for the user's own folder.
QString pathText(const QString& path);
/// As memory is named everywhere: "5.87 GiB", under 0.1 GiB in MiB.
QString sizeText(quint64 bytes);

}  // namespace hearth::ui
