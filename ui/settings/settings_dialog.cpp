#include "ui/settings/settings_dialog.h"

#include <QDesktopServices>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <QUrl>
#include <QVBoxLayout>

#include "ui/language.h"
#include "ui/tray.h"

namespace hearth::ui {

SettingsDialog::SettingsDialog(Settings& settings, const QList<QAction*>& actions,
                               const QList<std::pair<QString, QString>>& folders, QWidget* parent)
    : QDialog(parent),
      settings_(settings),
      language_(new QComboBox),
      theme_(new QComboBox),
      send_key_(new QComboBox),
      zoom_(new QSpinBox),
      threads_(new QSpinBox),
      notifies_(new QCheckBox(tr("&Tell me when a long reply ends and I look elsewhere"))),
      awake_(new QCheckBox(tr("Keep the computer &awake while a model computes"))),
      tray_(new QCheckBox(tr("Closing the &window leaves an icon in the tray"))),
      shortcuts_(new ShortcutsPage(actions)) {
    setObjectName(QStringLiteral("settings_dialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Settings"));
    auto* tabs = new QTabWidget;
    tabs->addTab(makeGeneralPage(), tr("&General"));
    tabs->addTab(shortcuts_, tr("&Shortcuts"));
    tabs->addTab(makeDataPage(folders), tr("&Data and privacy"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    auto* column = new QVBoxLayout(this);
    column->addWidget(tabs);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(this, &QDialog::accepted, this, &SettingsDialog::apply);
    resize(560, 480);
}

QWidget* SettingsDialog::makeGeneralPage() {
    language_->setObjectName(QStringLiteral("language"));
    language_->addItem(tr("as the system"), QString());
    for (const Language& one : languages())
        language_->addItem(
            one.code == QStringLiteral("en") ? one.name : tr("%1 (begun; the rest is English)").arg(one.name),
            one.code);
    language_->setCurrentIndex(std::max(0, language_->findData(settings_.language())));
    language_->setToolTip(tr("Holds from the next start of Hearth."));
    theme_->setObjectName(QStringLiteral("theme"));
    theme_->addItems({tr("as the system"), tr("light"), tr("dark")});
    theme_->setCurrentIndex(static_cast<int>(settings_.theme()));
    zoom_->setObjectName(QStringLiteral("zoom"));
    zoom_->setRange(-6, 24);
    zoom_->setPrefix(settings_.zoom() > 0 ? QStringLiteral("+") : QString());
    connect(zoom_, &QSpinBox::valueChanged, zoom_,
            [this](int points) { zoom_->setPrefix(points > 0 ? QStringLiteral("+") : QString()); });
    zoom_->setSuffix(tr(" points"));
    zoom_->setValue(settings_.zoom());
    send_key_->setObjectName(QStringLiteral("send_key"));
    send_key_->addItems({tr("Enter"), tr("Shift+Enter"), tr("Ctrl+Enter")});
    send_key_->setCurrentIndex(static_cast<int>(settings_.sendKey()));
    threads_->setObjectName(QStringLiteral("threads"));
    threads_->setRange(0, 1024);
    threads_->setSpecialValueText(tr("as many as there are fast cores"));
    threads_->setValue(static_cast<int>(settings_.threads()));
    threads_->setToolTip(tr("Holds from the next model that is loaded."));
    notifies_->setChecked(settings_.notifies());
    awake_->setObjectName(QStringLiteral("awake"));
    awake_->setChecked(settings_.staysAwake());
    tray_->setObjectName(QStringLiteral("tray"));
    tray_->setChecked(settings_.usesTray());
    auto* page = new QWidget;
    auto* form = new QFormLayout(page);
    form->addRow(tr("&Language"), language_);
    form->addRow(tr("&Colours"), theme_);
    form->addRow(tr("Text &size of chats"), zoom_);
    form->addRow(tr("&Messages are sent with"), send_key_);
    form->addRow(tr("T&hreads"), threads_);
    form->addRow(notifies_);
    form->addRow(awake_);
    if (Tray::isPossible()) form->addRow(tray_);
    else tray_->setParent(page), tray_->hide();
    return page;
}

QWidget* SettingsDialog::makeDataPage(const QList<std::pair<QString, QString>>& folders) {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    auto* words =
        new QLabel(tr("Everything is computed on this computer. Hearth sends nothing anywhere: no telemetry, no "
                      "crash reports, no check for updates. Chats lie in the first of these folders, unencrypted."));
    words->setWordWrap(true);
    column->addWidget(words);
    for (const auto& [name, path] : folders) {
        auto* label = new QLabel(tr("%1: %2").arg(name, path));
        label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        label->setAccessibleName(name);
        label->setWordWrap(true);
        auto* open = new QPushButton(tr("Open"));
        open->setAccessibleName(tr("Open the folder %1").arg(name));
        connect(open, &QPushButton::clicked, this, [path] { QDesktopServices::openUrl(QUrl::fromLocalFile(path)); });
        auto* row = new QHBoxLayout;
        row->addWidget(label, 1);
        row->addWidget(open);
        column->addLayout(row);
    }
    column->addStretch();
    return page;
}

void SettingsDialog::apply() {
    settings_.setLanguage(language_->currentData().toString());
    settings_.setTheme(static_cast<Theme>(theme_->currentIndex()));
    settings_.setZoom(zoom_->value());
    settings_.setSendKey(static_cast<SendKey>(send_key_->currentIndex()));
    settings_.setThreads(static_cast<uint>(threads_->value()));
    settings_.setNotifies(notifies_->isChecked());
    settings_.setStaysAwake(awake_->isChecked());
    settings_.setUsesTray(tray_->isChecked());
    shortcuts_->apply(settings_);
    Q_EMIT applied();
}

}  // namespace hearth::ui
