#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <filesystem>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/mapped_file.h"

using hearth::Error;
using hearth::MappedFile;

class TestMappedFile : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    std::filesystem::path make(const char* name, const QByteArray& content) {
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            qFatal("cannot write a test file");
        return file.fileName().toStdString();
    }
    static QString refusal(const std::filesystem::path& path) {
        try {
            MappedFile::open(path);
        } catch (const Error& error) {
            return QString::fromStdString(error.what());
        }
        return {};
    }

private slots:
    void readsTheFile() {
        const QByteArray content("twelve bytes");
        const auto file = MappedFile::open(make("small", content));
        QCOMPARE(
            QByteArray(reinterpret_cast<const char*>(file->bytes().data()), static_cast<int>(file->bytes().size())),
            content);
        QVERIFY(!file->damaged());
        file->check();
    }

    void saysWhyItCannotOpen() {
        const std::filesystem::path folder = folder_.path().toStdString();
        QVERIFY2(refusal(folder / "absent").contains("there is no such file"), qPrintable(refusal(folder / "absent")));
        QVERIFY2(refusal(folder).contains("it is a folder"), qPrintable(refusal(folder)));
        QVERIFY(refusal(make("empty", "")).contains("the file is empty"));
        QVERIFY(refusal(make("plain", "x") / "below").contains("not a folder"));
        QVERIFY(refusal("/dev/null").contains("a device or a pipe"));
        const auto pipe = folder / "pipe";
        QCOMPARE(mkfifo(pipe.c_str(), 0600), 0);
        QVERIFY(refusal(pipe).contains("a device or a pipe"));  // and it returns, although nobody writes to the pipe
    }

    void saysThatAFileMayNotBeRead() {
        const auto path = make("secret", "x");
        QCOMPARE(chmod(path.c_str(), 0), 0);
        const bool root = geteuid() == 0;  // who may read everything: become somebody else meanwhile
        if (root) {
            QCOMPARE(chmod(qPrintable(folder_.path()), 0755), 0);
            QCOMPARE(seteuid(65534), 0);
        }
        const QString said = refusal(path);
        if (root) QCOMPARE(seteuid(0), 0);
        QVERIFY2(said.contains("you may not read it"), qPrintable(said));
    }

    void aFileThatIsCutReadsAsZeros() {
        constexpr size_t kept = 65536;
        const auto path = make("cut", QByteArray(1 << 20, 'x')), other_path = make("whole", QByteArray(1 << 20, 'y'));
        const auto file = MappedFile::open(path), other = MappedFile::open(other_path);
        std::filesystem::resize_file(path, kept);
        const auto is = [](char wanted) {
            return [wanted](std::byte b) { return b == static_cast<std::byte>(wanted); };
        };
        const auto bytes = file->bytes();
        QVERIFY(std::all_of(bytes.begin(), bytes.begin() + kept, is('x')));
        QVERIFY(!file->damaged());
        QVERIFY(std::all_of(bytes.begin() + kept, bytes.end(), is('\0')));
        QVERIFY(file->damaged());
        QVERIFY(std::all_of(bytes.begin(), bytes.begin() + kept, is('x')));
        QVERIFY_THROWS_EXCEPTION(Error, file->check());
        try {
            file->check();
        } catch (const Error& error) {
            QVERIFY(QString(error.what()).contains(QString::fromStdString(path.string())));
            QVERIFY(QString(error.what()).contains("cut short"));
        }
        QVERIFY(std::all_of(other->bytes().begin(), other->bytes().end(), is('y')));
        QVERIFY(!other->damaged());
    }

    void threadsMayMeetTheCutTogether() {
        const auto path = make("shared", QByteArray(4 << 20, 'x'));
        const auto file = MappedFile::open(path);
        std::filesystem::resize_file(path, 0);
        std::atomic<size_t> not_zero{0};
        std::vector<std::thread> readers;
        for (size_t t = 0; t < 4; ++t) {
            readers.emplace_back([&, t] {
                const auto bytes = file->bytes();
                for (size_t i = (4 - t) * 4096; i < bytes.size(); i += 5000) not_zero += bytes[i] != std::byte{0};
            });
        }
        for (std::thread& reader : readers) reader.join();
        QCOMPARE(not_zero.load(), size_t{0});
        QVERIFY(file->damaged());
    }

    void placesInTheTableComeBack() {
        const auto path = make("again", "x");
        const auto cut = MappedFile::open(make("cut again", QByteArray(8192, 'x')));
        for (int i = 0; i < 10000; ++i) QVERIFY(!MappedFile::open(path)->damaged());
        std::vector<std::shared_ptr<const MappedFile>> many;
        QString said;
        try {
            while (many.size() < 5000) many.push_back(MappedFile::open(path));
        } catch (const Error& error) {
            said = error.what();
        }
        QVERIFY2(said.contains("too many files are in use"), qPrintable(said));
        many.pop_back();
        many.push_back(MappedFile::open(path));
    }

    void othersKeepTheirBusErrors_data() {
        QTest::addColumn<QString>("mode");
        QTest::newRow("fault outside of our mappings") << "fault";
        QTest::newRow("signal sent by a process") << "sent";
        QTest::newRow("the program has a handler of its own") << "own-handler";
    }
    void othersKeepTheirBusErrors() {
        QFETCH(QString, mode);
        const auto mine = make("mine", QByteArray(65536, 'x')), other = make("other", QByteArray(65536, 'x'));
        QProcess victim;
        victim.start(BUS_ERROR_VICTIM,
                     {mode, QString::fromStdString(mine.string()), QString::fromStdString(other.string())});
        QVERIFY(victim.waitForFinished(60000));
        if (mode == "own-handler") {
            QCOMPARE(victim.exitStatus(), QProcess::NormalExit);
            QCOMPARE(victim.exitCode(), 42);
        } else {
            // A sanitizer's own handler ends the program with an exit code instead.
            const bool died =
                victim.exitStatus() == QProcess::CrashExit || victim.readAllStandardError().contains("Sanitizer");
            QVERIFY2(died, qPrintable(QString("exit code %1").arg(victim.exitCode())));
        }
    }
};

QTEST_GUILESS_MAIN(TestMappedFile)
#include "test_mapped_file.moc"
