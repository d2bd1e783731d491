#include "ui/main_window.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLocale>
#include <QMenuBar>
#include <QMimeData>
#include <QStatusBar>
#include <QUrl>

#include "ui/chat/code_highlighter.h"
#include "ui/settings/shortcuts_page.h"

namespace hearth::ui {
namespace {

QStringList filesOf(const QMimeData* source) {
    QStringList paths;
    for (const QUrl& url : source->urls())
        if (url.isLocalFile()) paths << url.toLocalFile();
    return paths;
}

}  // namespace

MainWindow::MainWindow(AppContext& context, QWidget* parent)
    : QMainWindow(parent),
      context_(context),
      splitter_(new QSplitter),
      list_(new ChatListPane(context.store)),
      pane_(new ChatPane),
      models_(new ModelManager(context.library, this)),
      hardware_dock_(new QDockWidget(tr("Hardware"))),
      hardware_(new HardwarePanel(context.machine, context_.settings)) {
    setWindowTitle(tr("Hearth"));
    setAcceptDrops(true);
    splitter_->addWidget(list_);
    splitter_->addWidget(pane_);
    splitter_->setStretchFactor(1, 1);
    splitter_->setChildrenCollapsible(false);
    splitter_->setHandleWidth(1);
    setCentralWidget(splitter_);
    makeStatusBar();
    makeHardware();
    makeMenus();
    showChat(std::make_unique<Chat>(context_.worker, context_.store));
    connectChats();
    connectModels();

    Worker& worker = context_.worker;
    connect(&worker, &Worker::busyChanged, this, &MainWindow::refresh);
    connect(&worker, &Worker::modelChanged, this, [this] {
        const auto& model = context_.worker.model();
        pane_->setCounter(model ? model->count_tokens : nullptr);
        applyModelDefaults();
        showModelState();
        refresh();
    });
    const auto ended = [this](quint64 request, const Outcome& outcome) {
        if (request == load_) loadEnded(nullptr);
        else keepFigures(outcome);
    };
    connect(&worker, &Worker::finished, this, ended);
    connect(&worker, &Worker::stopped, this, ended);
    connect(&worker, &Worker::failed, this, [this](quint64 request, const Failure& failure) {
        if (request == load_) loadEnded(&failure);
    });
    connect(pane_, &ChatPane::emptyStateButtonClicked, this, &MainWindow::showModels);
    connect(pane_, &ChatPane::editingChanged, this, &MainWindow::refresh);
    connect(&pane_->input(), &InputBox::filesDropped, this, &MainWindow::openFiles);
    connect(pane_, &ChatPane::attachRequested, this, &MainWindow::chooseAttachment);
    connect(&pane_->view(), &ChatView::linkActivated, this, &MainWindow::openLink);
    connect(&pane_->view(), &ChatView::copied, this,
            [this](const QString& what) { statusBar()->showMessage(what, 2000); });
    meter_.setInterval(100);
    connect(&meter_, &QTimer::timeout, this, &MainWindow::showFigures);

    if (const QByteArray geometry = context_.settings.windowGeometry();
        geometry.isEmpty() || !restoreGeometry(geometry))
        resize(1080, 700);
    if (!splitter_->restoreState(context_.settings.splitter())) splitter_->setSizes({240, 840});
    restoreState(context_.settings.windowState());
    ShortcutsPage::restore(menuActions(), context_.settings);
    applySettings();
    pane_->setFocus();
    prepareHighlighting();
    if (context_.store.isReady()) restoreSession();
    refresh();
}

MainWindow::~MainWindow() {
    // What is still to be kept is said to the store while chats go; nothing of that is shown any more.
    context_.store.disconnect(this);
    context_.worker.disconnect(this);
    chat_->disconnect();
}

void MainWindow::makeStatusBar() {
    const auto label = [this](const char* object, const QString& accessible, bool permanent) {
        auto* made = new QLabel;
        made->setObjectName(QLatin1StringView(object));
        made->setAccessibleName(accessible);
        if (permanent) statusBar()->addPermanentWidget(made);
        else statusBar()->addWidget(made);
        return made;
    };
    statusBar()->setContentsMargins(8, 0, 8, 0);
    model_label_ = label("status_model", tr("Model"), false);
    device_label_ = label("status_device", tr("Device in use"), true);
    speed_label_ = label("status_speed", tr("Speed"), true);
    context_label_ = label("status_context", tr("Context in use"), true);
    context_bar_ = new QProgressBar;
    context_bar_->setObjectName(QStringLiteral("context_bar"));
    context_bar_->setAccessibleName(tr("Context in use"));
    context_bar_->setTextVisible(false);
    context_bar_->setFixedSize(fontMetrics().averageCharWidth() * 12, fontMetrics().height() * 2 / 3);
    statusBar()->addPermanentWidget(context_bar_);
}

void MainWindow::openModel(const QString& path) {
    // One load at a time, and none under a running reply: both are asked to stop, and this one follows them.
    context_.worker.stop();
    loading_ = QFileInfo(path).fileName();
    load_ = context_.worker.load(
        path, {.threads = context_.settings.threads(),
               .placement = HardwarePanel::choicesFor(context_.settings, QFileInfo(path).completeBaseName())});
    context_.library.addFile(path);
    pane_->banner().hide();
    refresh();
}

void MainWindow::loadEnded(const Failure* failure) {
    load_ = 0;
    if (failure != nullptr) {
        QString what = failure->what;
        if (what.contains(loading_)) what[0] = what[0].toUpper();
        else what = tr("%1: %2").arg(loading_, what);
        QString sentence = tr("%1: %2.").arg(what, failure->why);
        if (!failure->next.isEmpty()) sentence += QStringLiteral(" %1.").arg(failure->next);
        pane_->banner().say(sentence, tr("Choose another file …"), [this] { chooseModel(); });
    } else if (const auto& model = context_.worker.model(); model && !model->notes.isEmpty()) {
        pane_->banner().say(model->notes.join(u' '));
    }
    refresh();
}

void MainWindow::refresh() {
    const Worker& worker = context_.worker;
    const auto& model = worker.model();
    const bool idle = !worker.busy();
    if (load_ != 0) pane_->setEmptyState(tr("Loading …"), loading_, {});
    else if (model)
        pane_->setEmptyState(
            model->name,
            tr("Write a message below and press Enter. Everything is computed on this computer; nothing leaves it."),
            {});
    else
        pane_->setEmptyState(
            tr("No model is loaded"),
            tr("Choose one of the models on this computer, or drop a model file (.gguf) on this window."),
            tr("Choose a model …"));

    model_label_->setText(load_ != 0 ? tr("Loading %1 …").arg(loading_) : model ? model->name : tr("No model"));
    model_label_->setToolTip(model ? model->path : QString());
    device_label_->setText(
        model ? tr("%1, %2").arg(model->device, QLocale().formattedDataSize(static_cast<qint64>(model->bytes)))
              : QString());
    if (chat_) {
        regenerate_->setEnabled(chat_->canRegenerate());
        edit_->setEnabled(chat_->canEdit() && !pane_->editing());
        resume_->setEnabled(chat_->canResume());
        delete_->setEnabled(chat_->id() != 0);
        setWindowTitle(chat_->title().isEmpty() ? tr("Hearth") : tr("%1 – Hearth").arg(chat_->title()));
        const bool empty = chat_->messages().isEmpty();
        fold_->setEnabled(!empty);
        copy_code_->setEnabled(!empty);
        save_->setEnabled(!empty);
    }
    stop_->setEnabled(!idle && !pane_->editing());   // while a message is changed, Esc belongs to that
    unload_->setEnabled(idle && model.has_value());
    starter_->setEnabled(!context_.starter_model.isEmpty());
    if (idle) meter_.stop();
    else if (!meter_.isActive()) meter_.start();
    models_->setLoaded(model ? model->path : QString(), idle);
    if (tray_) tray_->setModel(idle && model ? model->name : QString());
    suspend_.setBusy(!idle && context_.settings.staysAwake());
    showFigures();
}

void MainWindow::showFigures() {
    const auto& model = context_.worker.model();
    const Statistics now = context_.worker.statistics();
    const QLocale locale;
    const bool reading = chat_ && chat_->replying() && now.tokens == 0;
    if (reading && now.prompt_tokens > 0)
        speed_label_->setText(tr("reading %1/%2 tokens").arg(now.prompt_done).arg(now.prompt_tokens));
    else
        speed_label_->setText(now.tokens_per_s > 0 ? tr("%1 tokens/s").arg(locale.toString(now.tokens_per_s, 'f', 1))
                                                   : QString());
    if (hardware_->isVisible()) {
        hardware_->meter().take(now, context_.worker.busy() && load_ == 0);
        hardware_->map().setComputed(Meter::computedShare(now));
    }
    const uint used = chat_ && !chat_->messages().isEmpty() ? now.context_used : 0;
    context_label_->setText(model ? tr("context %1/%2").arg(locale.toString(used), locale.toString(model->context))
                                  : QString());
    context_bar_->setVisible(model.has_value());
    context_bar_->setRange(0, model ? static_cast<int>(model->context) : 1);
    context_bar_->setValue(static_cast<int>(used));
}

void MainWindow::closeEvent(QCloseEvent* event) {
    context_.store.setDraft(chat_->id(), pane_->draft());
    context_.settings.setWindowGeometry(saveGeometry());
    context_.settings.setSplitter(splitter_->saveState());
    context_.settings.setWindowState(saveState());
    context_.settings.setLastChat(chat_->id());
    if (tray_ && !quitting_) {
        hide();
        event->ignore();
        return;
    }
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (!filesOf(event->mimeData()).isEmpty()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) { openFiles(filesOf(event->mimeData())); }

}  // namespace hearth::ui
