#include "ui/welcome/welcome.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QStorageInfo>
#include <QVBoxLayout>

#include "ui/background.h"
#include "ui/library/library_model.h"

namespace hearth::ui {
namespace {

QWidget* pageOf(const QString& title, const std::initializer_list<QWidget*>& parts) {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    auto* heading = new QLabel(title);
    QFont large = heading->font();
    large.setPointSizeF(large.pointSizeF() * 1.4);
    large.setBold(true);
    heading->setFont(large);
    column->addWidget(heading);
    column->addSpacing(8);
    for (QWidget* part : parts) column->addWidget(part);
    column->addStretch();
    return page;
}

QLabel* paragraph(const QString& text) {
    auto* label = new QLabel(text);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    return label;
}

}  // namespace

Welcome::Welcome(Machine& machine, Library& library, const QString& starter, QWidget* parent)
    : QDialog(parent),
      library_(library),
      pages_(new QStackedWidget),
      step_(new QLabel),
      devices_(paragraph(tr("Looking …"))),
      found_(paragraph({})),
      use_starter_(new QRadioButton),
      use_own_(new QRadioButton(tr("One of the models that are on this computer"))),
      back_(new QPushButton(tr("&Back"))),
      next_(new QPushButton),
      skip_(new QPushButton(tr("&Skip"))) {
    setObjectName(QStringLiteral("welcome"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Welcome to Hearth"));
    devices_->setObjectName(QStringLiteral("welcome_devices"));
    found_->setObjectName(QStringLiteral("welcome_found"));
    use_own_->setObjectName(QStringLiteral("use_own"));
    use_starter_->setText(starter.isEmpty()
                              ? tr("The starter model is not installed")
                              : tr("The starter model that comes with Hearth (%1): small, quick, and ready now")
                                    .arg(sizeText(static_cast<quint64>(QFileInfo(starter).size()))));
    use_starter_->setEnabled(!starter.isEmpty());
    (starter.isEmpty() ? use_own_ : use_starter_)->setChecked(true);
    pages_->addWidget(makeComputerPage());
    pages_->addWidget(makeModelPage());
    pages_->addWidget(makePrivacyPage());
    step_->setForegroundRole(QPalette::PlaceholderText);
    next_->setObjectName(QStringLiteral("next"));
    next_->setDefault(true);
    skip_->setObjectName(QStringLiteral("skip"));
    for (QPushButton* button : {back_, skip_}) button->setAutoDefault(false);
    connect(back_, &QPushButton::clicked, this, [this] { go(page() - 1); });
    connect(next_, &QPushButton::clicked, this, [this] { page() + 1 < pages_->count() ? go(page() + 1) : finish(); });
    connect(skip_, &QPushButton::clicked, this, &QDialog::reject);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(step_);
    buttons->addStretch();
    buttons->addWidget(skip_);
    buttons->addWidget(back_);
    buttons->addWidget(next_);
    auto* column = new QVBoxLayout(this);
    column->addWidget(pages_, 1);
    column->addLayout(buttons);
    resize(fontMetrics().averageCharWidth() * 92, fontMetrics().height() * 22);
    connect(&library, &Library::changed, this, &Welcome::showFound);
    showFound();
    go(0);
    inBackground<QList<DeviceFacts>>(
        this, [&machine] { return machine.devices(); },
        [this](const Result<QList<DeviceFacts>>& result) {
            if (!result.problem.isEmpty()) devices_->setText(result.problem);
            else showDevices(result.value);
        });
}

QWidget* Welcome::makeComputerPage() {
    return pageOf(tr("Your computer"),
                  {paragraph(tr("Hearth runs language models on this computer, also those that are bigger than the "
                                "memory of its graphics card.")),
                   devices_});
}

QWidget* Welcome::makeModelPage() {
    auto* folder = new QPushButton(tr("I have models in a &folder …"));
    folder->setObjectName(QStringLiteral("own_folder"));
    folder->setAutoDefault(false);
    connect(folder, &QPushButton::clicked, this, &Welcome::chooseFolder);
    QWidget* page = pageOf(tr("A first model"), {use_starter_, use_own_, found_});
    auto* column = qobject_cast<QVBoxLayout*>(page->layout());
    column->insertWidget(column->count() - 1, folder, 0, Qt::AlignLeft);
    return page;
}

QWidget* Welcome::makePrivacyPage() {
    return pageOf(
        tr("Privacy"),
        {paragraph(tr("Nothing leaves this computer. What you write and what is answered is computed here and "
                      "kept here. There is no account, no telemetry, no crash report and no check for "
                      "updates.")),
         paragraph(tr("Chats lie unencrypted in your data folder; Edit → Settings → Data and privacy says "
                      "where."))});
}

void Welcome::showDevices(const QList<DeviceFacts>& devices) {
    QStringList lines;
    for (const DeviceFacts& one : devices) {
        if (one.name.isEmpty()) {
            QString why = one.why_not;
            why[0] = why[0].toUpper();
            lines << tr("⚠ %1.").arg(why);
        } else if (!one.graphics) {
            lines << tr("✓ Processor: %n threads", nullptr, static_cast<int>(one.threads))
                  << tr("✓ Main memory: %1, %2 free").arg(sizeText(one.bytes_total), sizeText(one.bytes_free));
        } else if (!one.why_not.isEmpty()) {
            lines << tr("⚠ %1 (%2): not used, %3.").arg(one.description, one.name, one.why_not);
        } else if (!one.computes) {
            lines << tr("– %1 (%2), %3: this version does not compute on it yet.")
                         .arg(one.description, one.name, sizeText(one.bytes_total));
        } else {
            lines << tr("✓ %1 (%2): %3, %4 free")
                         .arg(one.description, one.name, sizeText(one.bytes_total), sizeText(one.bytes_free));
        }
    }
    const QStorageInfo disk(QDir::homePath());
    if (disk.isValid()) lines << tr("✓ Disk: %1 free").arg(sizeText(static_cast<quint64>(disk.bytesAvailable())));
    devices_->setText(lines.join(u'\n'));
}

void Welcome::showFound() {
    QMap<QString, int> counts;
    for (const LibraryEntry& one : library_.entries())
        if (one.state != LibraryEntry::Broken && (!one.owner.isEmpty() || !one.root.isEmpty())) ++counts[one.owner];
    QStringList found;
    for (auto it = counts.begin(); it != counts.end(); ++it)
        found << (it.key().isEmpty() ? tr("%n in your folders", nullptr, it.value())
                                     : tr("%1 of %2").arg(QString::number(it.value()), it.key()));
    found_->setText(found.isEmpty()
                        ? tr("None were found so far. They are used where they are; nothing is moved or copied.")
                        : tr("Found: %1. They are used where they are; nothing is moved or copied.")
                              .arg(found.join(QStringLiteral(", "))));
    use_own_->setEnabled(!found.isEmpty());
}

void Welcome::chooseFolder() {
    auto* dialog = new QFileDialog(this, tr("The folder with your models"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) {
        library_.addFolder(folder);
        use_own_->setEnabled(true);
        use_own_->setChecked(true);
    });
    dialog->open();
}

void Welcome::go(int page) {
    pages_->setCurrentIndex(page);
    back_->setEnabled(page > 0);
    next_->setText(page + 1 < pages_->count() ? tr("&Next") : tr("&Start"));
    step_->setText(tr("%1 of %2").arg(page + 1).arg(pages_->count()));
    next_->setFocus();
}

void Welcome::finish() {
    QStringList own;
    for (const LibraryEntry& one : library_.entries())
        if (one.state == LibraryEntry::Ready && (!one.owner.isEmpty() || !one.root.isEmpty())) own << one.path;
    if (use_own_->isChecked()) {
        if (own.size() == 1) Q_EMIT modelChosen(own.first());
        else Q_EMIT modelsWanted();
    }
    accept();
}

}  // namespace hearth::ui
