#include <QtTest>
#include <cmath>

#include "engine/base/error.h"
#include "engine/runtime/calibrate/activation_check.h"
#include "engine/runtime/evaluate.h"
#include "tests/support/logits.h"

using namespace hearth;
using sparse::Mode;

namespace {

std::filesystem::path fixture() { return test::dataFolder() / "models" / "pwri_llama_q4_0.json"; }

/// Softmax by the book.
std::vector<double> probabilities(std::span<const float> logits) {
    std::vector<double> p(logits.begin(), logits.end());
    const double most = *std::ranges::max_element(p);
    double sum = 0;
    for (double& v : p) sum += v = std::exp(v - most);
    for (double& v : p) v /= sum;
    return p;
}

void compare(double got, double want) {
    QVERIFY2(std::abs(got - want) <= 1e-4 * std::abs(want) + 1e-9, qPrintable(QString("%1, not %2").arg(got).arg(want)));
}

}  // namespace

/// What a mode costs, against the definitions, from logits that two models computed for themselves.
class TestEvaluate : public QObject {
    Q_OBJECT

private slots:
    void againstAnotherMode() {
        const test::Fixture predict(fixture(), Mode::predict), off(fixture(), Mode::off);
        ThreadPool pool(2);
        const auto ours = test::logitsOf(predict, pool, 64, cpu::KvType::f32),
                   dense = test::logitsOf(off, pool, 64, cpu::KvType::f32);
        const size_t vocabulary = off.description->vocabulary, n = off.tokens.size(), first = n / 2;
        double surprise = 0, reference = 0, divergence = 0, squares = 0, agree = 0, count = 0;
        for (size_t t = first; t + 1 < n; ++t, ++count) {
            const auto p = probabilities(std::span(dense).subspan(t * vocabulary, vocabulary)),
                       q = probabilities(std::span(ours).subspan(t * vocabulary, vocabulary));
            const auto next = static_cast<size_t>(off.tokens[t + 1]);
            surprise -= std::log(q[next]);
            reference -= std::log(p[next]);
            double kl = 0;
            for (size_t v = 0; v < vocabulary; ++v) kl += p[v] * std::log(p[v] / q[v]);
            divergence += kl;
            squares += kl * kl;
            agree += std::ranges::max_element(p) - p.begin() == std::ranges::max_element(q) - q.begin();
        }
        QVERIFY(divergence > 1e-6);   // the mask is lossy, or nothing is tested

        runtime::LoadOptions options{.ctx = off.context(), .batch = 7, .kv = cpu::KvType::f32, .threads = 2};
        options.sparse = Mode::predict;
        const auto loaded = runtime::Model::load(std::filesystem::path(fixture()).replace_extension(".gguf"), options);
        const std::vector<std::vector<text::Token>> windows{{off.tokens.begin(), off.tokens.end()}};
        const runtime::Evaluation e = runtime::evaluate(*loaded, windows, Mode::predict, sparse::Choice(Mode::off));
        QCOMPARE(e.tokens, static_cast<size_t>(count));
        QVERIFY(e.against.has_value());
        compare(e.perplexity.value, std::exp(surprise / count));
        compare(e.against->perplexity.value, std::exp(reference / count));
        const double mean = divergence / count;
        compare(e.against->divergence.value, mean);
        compare(e.against->divergence.error, std::sqrt((squares / count - mean * mean) / (count - 1)));
        compare(e.against->agreement.value, agree / count);
        QVERIFY(loaded->forward().choice() == sparse::Choice(Mode::predict));
    }

    /// A paragraph of English tells a wrong activation from the right one.
    void aWrongActivationIsDoubted() {
        const std::filesystem::path stories = test::dataFolder() / "models" / "stories260K.gguf";
        QVERIFY(!runtime::activationDoubt(stories, {.threads = 1}).has_value());
        const auto doubt = runtime::activationDoubt(stories, {.threads = 1, .activation = cpu::Activation::relu2});
        QVERIFY(doubt.has_value());
        QVERIFY2(QString::fromStdString(*doubt).contains("--activation silu"), doubt->c_str());
        // Without a vocabulary there is nothing to read.
        QVERIFY(!runtime::activationDoubt(test::dataFolder() / "models" / "llama.gguf", {.threads = 1}).has_value());
    }

    /// A mode against itself costs nothing, and no reference leaves the comparison out.
    void againstItself() {
        const test::Fixture f(fixture());
        const auto loaded = runtime::Model::load(std::filesystem::path(fixture()).replace_extension(".gguf"),
                                                 {.ctx = f.context(), .threads = 1});
        const std::vector<std::vector<text::Token>> windows{{f.tokens.begin(), f.tokens.end()}};
        const runtime::Evaluation e = runtime::evaluate(*loaded, windows, Mode::exact, sparse::Choice(Mode::exact));
        QCOMPARE(e.against->divergence.value, 0.0);
        QCOMPARE(e.against->agreement.value, 1.0);
        QCOMPARE(e.against->perplexity.value, e.perplexity.value);
        QVERIFY(!runtime::evaluate(*loaded, windows, Mode::exact).against.has_value());
    }
};

QTEST_GUILESS_MAIN(TestEvaluate)
#include "test_evaluate.moc"
