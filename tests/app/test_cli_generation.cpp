#include <QDeadlineTimer>
#include <QRegularExpression>
#include <QThread>

#include "tests/app/cli_process.h"

using namespace hearth::test;

namespace {

/// Allows everything but an end: with --shift a reply under it never ends by itself.
const QByteArray endless_grammar = "root ::= [^\\x01]+ \"\\x01\"";

/// Until a reply is well under way.
bool waitForOutput(QProcess& process) {
    process.setReadChannel(QProcess::StandardOutput);
    const QDeadlineTimer guard(60000);
    while (process.bytesAvailable() < 64 && !guard.hasExpired() && process.state() == QProcess::Running)
        process.waitForReadyRead(100);
    return process.bytesAvailable() >= 64;
}

/// Until standard error has said `words`.
bool waitForError(QProcess& process, const char* words) {
    QByteArray said;
    const QDeadlineTimer guard(60000);
    while (!said.contains(words) && !guard.hasExpired() && process.state() == QProcess::Running) {
        process.waitForReadyRead(20);
        said += process.readAllStandardError();
    }
    return said.contains(words);
}

/// Until the program handles SIGINT itself, by the system's word: the second bit of SigCgt.
bool waitForHandler(const QProcess& process) {
    const QDeadlineTimer guard(60000);
    while (!guard.hasExpired()) {
        const QByteArray status = read(QString("/proc/%1/status").arg(process.processId()));
        const qsizetype at = status.indexOf("SigCgt:");
        if (at >= 0 && (status.mid(at + 7, 20).trimmed().left(16).toULongLong(nullptr, 16) & 2) != 0) return true;
        QThread::msleep(5);
    }
    return false;
}

void interrupt(const QProcess& process) { ::kill(static_cast<pid_t>(process.processId()), SIGINT); }

}  // namespace

/// Replies: reproducible, alone or many at once, within a grammar, and stopped at any time.
class TestCliGeneration : public QObject {
    Q_OBJECT

    Folder folder_;
    QString endless_ = folder_.write("endless.gbnf", endless_grammar);

    QStringList endlessReply(const QString& file) const {
        return {"run", file, "--raw", "-p", "Once upon a time", "--temp", "0", "--grammar", endless_, "--shift"};
    }

private slots:
    void continuesTheStory() {
        const Result r = run({"run", stories(), "--raw", "-p", "Once upon a time", "-n", "16", "--temp", "0"});
        QVERIFY2(r.code == 0, about(r));
        // What llama2.c itself says with this model and these words.
        QVERIFY2(r.out.startsWith(", there was a little girl named Lily."), r.out);
        QVERIFY2(!r.err.contains("warning") || r.errorLines().size() < 3, r.err);
    }

    void promptFromAnywhere() {
        const QStringList how{"run", stories(), "--raw", "-n", "12", "--temp", "0"};
        const QByteArray words = "The little dog";
        const Result option = run(how + QStringList{"-p", words}),
                     file = run(how + QStringList{"--prompt-file", folder_.write("prompt", words)}),
                     input = run(how, words);
        QVERIFY2(option.code == 0 && !option.out.isEmpty(), about(option));
        QCOMPARE(file.out, option.out);
        QCOMPARE(input.out, option.out);
    }

    void seeds() {
        const auto story = [](const char* seed, const char* threads) {
            const Result r = run(
                {"run", stories(), "--raw", "-p", "Once", "-n", "40", "--temp", "1", "--seed", seed, "-t", threads});
            return r.code == 0 ? r.out : QByteArray("failed: ") + r.err;
        };
        const QByteArray first = story("7", "1");
        QVERIFY2(!first.startsWith("failed"), first);
        QCOMPARE(story("7", "1"), first);
        QCOMPARE(story("7", "3"), first);
        QVERIFY(story("8", "1") != first);
    }

    void withTemplate() {
        const Result r = run({"run", stories(), "-p", "Tell me a story.", "-n", "20", "--temp", "0"});
        QVERIFY2(r.code == 0, about(r));
        QVERIFY(!r.out.isEmpty());
        QVERIFY2(r.err.contains("template"), r.err);   // the file has none, and the user is told what stands in
    }

