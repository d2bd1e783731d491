#pragma once

#include <QAction>
#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QProgressBar>
#include <QSplitter>
#include <QTimer>
#include <functional>
#include <memory>
#include <vector>

#include "ui/app_context.h"
#include "ui/chat/chat_pane.h"
#include "ui/chats/chat_list_pane.h"
#include "ui/hardware/hardware_panel.h"
#include "ui/library/model_manager.h"
#include "ui/suspend_block.h"
#include "ui/tray.h"

namespace hearth::ui {

/// The window: menus, the chat, and a status bar that says what computes, how fast, and how full the context is.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    explicit MainWindow(AppContext& context, QWidget* parent = nullptr);
    ~MainWindow() override;

    void openModel(const QString& path);
    /// Models are loaded, other files attached to the message that is being written.
    void openFiles(const QStringList& paths);
    ChatPane& pane() { return *pane_; }
    Chat& chat() { return *chat_; }
    ChatListPane& chatList() { return *list_; }
    ModelManager& models() { return *models_; }
    HardwarePanel& hardware() { return *hardware_; }
    void showModels();
    /// The pages of a first start, unless they have been seen.
    void welcome();
    /// Shows a chat of the store; `message`: to be scrolled to, or 0.
    void openChat(qint64 id, qint64 message = 0);
    /// Writes what is shown, or all chats, to a file, in the background.
    void exportTo(const QString& path);
    void exportAllTo(const QString& path);
    void importFrom(const QString& path);

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeMenus();
    void makeThemeMenu(QMenu& menu);
    void makeStatusBar();
    QAction* add(QMenu* menu, const QString& text, const QKeySequence& keys, const char* name,
                 const std::function<void()>& act);
    void connectChats();
    void showChat(std::unique_ptr<Chat> chat);
    void restoreSession();
    void removeChat(qint64 id);
    void saveCode(const QString& code, const QString& language);

    void makeHardware();
    void connectModels();
    void showModelState();
    void keepFigures(const Outcome& outcome);

    void newChat();
    void chooseModel();
    void chooseExport();
    void chooseExportAll();
    void chooseImport();
    void runExport(const QString& path, const std::function<void()>& work);
    void editChatSettings();
    void editSettings();
    void applySettings();
    void applyTray();
    void quit();
    void applyModelDefaults();
    void chooseAttachment();
    void tellOfReply();
    QList<QAction*> menuActions() const;
    void foldThinking();
    void copySelection();
    void zoomBy(int points);
    void nextPane();
    void showShortcuts();
    void about();
    void openLink(const QString& target);

    void loadEnded(const Failure* failure);
    void refresh();
    void showFigures();

    AppContext& context_;
    std::unique_ptr<Chat> chat_;
    std::vector<std::unique_ptr<Chat>> replying_;   ///< chats that are not shown, while a reply is written in them
    QTimer draft_saving_;
    QSplitter* splitter_;
    ChatListPane* list_;
    ChatPane* pane_;
    ModelManager* models_;
    QDockWidget* hardware_dock_;
    HardwarePanel* hardware_;
    quint64 load_ = 0;         ///< the request under way, or 0
    QString loading_;          ///< its file's name
    SuspendBlock suspend_;
    std::unique_ptr<Tray> tray_;   ///< only where somebody wants one
    bool quitting_ = false;
    QTimer meter_;             ///< runs only while something is generated
    QProgressBar* context_bar_;
    QLabel *model_label_, *device_label_, *speed_label_, *context_label_;
    QAction *regenerate_, *edit_, *stop_, *unload_, *starter_, *fold_, *copy_code_, *save_, *delete_, *resume_;
};

}  // namespace hearth::ui
