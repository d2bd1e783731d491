#include "ui/library/library_model.h"

#include <QDir>
#include <QFont>
#include <QGuiApplication>
#include <QLocale>
#include <QPalette>
#include <algorithm>

#include "engine/base/size.h"

namespace hearth::ui {
namespace {

bool sameRow(const LibraryEntry& a, const LibraryEntry& b) {
    const bool same_fit = a.prediction.has_value() == b.prediction.has_value() &&
                          (!a.prediction || (a.prediction->fit == b.prediction->fit &&
                                             a.prediction->decode_tps == b.prediction->decode_tps &&
                                             a.prediction->parts == b.prediction->parts));
    return a.name == b.name && a.state == b.state && a.problem == b.problem && a.facts == b.facts && same_fit &&
           a.note == b.note && a.measured_tps == b.measured_tps && a.measured_bytes == b.measured_bytes &&
           a.files == b.files && a.bytes == b.bytes;
}

QString stateText(const LibraryEntry& entry) {
    switch (entry.state) {
        case LibraryEntry::Reading: return LibraryModel::tr("reading …");
        case LibraryEntry::Offline: return LibraryModel::tr("offline");
        case LibraryEntry::Broken: return LibraryModel::tr("unusable");
        case LibraryEntry::Ready: return {};
    }
    return {};
}

QString sparsityText(ModelFacts::Sparsity sparsity) {
    switch (sparsity) {
        case ModelFacts::Zeros: return LibraryModel::tr("sparse");
        case ModelFacts::Experts: return LibraryModel::tr("experts");
        case ModelFacts::Dense: return {};
    }
    return {};
}

QString tipText(const LibraryEntry& entry) {
    QStringList lines{pathText(entry.path)};
    if (!entry.problem.isEmpty()) lines << entry.problem;
    if (entry.state == LibraryEntry::Offline)
        lines << LibraryModel::tr("Its folder %1 is not there now.").arg(entry.root);
    if (!entry.note.isEmpty()) lines << entry.note;
    return lines.join(u'\n');
}

double speedOf(const LibraryEntry& entry) {
    if (entry.measured_tps > 0) return entry.measured_tps;
    return entry.prediction ? entry.prediction->decode_tps : 0;
}

QString shown(const LibraryEntry& entry, int column) {
    const ModelFacts facts = entry.facts.value_or(ModelFacts{});
    switch (column) {
        case LibraryModel::Name: {
            const QString badge = sparsityText(facts.sparsity);
            return badge.isEmpty() ? entry.name : QStringLiteral("%1  [%2]").arg(entry.name, badge);
        }
        case LibraryModel::Architecture: return facts.architecture;
        case LibraryModel::Parameters: return parametersText(facts.parameters);
        case LibraryModel::Quant: return facts.quant;
        case LibraryModel::Size: return sizeText(entry.bytes);
        case LibraryModel::Context: return facts.context > 0 ? QLocale().toString(facts.context) : QString();
        case LibraryModel::Fit: return fitText(entry);
        case LibraryModel::Speed: return speedText(entry);
        default: return {};
    }
}

/// What comes first is what is best to have.
QVariant sortedBy(const LibraryEntry& entry, int column) {
    const ModelFacts facts = entry.facts.value_or(ModelFacts{});
    switch (column) {
        case LibraryModel::Parameters: return facts.parameters;
        case LibraryModel::Size: return entry.bytes;
        case LibraryModel::Context: return facts.context;
        case LibraryModel::Fit:
            return entry.prediction && entry.state == LibraryEntry::Ready
                       ? 10.0 * (entry.prediction->fit == Prediction::TooBig ? 9 : 1) - entry.prediction->graphics_share
                       : 1000.0;
        case LibraryModel::Speed: return -speedOf(entry);
        default: return shown(entry, column).toLower();
    }
}

bool isNumber(int column) {
    return column == LibraryModel::Parameters || column == LibraryModel::Size || column == LibraryModel::Context ||
           column == LibraryModel::Speed;
}

}  // namespace

QString fitText(const LibraryEntry& entry) {
    if (entry.state != LibraryEntry::Ready) return stateText(entry);
    if (!entry.prediction) return {};
    switch (entry.prediction->fit) {
        case Prediction::FullGpu: return LibraryModel::tr("Full GPU");
        case Prediction::Hybrid:
            return LibraryModel::tr("Hybrid %1 %")
                .arg(std::clamp(qRound(100 * entry.prediction->graphics_share), 1, 99));
        case Prediction::Cpu: return LibraryModel::tr("CPU");
        case Prediction::TooBig: return LibraryModel::tr("Too big");
    }
    return {};
}

QString speedText(const LibraryEntry& entry) {
    const auto number = [](double tps) { return QLocale().toString(tps, 'f', tps < 10 ? 1 : 0); };
    if (entry.measured_tps > 0) return number(entry.measured_tps);
    if (entry.state == LibraryEntry::Ready && entry.prediction && entry.prediction->decode_tps > 0)
        return LibraryModel::tr("about %1").arg(number(entry.prediction->decode_tps));
    return {};
}

QString parametersText(quint64 parameters) {
    const auto value = static_cast<double>(parameters);
    if (parameters == 0) return {};
    if (value >= 999.5e6)
        return LibraryModel::tr("%1 B").arg(QLocale().toString(value / 1e9, 'f', value < 99.5e9 ? 1 : 0));
    if (value >= 999.5e3)
        return LibraryModel::tr("%1 M").arg(QLocale().toString(value / 1e6, 'f', value < 9.95e6 ? 1 : 0));
    return LibraryModel::tr("%1 k").arg(QLocale().toString(value / 1e3, 'f', 0));
}

QString pathText(const QString& path) {
    const QString home = QDir::homePath() + u'/';
    return path.startsWith(home) ? QStringLiteral("~/") + path.mid(home.size()) : path;
}

QString sizeText(quint64 bytes) { return QString::fromStdString(formatSize(bytes)); }

LibraryModel::LibraryModel(const Library& library, QObject* parent)
    : QAbstractTableModel(parent), library_(library), rows_(library.entries()) {
    connect(&library, &Library::changed, this, &LibraryModel::sync);
}

/// Rows keep their places, so that a selection and the place of the scroll bar stay.
void LibraryModel::sync() {
    QHash<QString, const LibraryEntry*> now;
    for (const LibraryEntry& one : library_.entries()) now.insert(one.path, &one);
    for (int row = static_cast<int>(rows_.size()) - 1; row >= 0; --row) {
        if (now.contains(rows_[row].path)) continue;
        beginRemoveRows({}, row, row);
        rows_.removeAt(row);
        endRemoveRows();
    }
    for (int row = 0; row < rows_.size(); ++row) {
        const LibraryEntry* const newer = now.take(rows_[row].path);
        if (sameRow(rows_[row], *newer)) {
            rows_[row] = *newer;
            continue;
        }
        rows_[row] = *newer;
        Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
    }
    for (const LibraryEntry& one : library_.entries()) {
        if (!now.contains(one.path)) continue;
        const int row = static_cast<int>(rows_.size());
        beginInsertRows({}, row, row);
        rows_.push_back(one);
        endInsertRows();
    }
}

int LibraryModel::rowOf(const QString& path) const {
    const auto found = std::ranges::find(rows_, path, &LibraryEntry::path);
    return found == rows_.end() ? -1 : static_cast<int>(found - rows_.begin());
}

void LibraryModel::setLoaded(const QString& path) {
    if (path == loaded_) return;
    const int rows[] = {rowOf(loaded_), rowOf(path)};
    loaded_ = path;
    for (const int row : rows)
        if (row >= 0) Q_EMIT dataChanged(index(row, 0), index(row, ColumnCount - 1));
}

int LibraryModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int LibraryModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : ColumnCount; }

