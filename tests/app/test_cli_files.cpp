#include <random>

#include "tests/app/cli_process.h"

using namespace hearth::test;

/// Files that are missing, damaged or something else: one sentence and exit code 1, never a crash or a hang.
class TestCliFiles : public QObject {
    Q_OBJECT

    Folder folder_;
    QByteArray good_ = read(stories());

    void addFiles() {
        QTest::addColumn<QString>("path");
        QTest::newRow("missing") << folder_.path("absent.gguf");
        QTest::newRow("directory") << folder_.path(".");
        QTest::newRow("empty") << folder_.write("empty.gguf", {});
        QTest::newRow("text") << folder_.write("text.gguf", QByteArray("hello\n").repeated(50));
        QTest::newRow("zeros") << folder_.write("zeros.gguf", QByteArray(4096, '\0'));
        QTest::newRow("magic only") << folder_.write("magic.gguf", good_.left(4));
        std::mt19937 random(5);
        for (int i = 0; i < 20; ++i) {
            const auto length = static_cast<qsizetype>(5 + random() % static_cast<unsigned long>(good_.size() - 5));
            const QByteArray name = "cut" + QByteArray::number(i) + ".gguf";
            QTest::newRow("truncated to " + QByteArray::number(length)) << folder_.write(name, good_.left(length));
        }
        QTest::newRow("unknown architecture") << folder_.write("unknown.gguf", otherArchitecture());
        const auto patched = [this](const char* name, qsizetype at, const QByteArray& bytes) {
            return folder_.write(name, QByteArray(good_).replace(at, bytes.size(), bytes));
        };
        QTest::newRow("absurd number of tensors") << patched("tensors.gguf", 8, QByteArray(8, '\x7f'));
        QTest::newRow("absurd number of keys") << patched("keys.gguf", 16, QByteArray(8, '\x7f'));
        QTest::newRow("absurd length of a key") << patched("key.gguf", 24, QByteArray(8, '\x7f'));
        QTest::newRow("unknown version") << patched("version.gguf", 4, QByteArray("\x4d\0\0\0", 4));
        QTest::newRow("big endian") << patched("endian.gguf", 4, QByteArray("\0\0\0\x03", 4));
    }

    /// The architecture of the file is called "llamx", and so are its keys.
    QByteArray otherArchitecture() const {
        return QByteArray(good_)
            .replace("llama.", "llamx.")
            .replace(QByteArray("general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0llama", 37),
                     QByteArray("general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0llamx", 37));
    }

    static void check(const Result& r) {
        QVERIFY2(r.code == 1, about(r));
        QVERIFY2(r.out.isEmpty(), r.out.left(200));
        QVERIFY2(r.errorLines().size() == 1, r.err);
        QVERIFY2(r.err.size() > 30 && r.err.trimmed().endsWith('.'), r.err);
    }

private slots:
    void inspect_data() { addFiles(); }
    void inspect() {
        QFETCH(QString, path);
        check(run({"inspect", path}));
    }
    void logits_data() { addFiles(); }
    void logits() {
        QFETCH(QString, path);
        check(run({"logits", path, "--tokens-file", folder_.write("two", "1,2"), "--out", folder_.path("out.f32")}));
        QVERIFY(!QFile::exists(folder_.path("out.f32")));
    }
    void generation_data() { addFiles(); }
    void generation() {
        QFETCH(QString, path);
        check(run({"run", path, "-p", "Once", "-n", "2"}));
    }

    void tokenIds_data() {
        QTest::addColumn<QByteArray>("ids");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("words") << QByteArray("1,two,3");
        QTest::newRow("too large") << QByteArray("1,512");
        QTest::newRow("negative") << QByteArray("1,-1");
        QTest::newRow("overflow") << QByteArray("99999999999999999999");
        QTest::newRow("more than the context") << QByteArray("1,").repeated(3000);
    }
    void tokenIds() {
        QFETCH(QByteArray, ids);
        check(run({"logits", stories(), "--tokens-file", folder_.write("ids", ids), "--out", folder_.path("out.f32")}));
        QVERIFY(!QFile::exists(folder_.path("out.f32")));
    }

