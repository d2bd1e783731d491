#include <QtTest>

#include <algorithm>

#include "engine/base/error.h"
#include "tests/support/logits.h"
#include "tests/support/model_rows.h"

using namespace hearth;
using test::Fixture, test::logitsOf, test::nmse, test::otherTop;
namespace fs = std::filesystem;

namespace {

bool startsWithAny(const QString& name, std::initializer_list<const char*> prefixes) {
    return std::ranges::any_of(prefixes, [&](const char* p) { return name.startsWith(QLatin1String(p)); });
}

/// Limits of the fixtures' README, §3, for a float32 key/value cache.
double limitOf(const QString& name) {
    if (name.contains("quants") || name.contains("mxfp4") || name.contains("q4_0")) return 3e-3;
    if (name == "gemma3n") return 1e-4;
    return startsWithAny(name, {"gemma", "falcon"}) ? 1e-6 : 1e-9;
}

/// And for a half-precision cache.
double halfCacheLimitOf(const QString& name) {
    if (limitOf(name) > 1e-4) return 3e-3;
    if (name == "gemma3n") return 5e-4;
    return name == "deepseek2_lite" ? 1e-4 : 3e-5;
}

}  // namespace

class TestLogits : public QObject {
    Q_OBJECT

    static void addModels() {
        // The predictors of PowerInfer's files are part of test_sparse.
        test::addModelRows([](const QString& name) { return !name.startsWith("pwri_"); });
    }

private slots:
    void wholePrompt_data() { addModels(); }
    void wholePrompt() {
        QFETCH(QString, json);
        QFETCH(QString, name);
        ThreadPool pool(2);
        const Fixture f(json.toStdString());
        const auto got =
            logitsOf(f, pool, static_cast<uint32_t>(std::min<size_t>(f.tokens.size(), 512)), cpu::KvType::f32);
        QCOMPARE(got.size(), f.want.size());
        const double error = nmse(got, f.want);
        QVERIFY2(error <= limitOf(name), qPrintable(QString("NMSE %1, limit %2").arg(error).arg(limitOf(name))));
        QCOMPARE(otherTop(got, f.want, f.description->vocabulary), size_t{0});
    }

    void chunksAndTokenByToken_data() { addModels(); }
    void chunksAndTokenByToken() {
        QFETCH(QString, json);
        QFETCH(QString, name);
        ThreadPool pool(2);
        const Fixture f(json.toStdString());
        if (f.tokens.size() > 500) QSKIP("long: the whole prompt is enough");
        for (const uint32_t batch : {1u, 7u}) {
            const double error = nmse(logitsOf(f, pool, batch, cpu::KvType::f32), f.want);
            QVERIFY2(error <= limitOf(name),
                     qPrintable(QString("batch %1: NMSE %2, limit %3").arg(batch).arg(error).arg(limitOf(name))));
        }
    }

    void halfPrecisionCache_data() { addModels(); }
    void halfPrecisionCache() {
        QFETCH(QString, json);
        QFETCH(QString, name);
        ThreadPool pool(2);
        const Fixture f(json.toStdString());
        if (f.tokens.size() > 500) QSKIP("long: its best tokens are too close for a half-precision cache");
        const double error = nmse(logitsOf(f, pool, 512, cpu::KvType::f16), f.want);
        QVERIFY2(error <= halfCacheLimitOf(name),
                 qPrintable(QString("NMSE %1, limit %2").arg(error).arg(halfCacheLimitOf(name))));
    }

    void sameBitsForAnyThreads_data() { addModels(); }
    void sameBitsForAnyThreads() {
        QFETCH(QString, json);
        const Fixture f(json.toStdString());
        if (f.tokens.size() > 500) QSKIP("long");
        ThreadPool one(1);
        const auto base = logitsOf(f, one, 16, cpu::KvType::f16);
        for (const unsigned threads : {2u, 3u, 4u, 7u}) {
            ThreadPool pool(threads);
            QVERIFY2(logitsOf(f, pool, 16, cpu::KvType::f16) == base, qPrintable(QString("%1 threads").arg(threads)));
        }
    }
};

QTEST_GUILESS_MAIN(TestLogits)
#include "test_logits.moc"
