#include <QtTest>

#include "engine/base/error.h"
#include "tests/support/logits.h"
#include "tests/support/model_rows.h"

using namespace hearth;
using sparse::Mode;
using test::Fixture, test::logitsOf, test::nmse, test::otherTop;
namespace fs = std::filesystem;

namespace {

double limitOf(const QString& name) {
    if (name.contains("q4_0")) return 3e-3;
    if (name == "gemma3n") return 1e-4;
    if (name.startsWith("falcon")) return 1e-6;
    return name.startsWith("pwri") || name.startsWith("bamboo") || name.startsWith("opt") ? 1e-5 : 1e-9;
}

bool isSparseFixture(const QString& name) {
    for (const char* family : {"pwri", "bamboo", "opt", "smallthinker", "nemotron", "arcee", "plm", "gemma3n"})
        if (name.startsWith(QLatin1String(family))) return true;
    return false;
}

}  // namespace

class TestSparse : public QObject {
    Q_OBJECT

    static void addModels(const char* only) {
        test::addModelRows(
            [only](const QString& name) { return isSparseFixture(name) && name.startsWith(QLatin1String(only)); });
    }

private slots:
    void skippingChangesNoBit_data() { addModels(""); }
    void skippingChangesNoBit() {
        QFETCH(QString, json);
        const Fixture exact(json.toStdString(), Mode::exact), all(json.toStdString(), Mode::all);
        if (exact.tokens.size() > 500) QSKIP("long");
        ThreadPool pool(2);
        QVERIFY(logitsOf(exact, pool, 1, cpu::KvType::f32) == logitsOf(all, pool, 1, cpu::KvType::f32));
    }

    void exactIsDense_data() { addModels(""); }
    void exactIsDense() {
        QFETCH(QString, json);
        QFETCH(QString, name);
        const Fixture exact(json.toStdString(), Mode::exact), off(json.toStdString(), Mode::off);
        if (exact.tokens.size() > 500) QSKIP("long");
        ThreadPool pool(2);
        for (const uint32_t batch : {1u, 64u}) {
            const double error =
                nmse(logitsOf(exact, pool, batch, cpu::KvType::f32), logitsOf(off, pool, batch, cpu::KvType::f32));
            QVERIFY2(error <= limitOf(name), qPrintable(QString("batch %1: NMSE %2").arg(batch).arg(error)));
        }
    }

    /// PowerInfer's own mask, at every position and whatever the number of tokens in a pass.
    void theFilesOwnPredictor_data() { addModels("pwri"); }
    void theFilesOwnPredictor() {
        QFETCH(QString, json);
        QFETCH(QString, name);
        const Fixture f(json.toStdString(), Mode::predict);
        ThreadPool pool(2);
        for (const uint32_t batch : {1u, 7u, 64u}) {
            const auto got = logitsOf(f, pool, batch, cpu::KvType::f32);
            const double error = nmse(got, f.want);
            QVERIFY2(error <= limitOf(name), qPrintable(QString("batch %1: NMSE %2").arg(batch).arg(error)));
            QCOMPARE(otherTop(got, f.want, f.description->vocabulary), size_t{0});
        }
    }

    void sameBitsForAnyThreads_data() { addModels(""); }
    void sameBitsForAnyThreads() {
        QFETCH(QString, json);
        const Fixture f(json.toStdString(), Mode::exact);
        if (f.tokens.size() > 500) QSKIP("long");
        ThreadPool one(1);
        const auto base = logitsOf(f, one, 1, cpu::KvType::f16);
        for (const unsigned threads : {2u, 3u, 4u, 7u}) {
            ThreadPool pool(threads);
            QVERIFY2(logitsOf(f, pool, 1, cpu::KvType::f16) == base, qPrintable(QString("%1 threads").arg(threads)));
        }
    }

    /// Blocks that run along the neurons cannot be skipped by neuron: that is said, not done wrongly.
    void blocksAlongTheNeuronsAreRefusedInWords() {
        const Fixture f((test::dataFolder() / "models" / "llama_quants.json").string());
        model::Description relu = *f.description;
        relu.architecture.activation = cpu::Activation::relu;
        try {
            const model::Weights weights(relu, Mode::exact);
            QFAIL("it was taken");
        } catch (const Error& e) {
            QVERIFY2(QString(e.what()).contains("ffn_down"), e.what());
        }
    }
};

QTEST_GUILESS_MAIN(TestSparse)
#include "test_sparse.moc"
