#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QIcon>
#include <QSettings>
#include <QStandardPaths>
#include <QTimer>
#include <memory>

#include "app/data_folder.h"
#include "engine/base/error.h"
#include "ui/main_window.h"
#include "ui/worker/runtime_engine.h"

namespace {

QString starterModel() {
    try {
        return QString::fromStdString(hearth::app::starterModel().string());
    } catch (const hearth::Error&) {
        return {};   // not installed: the window then says how a model is opened
    }
}

}  // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("hearth"));
    QCoreApplication::setOrganizationName(QStringLiteral("hearth"));
    QCoreApplication::setApplicationVersion(QStringLiteral(HEARTH_VERSION));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Hearth"));
    QGuiApplication::setDesktopFileName(QStringLiteral("io.github.hearth.Hearth"));
    QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/hearth.svg")));
    QSettings::setDefaultFormat(QSettings::IniFormat);

    QCommandLineParser parser;
    parser.setApplicationDescription(
        QCoreApplication::translate("main", "Chat with language models that are bigger than your graphics card."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(
        QStringLiteral("model"),
        QCoreApplication::translate("main", "A model file; without one the starter model answers."),
        QStringLiteral("[MODEL.gguf]"));
    parser.process(app);

    hearth::ui::Worker worker(std::make_unique<hearth::ui::RuntimeEngine>());
    hearth::ui::Store store(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                            QStringLiteral("/chats.db"));
    hearth::ui::AppContext context{.worker = worker, .store = store, .starter_model = starterModel()};
    hearth::ui::applyTheme(context.settings.theme());
    hearth::ui::MainWindow window(context);
    window.show();
    const QStringList named = parser.positionalArguments();
    const QString model = named.isEmpty() ? context.starter_model : QFileInfo(named.first()).absoluteFilePath();
    if (!model.isEmpty()) QTimer::singleShot(0, &window, [&window, model] { window.openModel(model); });
    return QApplication::exec();
}