    void stopStrings() {
        const QStringList how{"run", stories(), "--raw", "-p", "Once upon a time", "-n", "40", "--temp", "0"};
        const Result whole = run(how), cut = run(how + QStringList{"--stop", "nothing like this", "--stop", "girl"});
        QVERIFY(whole.out.contains("girl"));
        QCOMPARE(cut.out, whole.out.left(whole.out.indexOf("girl")));
    }

    void grammar() {
        const QString file = folder_.write("yes.gbnf", "root ::= (\"yes\" | \"no\") \", \" [0-9]+ \"!\"");
        for (const char* seed : {"1", "2", "3"}) {
            const Result r = run({"run", stories(), "--raw", "-p", "Is it?", "--temp", "1.5", "--seed", seed,
                                  "--grammar", file, "-n", "300"});
            QVERIFY2(r.code == 0, about(r));
            QVERIFY2(QRegularExpression("^(yes|no), [0-9]+(!|$)$").match(r.out).hasMatch(), r.out);
        }
    }

    void jsonSchema() {
        const QString file = folder_.write(
            "s.json",
            R"({"type": "object", "properties": {"ok": {"type": "boolean"}, "kind": {"enum": ["cat", "dog"]}}, "required": ["ok", "kind"], "additionalProperties": false})");
        const Result r = run(
            {"run", stories(), "--raw", "-p", "The answer is", "--temp", "1", "--seed", "4", "--json-schema", file});
        QVERIFY2(r.code == 0, about(r));
        const auto answer = nlohmann::json::parse(r.out.toStdString(), nullptr, false);
        QVERIFY2(
            answer.is_object() && answer["ok"].is_boolean() && (answer["kind"] == "cat" || answer["kind"] == "dog"),
            r.out);
    }

    void batch_data() {
        QTest::addColumn<bool>("raw");
        QTest::addColumn<QString>("at_once");
        QTest::newRow("raw, one at a time") << true << "1";
        QTest::newRow("raw, two at once") << true << "2";
        QTest::newRow("raw, all at once") << true << "8";
        QTest::newRow("template, three at once") << false << "3";
    }
    void batch() {
        QFETCH(bool, raw);
        QFETCH(QString, at_once);
        const QList<QByteArray> prompts{"Once upon a time", "The dog",
                                        "Lily and Ben went to the park. They saw a big tree and a", "A",
                                        "One day, a boy"};
        const QStringList how = QStringList{"--temp", "1", "--seed", "5", "-n", "24", "-t", "1"} +
                                (raw ? QStringList{"--raw"} : QStringList{});
        const Result all =
            run(QStringList{"batch", stories(), "--prompts-file", folder_.write("prompts", prompts.join('\n') + '\n'),
                            "-np", at_once, "--json"} +
                how);
        QVERIFY2(all.code == 0, about(all));
        const auto answers = nlohmann::json::parse(all.out.toStdString());
        QCOMPARE(answers.size(), static_cast<size_t>(prompts.size()));
        for (qsizetype i = 0; i < prompts.size(); ++i) {
            const Result one = run(QStringList{"run", stories(), "-p", prompts[i]} + how);
            QVERIFY2(one.code == 0, about(one));
            const auto& answer = answers[static_cast<size_t>(i)];
            QCOMPARE(QByteArray::fromStdString(answer["prompt"].get<std::string>()), prompts[i]);
            QCOMPARE(QByteArray::fromStdString(answer["answer"].get<std::string>()), one.out);
        }
    }

    void interruptedRun() {
        const auto process = start(endlessReply(stories()));
        QVERIFY(waitForOutput(*process));
        interrupt(*process);
        const Result r = finish(*process, 4000);   // 200 ms are promised
        QVERIFY2(r.code == 1, about(r));
        QVERIFY(r.out.startsWith(", there was"));
        QVERIFY(r.err.contains("topped"));
    }