    void otherInputs_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("prompt file") << QStringList{"run", stories(), "--prompt-file", folder_.path("absent")};
        QTest::newRow("no prompt") << QStringList{"run", text(dataFolder() / "models" / "llama.gguf"), "--raw"};
        QTest::newRow("grammar file") << QStringList{"run", stories(), "-p", "x", "--grammar", folder_.path("absent")};
        QTest::newRow("faulty grammar") << QStringList{"run", stories(),   "-p",
                                                       "x",   "--grammar", folder_.write("bad.gbnf", "root ::= (")};
        QTest::newRow("faulty schema") << QStringList{"run", stories(),       "-p",
                                                      "x",   "--json-schema", folder_.write("bad.json", "{\"type\": ")};
        QTest::newRow("prompts file") << QStringList{"batch", stories(), "--prompts-file", folder_.path("absent")};
        QTest::newRow("no prompts") << QStringList{"batch", stories(), "--prompts-file", folder_.write("none", "\n\n")};
        QTest::newRow("context is no JSON")
            << QStringList{"template", folder_.write("t.jinja", "x"), "--context", folder_.write("c.json", "hello")};
        QTest::newRow("context is no object")
            << QStringList{"template", folder_.path("t.jinja"), "--context", folder_.write("l.json", "[1]")};
        QTest::newRow("faulty template") << QStringList{"template", folder_.write("f.jinja", "{% if %}"), "--context",
                                                        folder_.write("o.json", "{}")};
        QTest::newRow("blocks that do not fit")
            << QStringList{"dequantize", "Q8_0", folder_.write("blocks", "12345"), folder_.path("out.f32")};
        QTest::newRow("out is a folder") << QStringList{"dequantize", "F32", folder_.write("four", "1234"),
                                                        folder_.path(".")};
        QTest::newRow("quantize onto itself")
            << QStringList{"quantize", folder_.write("same.gguf", good_), folder_.path("same.gguf"), "Q8_0"};
        QTest::newRow("quantize a text") << QStringList{"quantize", folder_.write("words.gguf", "hello"),
                                                        folder_.path("q.gguf"), "Q8_0"};
        QTest::newRow("empty text") << QStringList{"perplexity", stories(), "--text-file",
                                                   folder_.write("nothing.txt", "")};
        QTest::newRow("too long a prompt") << QStringList{
            "run", stories(), "--raw", "--prompt-file", folder_.write("long.txt", QByteArray("word ").repeated(5000)),
            "-c",  "64"};
    }
    void otherInputs() {
        QFETCH(QStringList, arguments);
        check(run(arguments));
    }

    void vocabularyOnly() {
        const QString file = text(dataFolder() / "tokenizers" / "bpe-qwen2.gguf");
        const Result r = run({"inspect", file, "--json"});
        QVERIFY2(r.code == 0, about(r));
        const auto report = nlohmann::json::parse(r.out.toStdString());
        QCOMPARE(report["tensors"].get<int>(), 0);
        QVERIFY(report["vocabulary"]["tokens"].get<int>() > 256);
        QVERIFY(!report.contains("memory"));
        check(run({"run", file, "-p", "x"}));
    }

    void powerInfer() {
        const Result r = run({"inspect", model("pwri_llama_q4_0"), "--json"});
        QVERIFY2(r.code == 0, about(r));
        QVERIFY(QByteArray::fromStdString(nlohmann::json::parse(r.out.toStdString())["format"].get<std::string>())
                    .contains("PowerInfer"));
    }

    /// A full disk, or nobody who reads the answer any more.
    void outputThatFails() {
        QProcess process;
        process.setStandardOutputFile("/dev/full");
        process.start(HEARTH_CLI, {"run", stories(), "--raw", "-p", "Once upon a time", "-n", "20", "--temp", "0"});
        const Result r = finish(process);
        QVERIFY2(r.code == 1, about(r));
        QCOMPARE(r.errorLines().size(), 1);
    }
};

QTEST_GUILESS_MAIN(TestCliFiles)
#include "test_cli_files.moc"
