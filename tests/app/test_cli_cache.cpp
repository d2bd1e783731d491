#include "tests/app/cli_process.h"

using namespace hearth::test;

/// What is kept on the disk about models: made, listed, used and deleted.
class TestCliCache : public QObject {
    Q_OBJECT

    Folder folder_;

    static nlohmann::json jsonOf(const Result& r) {
        if (r.code != 0) qFatal("it failed: %s", r.err.constData());
        return nlohmann::json::parse(r.out.toStdString());
    }
    QByteArray logits(const QString& model, const char* mode) {
        const QString tokens = folder_.write("tokens", "1,2,3,4,5,6,7,8"), out = folder_.path("out");
        const Result r = run({"logits", model, "--tokens-file", tokens, "--out", out, "--sparse", mode, "--batch", "1"});
        if (r.code != 0) qFatal("it failed: %s", r.err.constData());
        return read(out);
    }

private slots:
    void initTestCase() { qputenv("XDG_CACHE_HOME", folder_.path("cache").toUtf8()); }

    void copiesForSkippingZeros() {
        const QString quantised = folder_.path("quantised.gguf");
        const Result made = run({"quantize", model("smallthinker"), quantised, "q8_0", "--pure"});
        QVERIFY2(made.code == 0, made.err);
        QCOMPARE(jsonOf(run({"cache", "list", "--json"}))["bytes"].get<int64_t>(), int64_t{0});
        const Result prepared = run({"cache", "prepare", quantised, "--sparse", "exact"});
        QVERIFY2(prepared.code == 0, prepared.err);

        const nlohmann::json list = jsonOf(run({"cache", "list", quantised, "--json"}));
        QCOMPARE(list["files"].size(), size_t{1});
        QCOMPARE(list["files"][0]["kind"].get<std::string>(), std::string("down-copies"));
        const QString path = QString::fromStdString(list["files"][0]["path"].get<std::string>());
        QCOMPARE(QFileInfo(path).size(), list["bytes"].get<int64_t>());
        QCOMPARE(jsonOf(run({"cache", "list", stories(), "--json"}))["files"].size(), size_t{0});

        const QByteArray exact = logits(quantised, "exact"), all = logits(quantised, "all"), off = logits(quantised, "off");
        QCOMPARE(exact, all);
        QVERIFY(exact != off);   // another order of summation: the copies were used

        QFile::resize(path, QFileInfo(path).size() / 2);   // a damaged one is made anew
        QCOMPARE(logits(quantised, "exact"), exact);
        QCOMPARE(QFileInfo(path).size(), list["bytes"].get<int64_t>());

        const nlohmann::json freed = jsonOf(run({"cache", "delete", quantised, "--json"}));
        QCOMPARE(freed["freed_bytes"].get<int64_t>(), list["bytes"].get<int64_t>());
        QVERIFY(!QFileInfo::exists(path));
    }

    void usage() {
        QCOMPARE(run({"cache"}).code, 2);
        QCOMPARE(run({"cache", "list", folder_.path("absent.gguf")}).code, 1);
    }
};

QTEST_GUILESS_MAIN(TestCliCache)
#include "test_cli_cache.moc"
