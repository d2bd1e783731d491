// The menus of the main window, and what their entries do.
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QFileDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QStatusBar>
#include <QUrl>

#include "ui/main_window.h"

namespace hearth::ui {

QAction* MainWindow::add(QMenu* menu, const QString& text, const QKeySequence& keys, const char* name,
                         const std::function<void()>& act) {
    QAction* action = menu->addAction(text, keys, this, act);
    action->setObjectName(QLatin1StringView(name));
    return action;
}

void MainWindow::makeMenus() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    add(file, tr("&New chat"), QKeySequence::New, "new_chat", [this] { newChat(); });
    add(file, tr("&Open model file …"), QKeySequence::Open, "open_model", [this] { chooseModel(); });
    save_ = add(file, tr("&Save chat as …"), QKeySequence::Save, "save_chat", [this] { chooseExport(); });
    add(file, tr("Save &all chats …"), {}, "save_all", [this] { chooseExportAll(); });
    add(file, tr("&Bring in chats …"), {}, "import", [this] { chooseImport(); });
    add(file, tr("New &folder …"), {}, "new_folder", [this] { list_->newFolder(); });
    add(file, tr("&Rename chat"), QKeySequence(Qt::Key_F2), "rename_chat", [this] {
        if (!list_->tree().hasFocus()) list_->setCurrent(chat_->id());
        list_->renameCurrent();
    });
    delete_ = add(file, tr("&Delete chat"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Delete), "delete_chat",
                  [this] { removeChat(chat_->id()); });
    file->addSeparator();
    add(file, tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), "quit", [this] { quit(); });

    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    add(edit, tr("&Copy"), QKeySequence::Copy, "copy", [this] { copySelection(); });
    add(edit, tr("Copy last &answer"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_C), "copy_answer",
        [this] { QApplication::clipboard()->setText(chat_->lastAnswer()); });
    copy_code_ = add(edit, tr("Copy last co&de"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), "copy_code", [this] {
        const QString code = pane_->view().lastCode();
        if (code.isEmpty()) return statusBar()->showMessage(tr("There is no code in this chat."), 3000);
        QApplication::clipboard()->setText(code);
        statusBar()->showMessage(tr("Code copied"), 2000);
    });
    add(edit, tr("&Select all messages"), {}, "select_all", [this] { pane_->view().selectAll(); });

    add(edit, tr("&Find in all chats"), QKeySequence(Qt::CTRL | Qt::Key_K), "find_chat_action", [this] {
        list_->searchLine().setFocus(Qt::ShortcutFocusReason);
        list_->searchLine().selectAll();
    });

    edit->addSeparator();
    add(edit, tr("S&ettings …"), QKeySequence(Qt::CTRL | Qt::Key_Comma), "settings", [this] { editSettings(); });

    QMenu* chat = menuBar()->addMenu(tr("&Chat"));
    regenerate_ = add(chat, tr("&Regenerate reply"), QKeySequence(Qt::CTRL | Qt::Key_R), "regenerate",
                      [this] { pane_->regenerate(); });
    edit_ = add(chat, tr("&Edit last message"), QKeySequence(Qt::CTRL | Qt::Key_E), "edit_last",
                [this] { pane_->editLast(); });
    stop_ = add(chat, tr("&Stop"), QKeySequence(Qt::Key_Escape), "stop", [this] {
        if (chat_->replying()) pane_->stop();
        else context_.worker.stop();
    });
    resume_ = add(chat, tr("&Continue reply"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R), "resume",
                  [this] { chat_->resume(); });
    add(chat, tr("Pre&vious branch"), QKeySequence(Qt::ALT | Qt::Key_Left), "previous_branch",
        [this] { pane_->view().stepBranch(-1); });
    add(chat, tr("&Next branch"), QKeySequence(Qt::ALT | Qt::Key_Right), "next_branch",
        [this] { pane_->view().stepBranch(1); });
    chat->addSeparator();
    add(chat, tr("System &prompt and settings …"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P), "chat_settings",
        [this] { editChatSettings(); });
    add(chat, tr("A&ttach a text file …"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A), "attach_file",
        [this] { chooseAttachment(); });
    fold_ = add(chat, tr("Show or hide &thinking"), QKeySequence(Qt::CTRL | Qt::Key_T), "fold_thinking",
                [this] { foldThinking(); });

    QMenu* model = menuBar()->addMenu(tr("&Model"));
    add(model, tr("&Models …"), QKeySequence(Qt::CTRL | Qt::Key_L), "models_action", [this] { showModels(); });
    starter_ =
        add(model, tr("Load the &starter model"), {}, "load_starter", [this] { openModel(context_.starter_model); });
    unload_ = add(model, tr("&Unload"), {}, "unload", [this] { context_.worker.unload(); });

    QMenu* view = menuBar()->addMenu(tr("&View"));
    add(view, tr("&Larger text"), QKeySequence::ZoomIn, "zoom_in", [this] {
        zoomBy(1);
    })->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Plus), QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    add(view, tr("&Smaller text"), QKeySequence::ZoomOut, "zoom_out", [this] { zoomBy(-1); });
    add(view, tr("&Normal text"), QKeySequence(Qt::CTRL | Qt::Key_0), "zoom_reset",
        [this] { zoomBy(-context_.settings.zoom()); });
    view->addSeparator();
    QAction* hardware = hardware_dock_->toggleViewAction();
    hardware->setText(tr("&Hardware"));
    hardware->setObjectName(QStringLiteral("hardware"));
    hardware->setShortcut(QKeySequence(Qt::Key_F9));
    view->addAction(hardware);
    makeThemeMenu(*view->addMenu(tr("&Theme")));
    add(view, tr("Next &pane"), QKeySequence(Qt::Key_F6), "next_pane", [this] { nextPane(); });

    QMenu* help = menuBar()->addMenu(tr("&Help"));
    add(help, tr("&Keyboard shortcuts"), QKeySequence(Qt::Key_F1), "shortcuts", [this] { showShortcuts(); });
    add(help, tr("&About Hearth"), {}, "about", [this] { about(); });
}

