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
#include "ui/language.h"
#include "ui/main_window.h"
#include "ui/single_instance.h"
#include "ui/worker/runtime_engine.h"
#include "ui/worker/runtime_machine.h"

namespace {

/// Where cards are described, or empty: then nothing is known of their speeds.
std::filesystem::path describedDevices() {
    try {
        return hearth::app::dataFile(std::filesystem::path("placement") / "devices.json");
    } catch (const hearth::Error&) {
        return {};
    }
}

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

    hearth::ui::useLanguage(hearth::ui::Settings().language());

    QCommandLineParser parser;
    parser.setApplicationDescription(
        QCoreApplication::translate("main", "Chat with language models that are bigger than your graphics card."));
    parser.addHelpOption();
    parser.addVersionOption();
    parser.addPositionalArgument(
        QStringLiteral("model"),
        QCoreApplication::translate(
            "main", "A model file, and text files to attach; without a model the starter model answers."),
        QStringLiteral("[MODEL.gguf] [FILE...]"));
    parser.process(app);

    const QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
    QStringList files;
    for (const QString& file : parser.positionalArguments()) files << QFileInfo(file).absoluteFilePath();
    hearth::ui::SingleInstance instance(data);
    if (instance.handOver(files)) return 0;

    hearth::ui::RuntimeMachine machine(describedDevices());
    hearth::ui::Worker worker(std::make_unique<hearth::ui::RuntimeEngine>(
        [&machine](const hearth::ui::PlacementChoices& choices) { return machine.executing(choices); }));
    hearth::ui::Store store(data + QStringLiteral("/chats.db"));
    hearth::ui::Library library(machine, data + QStringLiteral("/models.json"), hearth::ui::knownStores());
    hearth::ui::AppContext context{
        .worker = worker, .store = store, .machine = machine, .library = library, .starter_model = starterModel()};
    hearth::ui::applyTheme(context.settings.theme());
    hearth::ui::MainWindow window(context);
    window.show();
    QObject::connect(&instance, &hearth::ui::SingleInstance::called, &window, [&window](const QStringList& called) {
        window.show();   // it may have closed into the tray
        window.setWindowState(window.windowState() & ~Qt::WindowMinimized);
        window.raise();
        window.activateWindow();
        window.openFiles(called);
    });
    // Other files are attached to a first message, which the starter model may answer.
    const bool names_model = files.join(u' ').contains(QStringLiteral(".gguf"), Qt::CaseInsensitive);
    if (!names_model && !context.starter_model.isEmpty()) files.prepend(context.starter_model);
    QTimer::singleShot(0, &window, [&window, files] {
        window.openFiles(files);
        window.welcome();
    });
    return QApplication::exec();
}
