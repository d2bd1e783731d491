#include "ui/library/model_manager.h"

#include <QFileDialog>
#include <QFormLayout>
#include <QHeaderView>
#include <QMessageBox>
#include <QSplitter>
#include <QStorageInfo>
#include <QVBoxLayout>

#include "ui/reveal.h"

namespace hearth::ui {

ModelManager::ModelManager(Library& library, QWidget* parent)
    : QDialog(parent),
      library_(library),
      model_(library),
      banner_(new Banner),
      search_(new QLineEdit),
      table_(new QTableView),
      empty_(new QLabel),
      busy_(new QLabel) {
    setObjectName(QStringLiteral("model_manager"));
    setWindowTitle(tr("Models"));
    setWindowFlag(Qt::WindowMaximizeButtonHint);
    search_->setPlaceholderText(tr("Find a model"));
    search_->setAccessibleName(tr("Find a model"));
    search_->setClearButtonEnabled(true);
    sorted_.setSourceModel(&model_);
    sorted_.setSortRole(LibraryModel::SortRole);
    sorted_.setFilterCaseSensitivity(Qt::CaseInsensitive);
    sorted_.setFilterKeyColumn(-1);
    connect(search_, &QLineEdit::textChanged, &sorted_, &QSortFilterProxyModel::setFilterFixedString);

    table_->setObjectName(QStringLiteral("models"));
    table_->setAccessibleName(tr("Models"));
    table_->setModel(&sorted_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(LibraryModel::Name, Qt::AscendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setShowGrid(false);
    table_->setAlternatingRowColors(true);
    table_->setTabKeyNavigation(false);
    table_->setWordWrap(false);
    table_->verticalHeader()->hide();
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setSectionResizeMode(LibraryModel::Name, QHeaderView::Stretch);
    table_->horizontalHeader()->setMinimumSectionSize(fontMetrics().averageCharWidth() * 6);
    connect(table_, &QTableView::doubleClicked, load_ = new QPushButton(tr("&Load")), [this] {
        if (load_->isEnabled() && path() != loaded_) load_->click();
    });
    connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &ModelManager::showDetails);
    connect(&model_, &QAbstractItemModel::dataChanged, this, &ModelManager::showDetails);
    connect(&model_, &QAbstractItemModel::rowsInserted, this, &ModelManager::showDetails);
    connect(&model_, &QAbstractItemModel::rowsRemoved, this, &ModelManager::showDetails);
    connect(&library, &Library::changed, this, &ModelManager::showFolders);
    connect(&library, &Library::busyChanged, this, &ModelManager::showDetails);
    connect(&library, &Library::problem, this, [this](const QString& sentence) { banner_->say(sentence); });

    empty_->setWordWrap(true);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setText(
        tr("No models yet. Add the folder that your model files (.gguf) are in; folders below it are looked "
           "through too. Nothing is moved or copied."));
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins({});
    column->addWidget(search_);
    column->addWidget(table_, 1);
    column->addWidget(empty_, 1);
    column->addWidget(makeFolders());
    auto* splitter = new QSplitter;
    splitter->addWidget(left);
    splitter->addWidget(makeDetails());
    splitter->setStretchFactor(0, 1);
    splitter->setChildrenCollapsible(false);
    auto* all = new QVBoxLayout(this);
    all->addWidget(banner_);
    all->addWidget(splitter, 1);
    resize(1060, 560);
    showFolders();
    showDetails();
}

QWidget* ModelManager::makeDetails() {
    auto* details = new QWidget;
    auto* column = new QVBoxLayout(details);
    column->setContentsMargins(8, 0, 0, 0);
    title_ = new QLabel;
    title_->setWordWrap(true);
    QFont large = title_->font();
    large.setPointSizeF(large.pointSizeF() * 1.2);
    large.setBold(true);
    title_->setFont(large);
    facts_ = new QLabel;
    facts_->setObjectName(QStringLiteral("model_facts"));
    facts_->setWordWrap(true);
    facts_->setTextFormat(Qt::PlainText);
    facts_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    memory_ = new MemoryBar;
    memory_text_ = new QLabel;
    memory_text_->setObjectName(QStringLiteral("model_memory"));
    memory_text_->setWordWrap(true);
    note_ = new QPlainTextEdit;
    note_->setPlaceholderText(tr("Notes"));
    note_->setAccessibleName(tr("Notes about this model"));
    note_->setTabChangesFocus(true);
    note_->setMaximumHeight(fontMetrics().height() * 6);
    connect(note_, &QPlainTextEdit::textChanged, this, &ModelManager::keepNote);
    load_->setObjectName(QStringLiteral("load_model"));
    load_->setDefault(true);
    connect(load_, &QPushButton::clicked, this, [this] {
        if (path() == loaded_) Q_EMIT unloadRequested();
        else Q_EMIT loadRequested(path());
    });
    reveal_ = new QPushButton(tr("&Show in folder"));
    reveal_->setAutoDefault(false);
    connect(reveal_, &QPushButton::clicked, this, [this] { reveal(path()); });
    delete_ = new QPushButton(tr("&Delete …"));
    delete_->setObjectName(QStringLiteral("delete_model"));
    delete_->setAutoDefault(false);
    connect(delete_, &QPushButton::clicked, this, &ModelManager::askToDelete);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(load_);
    buttons->addWidget(reveal_);
    buttons->addWidget(delete_);
    column->addWidget(title_);
    column->addWidget(facts_);
    column->addSpacing(6);
    column->addWidget(memory_);
    column->addWidget(memory_text_);
    column->addSpacing(6);
    column->addWidget(note_);
    column->addStretch();
    column->addLayout(buttons);
    details->setMinimumWidth(fontMetrics().averageCharWidth() * 46);
    return details;
}

QWidget* ModelManager::makeFolders() {
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins({});
    folders_ = new QListWidget;
    folders_->setObjectName(QStringLiteral("folders"));
    folders_->setAccessibleName(tr("Folders that are looked through"));
    folders_->setMaximumHeight(fontMetrics().height() * 5);
    auto* add = new QPushButton(tr("&Add folder …"));
    add->setAutoDefault(false);
    connect(add, &QPushButton::clicked, this, &ModelManager::chooseFolder);
    remove_folder_ = new QPushButton(tr("&Forget folder"));
    remove_folder_->setAutoDefault(false);
    connect(remove_folder_, &QPushButton::clicked, this, [this] {
        if (const auto* item = folders_->currentItem()) library_.removeFolder(item->data(Qt::UserRole).toString());
    });
    const auto allow = [this] {
        const auto* item = folders_->currentItem();
        remove_folder_->setEnabled(item != nullptr && library_.folders().contains(item->data(Qt::UserRole).toString()));
    };
    connect(folders_, &QListWidget::currentItemChanged, this, allow);
    allow();
    auto* buttons = new QVBoxLayout;
    buttons->addWidget(add);
    buttons->addWidget(remove_folder_);
    buttons->addWidget(busy_);
    buttons->addStretch();
    row->addWidget(folders_, 1);
    row->addLayout(buttons);
    return box;
}

QString ModelManager::path() const {
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    return rows.isEmpty() ? QString() : rows.first().data(LibraryModel::PathRole).toString();
}

void ModelManager::choose(const QString& path) {
    const int row = model_.rowOf(path);
    if (row >= 0) table_->selectRow(sorted_.mapFromSource(model_.index(row, 0)).row());
}

void ModelManager::setLoaded(const QString& path, bool idle) {
    loaded_ = path;
    idle_ = idle;
    model_.setLoaded(path);
    showDetails();
}

void ModelManager::setMainMemory(quint64 bytes) {
    main_memory_ = bytes;
    showDetails();
}

void ModelManager::showDetails() {
    const bool any = model_.rowCount() > 0;
    table_->setVisible(any);
    empty_->setVisible(!any);
    busy_->setText(library_.busy() ? tr("looking …") : QString());
    const LibraryEntry* const one = library_.find(path());
    for (QWidget* part : std::initializer_list<QWidget*>{note_, load_, reveal_, delete_})
        part->setVisible(one != nullptr);
    memory_->setVisible(one != nullptr && one->prediction && one->prediction->problem.isEmpty());
    memory_text_->setVisible(one != nullptr);
    if (one == nullptr) {
        title_->setText({});
        facts_->setText(any ? tr("Choose a model to see what it needs.") : QString());
        noted_.clear();
        return;
    }
    title_->setText(one->name);
    QStringList lines;
    if (one->facts) {
        const ModelFacts& facts = *one->facts;
        QStringList first{facts.architecture, facts.quant, tr("%n layers", nullptr, static_cast<int>(facts.layers))};
        if (!facts.licence.isEmpty()) first << facts.licence;
        lines << first.join(QStringLiteral(" · "));
        if (facts.sparsity == ModelFacts::Zeros)
            lines << tr("Sparse: many of its neurons are exactly zero and are skipped.");
        if (facts.sparsity == ModelFacts::Experts) lines << tr("Experts: each token uses only some of them.");
    }
    lines
        << (one->files.size() > 1
                ? tr("%1 and %n more files", nullptr, static_cast<int>(one->files.size() - 1)).arg(pathText(one->path))
                : pathText(one->path));
    if (!one->owner.isEmpty()) lines << tr("Kept by %1, used in place.").arg(one->owner);
    if (one->state == LibraryEntry::Offline)
        lines << tr("Offline: the folder %1 is not there now.").arg(pathText(one->root));
    if (!one->problem.isEmpty()) lines << one->problem;
    facts_->setText(lines.join(u'\n'));

    QStringList memory;
    if (one->prediction) {
        const Prediction& p = *one->prediction;
        const quint64 needed = p.bytes(QStringLiteral("cpu"));
        if (!p.problem.isEmpty()) memory << p.problem;
        else {
            memory_->show(p.named(QStringLiteral("cpu")), std::max(main_memory_, needed), {}, one->measured_bytes);
            memory << tr("Main memory with a context of %1: predicted %2.")
                          .arg(QLocale().toString(p.ctx), sizeText(needed));
            memory << tr("The limit is %1.").arg(p.limit);
        }
    }
    if (one->measured_bytes > 0)
        memory << tr("When it was loaded last: predicted %1, counted %2.")
                      .arg(sizeText(one->predicted_bytes), sizeText(one->measured_bytes));
    memory_text_->setText(memory.join(u'\n'));

    if (noted_ != one->path) {
        noted_ = one->path;
        const QSignalBlocker quiet(note_);
        note_->setPlainText(one->note);
    }
    const bool loaded = one->path == loaded_;
    load_->setText(loaded ? tr("&Unload") : tr("&Load"));
    // Too big is advice, not a ban.
    load_->setEnabled(loaded ? idle_ : one->state == LibraryEntry::Ready || one->state == LibraryEntry::Reading);
    const QString why = loaded ? tr("It is loaded; unload it first.") : library_.whyKept(one->path);
    delete_->setEnabled(why.isEmpty());
    delete_->setToolTip(why.isEmpty() ? tr("Puts its files into the trash.") : why);
    reveal_->setEnabled(one->state != LibraryEntry::Offline);
}

void ModelManager::showFolders() {
    QList<std::pair<QString, QString>> shown;
    for (const QString& folder : library_.folders()) {
        const QStorageInfo drive(folder);
        shown.push_back(
            {folder,
             drive.isValid()
                 ? tr("%1 (%2 free)").arg(pathText(folder), sizeText(static_cast<quint64>(drive.bytesAvailable())))
                 : tr("%1 (offline)").arg(pathText(folder))});
    }
    for (const LibraryRoot& store : library_.stores())
        shown.push_back({store.path, tr("%1: %2").arg(store.owner, pathText(store.path))});
    bool same = shown.size() == folders_->count();
    for (int i = 0; same && i < folders_->count(); ++i)
        same = folders_->item(i)->data(Qt::UserRole).toString() == shown[i].first;
    if (same) return;
    folders_->clear();
    for (const auto& [folder, text] : shown) {
        auto* item = new QListWidgetItem(text, folders_);
        item->setData(Qt::UserRole, folder);
    }
}

void ModelManager::chooseFolder() {
    auto* dialog = new QFileDialog(this, tr("Add a folder with models"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, &library_, &Library::addFolder);
    dialog->open();
}

void ModelManager::askToDelete() {
    const LibraryEntry* const one = library_.find(path());
    if (one == nullptr) return;
    auto* question = new QMessageBox(QMessageBox::Question, tr("Delete a model"),
                                     tr("Put %1 (%2) into the trash?").arg(one->name, sizeText(one->bytes)),
                                     QMessageBox::Cancel, this);
    question->setObjectName(QStringLiteral("delete_question"));
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setTextFormat(Qt::PlainText);
    question->setInformativeText(one->files.join(u'\n'));
    QPushButton* yes = question->addButton(tr("Put into the &trash"), QMessageBox::AcceptRole);
    yes->setObjectName(QStringLiteral("to_trash"));
    connect(yes, &QPushButton::clicked, this, [this, path = one->path] { library_.moveToTrash(path); });
    question->open();
}

void ModelManager::keepNote() {
    if (!noted_.isEmpty()) library_.setNote(noted_, note_->toPlainText());
}

}  // namespace hearth::ui
