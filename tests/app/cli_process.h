#pragma once

#include <signal.h>

#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>
#include <QtTest>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/support/fixtures.h"

/// hearth-cli as a process.
namespace hearth::test {

inline QString text(const std::filesystem::path& path) { return QString::fromStdString(path.string()); }
inline QString model(const char* name) { return text(dataFolder() / "models" / (std::string(name) + ".gguf")); }
/// Real words from a real, tiny model: 5 layers, 512 tokens.
inline QString stories() { return model("stories260K"); }

struct Result {
    int code = -1;   ///< −1: crashed, −2: did not end in time
    QByteArray out, err;
    QList<QByteArray> errorLines() const {
        QList<QByteArray> lines = err.split('\n');
        lines.removeAll(QByteArray());
        return lines;
    }
};

/// Starts the program; the caller waits for it.
inline std::unique_ptr<QProcess> start(const QStringList& arguments) {
    auto process = std::make_unique<QProcess>();
    process->start(HEARTH_CLI, arguments);
    if (!process->waitForStarted(30000)) qFatal("cannot start %s", HEARTH_CLI);
    return process;
}

/// Waits for a started program to end; a hang guard, not a measurement.
inline Result finish(QProcess& process, int guard_ms = 120000) {
    Result result;
    if (process.state() != QProcess::NotRunning && !process.waitForFinished(guard_ms)) {
        process.kill();
        process.waitForFinished();
        result.code = -2;
    } else {
        result.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    }
    result.out = process.readAllStandardOutput();
    result.err = process.readAllStandardError();
    return result;
}

inline Result run(const QStringList& arguments, const QByteArray& input = {}) {
    const auto process = start(arguments);
    process->write(input);
    process->closeWriteChannel();
    return finish(*process);
}

/// A folder for one test, with files of given content.
class Folder {
public:
    QString path(const char* name) const { return folder_.filePath(name); }
    QString write(const char* name, const QByteArray& content) const {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            qFatal("cannot write a file of the test");
        return path(name);
    }

private:
    QTemporaryDir folder_;
};

inline QByteArray read(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) qFatal("cannot read %s", qPrintable(path));
    return file.readAll();
}

/// Why a run was not a success, for QVERIFY2.
inline QByteArray about(const Result& r) {
    return "exit " + QByteArray::number(r.code) + ": " + r.err + r.out.left(200);
}

}  // namespace hearth::test
