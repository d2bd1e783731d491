#include "tests/app/cli_process.h"

using namespace hearth::test;

/// Arguments: what is asked wrongly ends with 2 and says so, help ends with 0.
class TestCliUsage : public QObject {
    Q_OBJECT

private slots:
    void help_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("program") << QStringList{"--help"};
        for (const char* command : {"run", "chat", "batch", "inspect", "perplexity", "calibrate", "profile", "bench", "quantize", "tokenize",
                                    "detokenize", "template", "logits", "dequantize", "plan", "devices"})
            QTest::newRow(command) << QStringList{command, "--help"};
    }
    void help() {
        QFETCH(QStringList, arguments);
        const Result r = run(arguments);
        QCOMPARE(r.code, 0);
        QVERIFY(r.out.size() > 100);
        QVERIFY(r.err.isEmpty());
        if (arguments.size() == 1)
            for (const char* command : {"run", "chat", "batch", "inspect", "perplexity", "calibrate", "profile", "bench", "quantize",
                                        "tokenize", "detokenize", "template", "logits", "dequantize"})
                QVERIFY2(r.out.contains(command), command);
    }

    void version() {
        const Result r = run({"--version"});
        QCOMPARE(r.code, 0);
        QVERIFY(r.out.startsWith("hearth-cli "));
    }

    void wrongUsage_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::newRow("nothing") << QStringList{};
        QTest::newRow("unknown command") << QStringList{"dance"};
        QTest::newRow("unknown option") << QStringList{"inspect", stories(), "--loudly"};
        QTest::newRow("no model") << QStringList{"inspect"};
        QTest::newRow("one argument too many") << QStringList{"inspect", stories(), "other.gguf"};
        QTest::newRow("no output") << QStringList{"logits", stories(), "--tokens-file", "x"};
        QTest::newRow("no threads") << QStringList{"run", stories(), "-p", "x", "-t", "0"};
        QTest::newRow("threads in words") << QStringList{"run", stories(), "-p", "x", "-t", "many"};
        QTest::newRow("no context") << QStringList{"run", stories(), "-p", "x", "-c", "0"};
        QTest::newRow("unknown cache") << QStringList{"run", stories(), "-p", "x", "--kv", "f64"};
        QTest::newRow("unknown sparse mode") << QStringList{"run", stories(), "-p", "x", "--sparse", "half"};
        QTest::newRow("two prompts") << QStringList{"run", stories(), "-p", "x", "--prompt-file", "y"};
        QTest::newRow("two grammars") << QStringList{"run", stories(),       "-p", "x", "--grammar",
                                                     "y",   "--json-schema", "z"};
        QTest::newRow("impossible top-p") << QStringList{"run", stories(), "-p", "x", "--top-p", "nan"};
        QTest::newRow("unknown sampler") << QStringList{"run", stories(), "-p", "x", "--samplers", "top_k;luck"};
        QTest::newRow("variable without a value")
            << QStringList{"run", stories(), "-p", "x", "--template-variable", "thinking"};
        QTest::newRow("unknown tensor type") << QStringList{"dequantize", "Q9_9", "a", "b"};
        QTest::newRow("unknown file type") << QStringList{"quantize", "a", "b", "Q9_9"};
        QTest::newRow("no size") << QStringList{"plan", stories(), "--budget", "6 elephants"};
        QTest::newRow("no time") << QStringList{"template", "a.jinja", "--context", "b", "--now", "tomorrow"};
        QTest::newRow("no day") << QStringList{"template", "a.jinja", "--context", "b", "--now", "2026-02-30T09:05:00"};
    }
    void wrongUsage() {
        QFETCH(QStringList, arguments);
        const Result r = run(arguments);
        QVERIFY2(r.code == 2, about(r));
        QVERIFY(r.out.isEmpty());
        QVERIFY2(!r.err.isEmpty() && r.errorLines().size() <= 3, r.err);
    }

    void modelByOption() {
        const Result byPosition = run({"tokenize", stories(), "--json", "-p", "Once"}),
                     byOption = run({"tokenize", "-m", stories(), "--json", "-p", "Once"});
        QCOMPARE(byPosition.code, 0);
        QVERIFY(!byPosition.out.isEmpty());
        QCOMPARE(byOption.out, byPosition.out);
    }

    /// Words that argument parsers like to treat in their own way reach the tokenizer as they are.
    void oddTexts_data() {
        QTest::addColumn<QString>("text");
        for (const char* text : {"-5 degrees", "--help", "[END]", "[a,b]", "\"quoted\"", "'quoted'", "{}", "%%",
                                 "a\\nb", "{\"a\":1}", "=", "a=b"})
            QTest::newRow(text) << text;
    }
    void oddTexts() {
        QFETCH(QString, text);
        const Result direct = run({"tokenize", stories(), "--json", "-p", text}),
                     piped = run({"tokenize", stories(), "--json"}, text.toUtf8());
        QVERIFY2(piped.code == 0, about(piped));
        QVERIFY2(direct.code == 0, about(direct));
        QCOMPARE(direct.out, piped.out);
    }
};

QTEST_GUILESS_MAIN(TestCliUsage)
#include "test_cli_usage.moc"
