// Chats out of the main window into files, and back.
#include <QFileDialog>
#include <QSaveFile>
#include <QStatusBar>

#include "ui/background.h"
#include "ui/chat/code_highlighter.h"
#include "ui/exchange/chat_files.h"
#include "ui/main_window.h"

namespace hearth::ui {
void MainWindow::runExport(const QString& path, const std::function<void()>& work) {
    inBackground<bool>(
        this,
        [work] {
            work();
            return true;
        },
        [this, path](const Result<bool>& result) {
            if (result.problem.isEmpty()) statusBar()->showMessage(tr("Saved to %1").arg(path), 4000);
            else pane_->banner().say(result.problem);
        });
}

void MainWindow::exportTo(const QString& path) {
    const WholeChat whole = chat_->whole();
    runExport(path, [whole, path] { exportChat(whole, path); });
}

void MainWindow::chooseExport() {
    auto* dialog = new QFileDialog(this, tr("Save the chat"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    const QList<std::pair<QString, QString>> kinds = {{tr("Markdown (*.md)"), QStringLiteral("md")},
                                                     {tr("Web page (*.html)"), QStringLiteral("html")},
                                                     {tr("PDF (*.pdf)"), QStringLiteral("pdf")},
                                                     {tr("With all branches, for Hearth (*.json)"), QStringLiteral("json")}};
    QStringList filters;
    for (const auto& [name, ending] : kinds) filters << name;
    dialog->setNameFilters(filters);
    dialog->setDefaultSuffix(QStringLiteral("md"));
    QString name = chat_->title();
    for (const QChar bad : QStringLiteral("/\\:*?\"<>|")) name.replace(bad, u'_');
    dialog->selectFile(name.isEmpty() ? tr("chat") : name);
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog, kinds](const QString& filter) {
        for (const auto& [kind, ending] : kinds)
            if (kind == filter) dialog->setDefaultSuffix(ending);
    });
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::exportTo);
    dialog->open();
}

void MainWindow::exportAllTo(const QString& path) {
    connect(
        &context_.store, &Store::loadedAll, this,
        [this, path](const QList<WholeChat>& chats) {
            runExport(path, [chats, path] { exportChats(chats, path); });
        },
        Qt::SingleShotConnection);
    context_.store.loadAll();
}

void MainWindow::chooseExportAll() {
    auto* dialog = new QFileDialog(this, tr("Save all chats"), tr("chats.json"), tr("Chats (*.json)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("json"));
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::exportAllTo);
    dialog->open();
}

void MainWindow::importFrom(const QString& path) {
    statusBar()->showMessage(tr("Reading %1 …").arg(path));
    inBackground<QList<WholeChat>>(
        this, [path] { return importChats(path); },
        [this](const Result<QList<WholeChat>>& result) {
            statusBar()->clearMessage();
            if (!result.problem.isEmpty()) return pane_->banner().say(result.problem);
            for (const WholeChat& whole : result.value) context_.store.save(whole);
            statusBar()->showMessage(tr("%n chats are here now", nullptr, static_cast<int>(result.value.size())), 4000);
            openChat(result.value.first().chat.id);
        });
}

void MainWindow::chooseImport() {
    auto* dialog = new QFileDialog(this, tr("Bring in chats"), {}, tr("Chats (*.json);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::importFrom);
    dialog->open();
}

void MainWindow::saveCode(const QString& code, const QString& language) {
    auto* dialog = new QFileDialog(this, tr("Save the code"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->selectFile(tr("code") + u'.' + fileEndingOf(language));
    connect(dialog, &QFileDialog::fileSelected, this, [this, code](const QString& path) {
        QSaveFile file(path);
        const QByteArray bytes = code.toUtf8() + '\n';
        if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit())
            statusBar()->showMessage(tr("Saved to %1").arg(path), 4000);
        else pane_->banner().say(tr("%1 could not be written: %2.").arg(path, file.errorString()));
    });
    dialog->open();
}

}  // namespace hearth::ui
