// What can be chosen in the main window, and what follows from it.
#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>

#include "ui/background.h"
#include "ui/exchange/text_file.h"
#include "ui/main_window.h"
#include "ui/notification.h"
#include "ui/settings/chat_settings_dialog.h"
#include "ui/settings/settings_dialog.h"

namespace hearth::ui {
namespace {

constexpr double long_reply_s = 10;

}  // namespace

QList<QAction*> MainWindow::menuActions() const {
    QList<QAction*> all;
    for (const QAction* menu : menuBar()->actions())
        for (QAction* action : menu->menu()->actions())
            if (!action->isSeparator() && !action->objectName().isEmpty()) all << action;
    return all;
}

void MainWindow::editChatSettings() {
    const auto& model = context_.worker.model();
    auto* dialog = new ChatSettingsDialog(context_.settings, chat_->systemPrompt(), chat_->choices(),
                                          model ? &*model : nullptr, this);
    connect(dialog, &QDialog::accepted, this, [this, dialog] {
        chat_->setSystemPrompt(dialog->systemPrompt());
        chat_->setChoices(dialog->choices());
        const auto& loaded = context_.worker.model();
        if (dialog->forModel() && loaded)
            context_.settings.setModelDefaults(loaded->name, dialog->choices().toJson(),
                                               dialog->systemPrompt().trimmed());
    });
    dialog->open();
}

/// A chat that has not begun takes what was chosen for its model.
void MainWindow::applyModelDefaults() {
    const auto& model = context_.worker.model();
    if (!model) return;
    chat_->setDefaults(ReplyChoices::fromJson(context_.settings.modelChoices(model->name)));
    if (chat_->id() == 0 && chat_->systemPrompt().isEmpty())
        chat_->setSystemPrompt(context_.settings.modelSystemPrompt(model->name));
}

void MainWindow::editSettings() {
    const QList<std::pair<QString, QString>> folders = {{tr("Chats"), QFileInfo(context_.store.path()).absolutePath()},
                                                        {tr("Settings"), context_.settings.folder()}};
    auto* dialog = new SettingsDialog(context_.settings, menuActions(), folders, this);
    connect(dialog, &SettingsDialog::applied, this, [this] {
        applyTheme(context_.settings.theme());
        applySettings();
    });
    dialog->open();
}

void MainWindow::applySettings() {
    zoomBy(0);
    applyTray();
    pane_->input().setSendKey(context_.settings.sendKey());
}

void MainWindow::applyTray() {
    if (!context_.settings.usesTray() || !Tray::isPossible()) return tray_.reset();
    if (tray_) return;
    tray_ = std::make_unique<Tray>();
    connect(tray_.get(), &Tray::showRequested, this, [this] {
        show();
        raise();
        activateWindow();
    });
    connect(tray_.get(), &Tray::newChatRequested, this, [this] {
        newChat();
        Q_EMIT tray_->showRequested();
    });
    connect(tray_.get(), &Tray::unloadRequested, this, [this] { context_.worker.unload(); });
    connect(tray_.get(), &Tray::quitRequested, this, &MainWindow::quit);
}

/// Unlike closing, never into the tray.
void MainWindow::quit() {
    quitting_ = true;
    close();
    if (!isVisible()) QApplication::quit();
}

void MainWindow::openFiles(const QStringList& paths) {
    for (const QString& path : paths) {
        if (path.endsWith(QStringLiteral(".gguf"), Qt::CaseInsensitive)) {
            openModel(path);
            continue;
        }
        inBackground<QString>(
            this, [path] { return readTextFile(path); },
            [this, path](const Result<QString>& text) {
                if (text.problem.isEmpty()) pane_->attach(QFileInfo(path).fileName(), text.value);
                else pane_->banner().say(text.problem);
            });
    }
}

void MainWindow::chooseAttachment() {
    auto* dialog = new QFileDialog(this, tr("Attach text files"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    connect(dialog, &QFileDialog::filesSelected, this, &MainWindow::openFiles);
    dialog->open();
}

/// Says that a reply has ended to somebody who waited long and looks elsewhere.
void MainWindow::tellOfReply() {
    if (isActiveWindow() || !context_.settings.notifies() || context_.worker.statistics().seconds < long_reply_s)
        return;
    QApplication::alert(this);
    notify(tr("The reply is ready"), chat_->title());
}

}  // namespace hearth::ui
