#include <QTemporaryDir>
#include <QtTest>

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

    model::Measurements::Neurons read_;

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

    /// Files whose down-projection is in blocks along the neurons, with regrouped copies beside it, and ReLU in the place of
    /// their own activation; two of them have experts.
    void copies_data() {
        test::addModelRows([](const QString& name) {
            return name.endsWith("quants") || name == "gpt_oss_mxfp4";
        });
    }
    void copies() {
        QFETCH(QString, json);
        const Fixture f(json.toStdString());
        QVERIFY(!sparse::DownCopies::candidates(*f.description->file).empty());
        model::Description relu = *f.description;
        relu.architecture.activation = cpu::Activation::relu;
        QTemporaryDir folder;
        const sparse::Sidecars sidecars(folder.path().toStdString());
        const std::string identity(64, 'a');
        sparse::DownCopies::prepare(*relu.file, identity, sidecars);
        const auto copies = std::make_shared<const sparse::DownCopies>(
            *sparse::DownCopies::open(*relu.file, identity, sidecars));
        const auto logits = [&](Mode mode, bool with_copies, unsigned threads, uint32_t batch) {
            model::Weights weights(relu, mode);
            if (with_copies) weights.useCopies(relu, copies);
            ThreadPool pool(threads);
            model::Forward forward(relu, weights, pool, f.context(), batch, mode);
            forward.measurements().reset(false);
            model::Sequence sequence(relu, {.context = f.context(), .batch = batch, .kv = cpu::KvType::f32});
            std::vector<float> all(f.tokens.size() * relu.vocabulary);
            for (size_t at = 0; at < f.tokens.size(); at += batch) {
                const size_t n = std::min<size_t>(batch, f.tokens.size() - at);
                const model::Part part{&sequence, std::span(f.tokens).subspan(at, n), model::Part::Logits::all};
                forward.run({&part, 1}, {all.data() + at * relu.vocabulary, n, relu.vocabulary});
            }
            read_ = forward.measurements().neurons;
            return all;
        };
        const auto off = logits(Mode::off, true, 2, 1), exact = logits(Mode::exact, true, 2, 1);
        QVERIFY(read_.all > 0 && read_.added < read_.all);
        QVERIFY(logits(Mode::all, true, 2, 1) == exact);
        QCOMPARE(read_.added, read_.all);
        for (const unsigned threads : {1u, 3u, 7u}) QVERIFY(logits(Mode::exact, true, threads, 1) == exact);
        const double error = nmse(exact, off);
        QVERIFY2(error > 0 && error <= 3e-3, qPrintable(QString("NMSE %1").arg(error)));
        QVERIFY(logits(Mode::exact, true, 2, 16) == logits(Mode::off, true, 2, 16));   // several tokens: the dense path
        // Layers with float weights are transposed in a named mode.
        if (sparse::DownCopies::candidates(*relu.file).size() < relu.layers) return;
        QVERIFY(logits(Mode::automatic, true, 2, 1) == exact);
        QVERIFY(logits(Mode::exact, false, 2, 1) == off);   // until the copies are there
    }
};

QTEST_GUILESS_MAIN(TestSparse)
#include "test_sparse.moc"