    /// Nothing to stop yet: the program waits for a prompt.
    void interruptedWhileReading() {
        const auto process = start({"run", stories(), "--raw"});
        process->write("Once upon");
        QVERIFY(process->waitForBytesWritten(30000));
        QVERIFY(waitForHandler(*process));
        interrupt(*process);
        QCOMPARE(finish(*process, 10000).code, 1);
    }

    /// Ctrl-C stops the reply; the program goes on and answers the next message.
    void interruptedChat() {
        const auto process = start({"chat", stories(), "--temp", "0", "--grammar", endless_, "--shift"});
        process->write("Hello\n");
        QVERIFY(waitForOutput(*process));
        interrupt(*process);
        process->readAllStandardOutput();
        QVERIFY(waitForError(*process, "Stopped."));
        QCOMPARE(process->state(), QProcess::Running);
        process->readAllStandardOutput();
        process->write("/regen\n");
        QVERIFY(waitForOutput(*process));
        QCOMPARE(process->state(), QProcess::Running);
        interrupt(*process);
        QVERIFY(waitForError(*process, "Stopped."));
        process->write("/quit\n");
        const Result r = finish(*process, 20000);
        QVERIFY2(r.code == 0, about(r));
    }

    void interruptsAtThePromptLeave() {
        const auto process = start({"chat", stories()});
        process->write("/help\n");
        QVERIFY(waitForError(*process, "/regen"));
        interrupt(*process);
        QVERIFY(waitForError(*process, "once more"));
        interrupt(*process);
        const Result r = finish(*process, 20000);
        QVERIFY2(r.code == 0, about(r));
    }

    void chatFromAFile() {
        const Result r = run({"chat", stories(), "--temp", "0", "-n", "10"},
                             "/system You are a cat.\nHello\n/regen\n/clear\n/dance\nHello\n/regen\nlast line");
        QVERIFY2(r.code == 0, about(r));
        const QList<QByteArray> answers = r.out.split('\n');
        QVERIFY(r.err.contains("There is no command /dance"));
        QVERIFY2(r.err.contains("token limit"), r.err);
        // The same conversation has the same answer: asked again, and after /clear with the system message kept.
        const Result once = run({"chat", stories(), "--temp", "0", "-n", "10"}, "/system You are a cat.\nHello\n");
        QVERIFY(!once.out.trimmed().isEmpty());
        QVERIFY2(r.out.startsWith(once.out.repeated(4)), r.out);
        QVERIFY(run({"chat", stories(), "--temp", "0", "-n", "10"}, "Hello\n").out != once.out || answers.size() > 4);
    }

    void contextFull() {
        const Result r = run(
            {"run", stories(), "--raw", "-p", "Once upon a time", "--temp", "0", "--grammar", endless_, "-c", "64"});
        QVERIFY2(r.code == 0, about(r));
        QVERIFY2(r.err.contains("context is full"), r.err);
    }

    /// The file shrinks while its weights are in use.
    void truncatedDuringGeneration() {
        const QString copy = folder_.path("copy.gguf");
        QVERIFY(QFile::copy(stories(), copy));
        QFile(copy).setPermissions(QFile::ReadOwner | QFile::WriteOwner);
        const auto process = start(endlessReply(copy));
        QVERIFY(waitForOutput(*process));
        QVERIFY(QFile::resize(copy, QFileInfo(copy).size() / 3));
        const Result r = finish(*process, 60000);
        QVERIFY2(r.code == 1, about(r));
        QCOMPARE(r.errorLines().last().contains("copy.gguf"), true);
    }

    void starterModelStandsIn() {
        qputenv("HEARTH_DATA_DIR", folder_.path("nowhere").toLocal8Bit());
        const Result r = run({"run", "-p", "What is 2+2?", "-n", "16", "--temp", "0"});
        qunsetenv("HEARTH_DATA_DIR");
        QVERIFY2(r.code == 0, about(r));
        QVERIFY2(r.out.contains("4"), r.out);
    }
};

QTEST_GUILESS_MAIN(TestCliGeneration)
#include "test_cli_generation.moc"