void MainWindow::makeThemeMenu(QMenu& menu) {
    auto* group = new QActionGroup(&menu);
    const auto entry = [&](const QString& text, Theme theme) {
        QAction* action = menu.addAction(text, this, [this, theme] {
            context_.settings.setTheme(theme);
            applyTheme(theme);
        });
        action->setCheckable(true);
        action->setChecked(context_.settings.theme() == theme);
        group->addAction(action);
    };
    entry(tr("As the &system"), Theme::System);
    entry(tr("&Light"), Theme::Light);
    entry(tr("&Dark"), Theme::Dark);
}

void MainWindow::chooseModel() {
    auto* dialog = new QFileDialog(this, tr("Open a model file"), {}, tr("Model files (*.gguf);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openModel);
    dialog->open();
}

void MainWindow::foldThinking() {
    ConversationModel& messages = chat_->messages();
    for (int row = messages.rowCount() - 1; row >= 0; --row) {
        const QModelIndex index = messages.index(row);
        if (index.data(ConversationModel::ThinkingRole).toString().isEmpty()) continue;
        messages.setData(index, !index.data(ConversationModel::FoldedRole).toBool(), ConversationModel::FoldedRole);
        return;
    }
    statusBar()->showMessage(tr("There is no thinking in this chat."), 3000);
}

void MainWindow::copySelection() {
    if (pane_->input().hasFocus() && pane_->input().textCursor().hasSelection()) pane_->input().copy();
    else pane_->view().copy();
}

void MainWindow::zoomBy(int points) {
    const int zoom = context_.settings.zoom() + points;
    if (points != 0) context_.settings.setZoom(zoom);
    QFont font = QApplication::font();
    font.setPointSizeF(std::max(6.0, font.pointSizeF() + context_.settings.zoom()));
    pane_->view().setFont(font);
    pane_->input().setFont(font);
}

/// List, messages, box, hardware, and round again; what is not there is left out.
void MainWindow::nextPane() {
    QWidget* const panes[] = {&list_->tree(), &pane_->view(), &pane_->input(), hardware_};
    constexpr size_t count = std::size(panes);
    size_t at = 2;
    for (size_t i = 0; i < count; ++i)
        if (panes[i]->hasFocus() || panes[i]->isAncestorOf(focusWidget())) at = i;
    do at = (at + 1) % count;
    while (!panes[at]->isVisible());
    panes[at]->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::showShortcuts() {
    QString rows;
    for (const QAction* action : findChildren<QAction*>()) {
        if (action->shortcut().isEmpty()) continue;
        rows += QStringLiteral("<tr><td>%1&nbsp;&nbsp;</td><td>%2</td></tr>")
                    .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(),
                         action->text().remove(u'&').toHtmlEscaped());
    }
    rows += QStringLiteral(
                "<tr><td>Enter&nbsp;&nbsp;</td><td>%1</td></tr><tr><td>Shift+Enter&nbsp;&nbsp;</td><td>%2</td></tr>")
                .arg(tr("Send the message"), tr("New line in the message"));
    auto* box = new QMessageBox(QMessageBox::NoIcon, tr("Keyboard shortcuts"),
                                QStringLiteral("<table>%1</table>").arg(rows), QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

void MainWindow::about() {
    auto* box = new QMessageBox(QMessageBox::NoIcon, tr("About Hearth"),
                                tr("<h3>Hearth %1</h3><p>Chat with language models that are bigger than your graphics "
                                   "card.</p><p>Everything is computed on this computer. Nothing is sent anywhere.</p>")
                                    .arg(QCoreApplication::applicationVersion()),
                                QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setIconPixmap(windowIcon().pixmap(64, 64));
    box->open();
}

/// A model wrote the address, so it is shown before anything opens it, and only what a browser or a mail program takes.
void MainWindow::openLink(const QString& target) {
    const QUrl url(target);
    const bool opens =
        QStringList{QStringLiteral("http"), QStringLiteral("https"), QStringLiteral("mailto")}.contains(url.scheme());
    auto* question = new QMessageBox(QMessageBox::Question, tr("Link"),
                                     opens ? tr("Open this address? The model wrote it; nobody has checked it.")
                                           : tr("Hearth does not open addresses of this kind."),
                                     QMessageBox::Cancel, this);
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setInformativeText(target);
    question->setTextFormat(Qt::PlainText);
    QPushButton* copy = question->addButton(tr("&Copy address"), QMessageBox::ActionRole);
    QPushButton* open = opens ? question->addButton(tr("&Open"), QMessageBox::AcceptRole) : nullptr;
    connect(question, &QMessageBox::buttonClicked, this, [=](QAbstractButton* clicked) {
        if (clicked == copy) QApplication::clipboard()->setText(target);
        else if (open != nullptr && clicked == open) QDesktopServices::openUrl(url);
    });
    question->open();
}

}  // namespace hearth::ui