QVariant LibraryModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const LibraryEntry& one = rows_[index.row()];
    switch (role) {
        case Qt::DisplayRole: return shown(one, index.column());
        case Qt::ToolTipRole: return tipText(one);
        case Qt::TextAlignmentRole:
            return QVariant(Qt::AlignVCenter | (isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft));
        case Qt::FontRole:
            if (one.path == loaded_) {
                QFont bold;
                bold.setBold(true);
                return bold;
            }
            return {};
        case Qt::AccessibleTextRole: {
            const QString name = headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString();
            return QStringLiteral("%1: %2").arg(name, shown(one, index.column()));
        }
        case Qt::ForegroundRole:
            if (one.state == LibraryEntry::Offline || one.state == LibraryEntry::Broken)
                return QGuiApplication::palette().brush(QPalette::PlaceholderText);
            return {};
        case SortRole: return sortedBy(one, index.column());
        case PathRole: return one.path;
        default: return {};
    }
}

QVariant LibraryModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return QAbstractTableModel::headerData(section, orientation, role);
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignVCenter | (isNumber(section) ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole) return {};
    const QStringList names = {tr("Name"), tr("Architecture"), tr("Parameters"), tr("Quant"),
                               tr("Size"), tr("Context"),      tr("Fit"),        tr("Tokens/s")};
    return names.value(section);
}

}  // namespace hearth::ui
