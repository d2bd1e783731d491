#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <QTemporaryDir>
#include <QTest>

#include "engine/base/error.h"
#include "engine/gguf/file.h"
#include "engine/sampling/grammar_state.h"
#include "engine/sampling/sampler.h"

using namespace hearth::sampling;

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

std::vector<float> noise(size_t n, uint64_t seed, double scale = 3) {
    Random random(seed);
    std::vector<float> logits(n);
    for (float& x : logits)
        x = static_cast<float>(scale * (random.uniform() + random.uniform() + random.uniform() - 1.5));
    return logits;
}

/// Everything off: what is sampled follows softmax(logits).
Parameters plain() {
    Parameters p;
    p.sequence = {Step::Temperature};
    p.temperature = 1;
    return p;
}

std::vector<double> softmax(const std::vector<float>& logits) {
    std::vector<double> p(logits.begin(), logits.end());
    const double top = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double& x : p) sum += x = std::exp(x - top);
    for (double& x : p) x /= sum;
    return p;
}

/// A tiny GGUF file (v3, no tensors) with these values; each entry is key, type id, bytes.
class GgufBytes {
public:
    GgufBytes& number(const std::string& key, float value) { return add(key, 6, &value, sizeof value); }
    GgufBytes& number(const std::string& key, int32_t value) { return add(key, 5, &value, sizeof value); }
    GgufBytes& text(const std::string& key, const std::string& value) {
        const uint64_t size = value.size();
        std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
        bytes += value;
        return add(key, 8, bytes.data(), bytes.size());
    }
    std::shared_ptr<const hearth::gguf::File> file() const {
        std::string all = "GGUF";
        const uint32_t version = 3;
        const uint64_t tensors = 0, values = count_;
        all.append(reinterpret_cast<const char*>(&version), 4).append(reinterpret_cast<const char*>(&tensors), 8);
        all.append(reinterpret_cast<const char*>(&values), 8) += bytes_;
        std::vector<std::byte> header(all.size());
        std::transform(all.begin(), all.end(), header.begin(), [](char c) { return static_cast<std::byte>(c); });
        const uint64_t size = header.size();
        return hearth::gguf::File::fromMemory(std::move(header), size);
    }

private:
    GgufBytes& add(const std::string& key, uint32_t type, const void* value, size_t size) {
        const uint64_t length = key.size();
        bytes_.append(reinterpret_cast<const char*>(&length), 8) += key;
        bytes_.append(reinterpret_cast<const char*>(&type), 4).append(static_cast<const char*>(value), size);
        ++count_;
        return *this;
    }
    std::string bytes_;
    uint64_t count_ = 0;
};

}  // namespace

class TestSampler : public QObject {
    Q_OBJECT

private slots:
    void randomNumbers();
    void reproducible();
    void frequencies_data();
    void frequencies();
    void greedy();
    void biasAndPenalties();
    void largeVocabulary();
    void mirostatHoldsSurprise();
    void adaptiveHoldsTarget();
    void xtcProbability();
    void grammarFirstThenMask();
    void fileRecommendations();
    void sequences();
    void refusals();
    void breakers();
};

/// The 10000th output of std::mt19937_64 with its default seed is fixed by the language standard ([rand.predef]).
void TestSampler::randomNumbers() {
    Random random(5489);
    double u = 0;
    for (int i = 0; i < 10000; ++i) u = random.uniform();
    QCOMPARE(u, static_cast<double>(9981545732273789042u >> 11) / 9007199254740992.0);
}

void TestSampler::reproducible() {
    const auto run = [](Sampler& sampler) {
        std::vector<Token> tokens;
        for (uint64_t i = 0; i < 200; ++i) {
            tokens.push_back(sampler.sample(noise(1000, i)));
            sampler.accept(tokens.back());
        }
        return tokens;
    };
    Parameters p;
    p.seed = 7;
    p.penalty_repeat = 1.1;
    p.dry_multiplier = 0.8;
    p.xtc_probability = 0.5;
    p.adaptive_target = 0.3;
    Sampler a(p), b(p);
    const auto first = run(a);
    QCOMPARE(run(b), first);
    a.reset();
    QCOMPARE(run(a), first);
    p.seed = 8;
    Sampler c(p);
    QVERIFY(run(c) != first);
}

void TestSampler::frequencies_data() {
    QTest::addColumn<int>("tokens");
    QTest::addColumn<double>("limit");   // 99.9 % point of chi-square with that many tokens less one (tables)
    QTest::addRow("2") << 2 << 10.828;
    QTest::addRow("11") << 11 << 29.588;
    QTest::addRow("101") << 101 << 149.449;
}

/// 200000 draws against the probabilities, by Pearson's test.
void TestSampler::frequencies() {
    QFETCH(int, tokens);
    QFETCH(double, limit);
    const auto logits = noise(static_cast<size_t>(tokens), 3, 1);
    const auto p = softmax(logits);
    constexpr int draws = 200000;
    Parameters parameters = plain();
    parameters.seed = 42;
    Sampler sampler(parameters);
    std::vector<int> counts(p.size());
    for (int i = 0; i < draws; ++i) ++counts[static_cast<size_t>(sampler.sample(logits))];
    double chi = 0;
    for (size_t i = 0; i < p.size(); ++i) {
        const double expected = draws * p[i];
        QVERIFY(expected > 5);
        chi += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    QVERIFY2(chi < limit, qPrintable(QString::number(chi)));
}

void TestSampler::greedy() {
    Parameters p;
    p.temperature = 0;
    Sampler sampler(p);
    QCOMPARE(sampler.sample(std::vector<float>{1, 3, 2, 3, 3}), 1);   // the lowest id of equals
    QCOMPARE(sampler.sample(std::vector<float>{-5, minus_infinity, -7}), 0);
    auto logits = noise(100003, 1);
    logits[99991] = 100;
    QCOMPARE(sampler.sample(logits), 99991);
    p.penalty_repeat = 2;
    Sampler penalised(p);
    penalised.accept(1);
    QCOMPARE(penalised.sample(std::vector<float>{1, 3, 2}), 2);   // 3 / 2 < 2
    p.mirostat = 2;
    Sampler mirostat(p);
    mirostat.accept(1);
    QCOMPARE(mirostat.sample(std::vector<float>{1, 3, 2}), 1);   // mirostat replaces the penalties too
}

void TestSampler::biasAndPenalties() {
    Parameters p = plain();
    p.logit_bias = {{0, minus_infinity}, {2, 50.0f}, {77, 1.0f}};   // a token that is not there is no harm
    Sampler sampler(p);
    for (int i = 0; i < 100; ++i) QCOMPARE(sampler.sample(std::vector<float>{9, 1, 1}), 2);
    p.logit_bias = {{0, minus_infinity}, {1, minus_infinity}};
    Sampler none(p);
    QVERIFY_THROWS_EXCEPTION(hearth::Error, none.sample(std::vector<float>{1, 2}));
}

/// The default chain on 262144 logits: the fast path must leave what sorting everything leaves.
void TestSampler::largeVocabulary() {
    const auto logits = noise(262144, 11, 6);
    Parameters p;
    p.top_p = 0.9;
    p.min_p = 0.02;
    Sampler sampler(p);
    sampler.sample(logits);

    std::vector<Token> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](Token a, Token b) {
        const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
        return x != y ? x > y : a < b;
    });
    order.resize(40);
    std::vector<float> best;
    for (const Token t : order) best.push_back(logits[static_cast<size_t>(t)]);
    const auto q = softmax(best);
    double sum = 0;
    size_t n = 0;
    while (n < q.size() && sum < 0.9) sum += q[n++];
    while (q[n - 1] < 0.02 * q[0]) --n;
    const auto left = sampler.candidates();
    QCOMPARE(left.size(), n);
    for (size_t i = 0; i < n; ++i) QCOMPARE(left[i].id, order[i]);

    // Without top-k the nucleus is cut from all of them, sorting only as far as needed.
    p.sequence = {Step::TopP, Step::Temperature};
    Sampler nucleus(p);
    nucleus.sample(logits);
    const auto all = softmax(logits);
    std::vector<double> sorted = all;
    std::sort(sorted.rbegin(), sorted.rend());
    double total = 0;
    size_t expected = 0;
    while (total < 0.9) total += sorted[expected++];
    QCOMPARE(nucleus.candidates().size(), expected);
}

void TestSampler::mirostatHoldsSurprise() {
    for (const int version : {1, 2}) {
        Parameters p;
        p.mirostat = version;
        p.temperature = 1;
        p.mirostat_tau = 3;
        p.seed = 5;
        Sampler sampler(p);
        double sum = 0;
        constexpr int n = 3000;
        for (int i = 0; i < n; ++i) {
            const auto logits = noise(2000, static_cast<uint64_t>(i), 5);
            const Token token = sampler.sample(logits);
            const auto left = sampler.candidates();
            sum -=
                std::log2(std::find_if(left.begin(), left.end(), [&](const Candidate& c) { return c.id == token; })->p);
        }
        QVERIFY2(std::abs(sum / n - 3) < 0.1, qPrintable(QString("mirostat %1: %2 bits").arg(version).arg(sum / n)));
    }
}

/// With few candidates there is always one near the target; without the sampler the mean would be 0.6 whatever the
/// target.
void TestSampler::adaptiveHoldsTarget() {
    for (const double target : {0.25, 0.4}) {
        Parameters p = plain();
        p.adaptive_target = target;
        p.seed = 6;
        Sampler sampler(p);
        double sum = 0;
        constexpr int n = 4000;
        for (int i = 0; i < n; ++i) {
            const auto logits = noise(5, static_cast<uint64_t>(i), 2);
            sum += softmax(logits)[static_cast<size_t>(sampler.sample(logits))];
        }
        QVERIFY2(std::abs(sum / n - target) < 0.03, qPrintable(QString::number(sum / n)));
    }
}

void TestSampler::xtcProbability() {
    Parameters p = plain();
    p.sequence = {Step::Xtc};
    p.xtc_probability = 0.3;
    p.xtc_threshold = 0.1;
    p.seed = 9;
    Sampler sampler(p);
    const std::vector<float> logits{5, 4, 3, -20};  // all but the last reach the threshold … 0.665 0.245 0.090
    int cut = 0;
    constexpr int n = 20000;
    for (int i = 0; i < n; ++i) {
        sampler.sample(logits);
        cut += sampler.candidates().size() == 3;  // token 0 is excluded, 1 stays, 2 was below
    }
    QVERIFY2(std::abs(cut - 0.3 * n) < 4 * std::sqrt(n * 0.3 * 0.7), qPrintable(QString::number(cut)));
}

void TestSampler::grammarFirstThenMask() {
    const std::vector<std::string> pieces{"a", "b", "c", "aa", "</s>"};
    const VocabularyView view{pieces.size(), [&](Token t) { return pieces[static_cast<size_t>(t)]; },
                              [](Token t) { return t == 4; }, [](Token) { return false; }};
    const auto tree = std::make_shared<TokenTrie>(view);
    Parameters p = plain();
    p.seed = 3;
    Sampler sampler(p);
    sampler.setGrammar(std::make_unique<GrammarState>(Grammar::parse("root ::= \"a\"{3} \"b\""), tree));
    for (int round = 0; round < 50; ++round) {
        std::string text;
        for (;;) {
            const Token token = sampler.sample(std::vector<float>{1, 2, 9, 1, 3});  // likes what is forbidden
            sampler.accept(token);
            if (token == 4) break;
            text += pieces[static_cast<size_t>(token)];
        }
        QCOMPARE(text, std::string("aaab"));
        QVERIFY(sampler.grammar()->finished());
        sampler.setGrammar(std::make_unique<GrammarState>(Grammar::parse("root ::= \"a\"{3} \"b\""), tree));
    }
    // Two allowed tokens keep the ratio of their probabilities: e² : 1.
    sampler.setGrammar(std::make_unique<GrammarState>(Grammar::parse("root ::= \"a\" | \"c\""), tree));
    int first = 0;
    constexpr int n = 20000;
    for (int i = 0; i < n; ++i) first += sampler.sample(std::vector<float>{2, 3, 0, 1, 1}) == 0;
    const double expected = n / (1 + std::exp(-2.0));
    QVERIFY2(std::abs(first - expected) < 4 * std::sqrt(n * 0.12 * 0.88), qPrintable(QString::number(first)));
    QVERIFY_THROWS_EXCEPTION(hearth::Error, sampler.accept(1));
}

void TestSampler::fileRecommendations() {
    const auto file = GgufBytes()
                          .number("general.sampling.top_k", int32_t{20})
                          .number("general.sampling.temp", 0.5f)
                          .number("general.sampling.top_p", 0.75f)
                          .number("general.sampling.penalty_last_n", int32_t{-1})
                          .number("general.sampling.mirostat_tau", 4.0f)
                          .text("general.sampling.sequence", "kpt")
                          .file();
    const Parameters all = fromGguf(*file, {});
    QCOMPARE(all.top_k, 20);
    QCOMPARE(all.temperature, 0.5);
    QCOMPARE(all.top_p, 0.75);
    QCOMPARE(all.penalty_last_n, -1);
    QCOMPARE(all.mirostat_tau, 4.0);
    QVERIFY((all.sequence == std::vector<Step>{Step::TopK, Step::TopP, Step::Temperature}));
    QCOMPARE(all.min_p, 0.05);  // the file says nothing of it
    Parameters chosen;
    chosen.temperature = 1.5;
    const Parameters some = fromGguf(*file, chosen, {"temperature", "sequence"});
    QCOMPARE(some.temperature, 1.5);
    QCOMPARE(some.top_k, 20);
    QCOMPARE(some.sequence.size(), size_t{9});
    QVERIFY_THROWS_EXCEPTION(hearth::Error,
                             fromGguf(*GgufBytes().number("general.sampling.top_p", std::nanf("")).file(), {}));
    QVERIFY_THROWS_EXCEPTION(hearth::Error,
                             fromGguf(*GgufBytes().text("general.sampling.sequence", "top_k;nonsense").file(), {}));
}

void TestSampler::sequences() {
    QVERIFY(parseSequence("edskypmxt") == Parameters().sequence);
    QVERIFY(parseSequence("penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature") ==
            Parameters().sequence);
    QVERIFY((parseSequence(" top_k, temperature ;") == std::vector<Step>{Step::TopK, Step::Temperature}));
    QVERIFY(parseSequence("xtc") == std::vector<Step>{Step::Xtc});
    QVERIFY(parseSequence("").empty());
    QVERIFY_THROWS_EXCEPTION(hearth::Error, parseSequence("q"));
    QVERIFY_THROWS_EXCEPTION(hearth::Error, parseSequence("top_k;what"));
}

void TestSampler::refusals() {
    const auto refused = [](auto change) {
        Parameters p;
        change(p);
        try {
            Sampler sampler(p);
        } catch (const hearth::Error&) {
            return true;
        }
        return false;
    };
    QVERIFY(refused([](Parameters& p) { p.temperature = std::nan(""); }));
    QVERIFY(refused([](Parameters& p) { p.penalty_repeat = 0; }));
    QVERIFY(refused([](Parameters& p) { p.mirostat = 3; }));
    QVERIFY(refused([](Parameters& p) { p.sequence = {Step::TopK, Step::TopP, Step::TopK}; }));
    QVERIFY(refused([](Parameters& p) { p.logit_bias = {{0, std::nanf("")}}; }));
    QVERIFY(!refused([](Parameters& p) { p.temperature = -1; }));
}

void TestSampler::breakers() {
    const std::vector<std::string> pieces{"a", ",\n", ":", "x::y", "<br", ">"};
    const VocabularyView view{pieces.size(), [&](Token t) { return pieces[static_cast<size_t>(t)]; }, {}, {}};
    const auto breakers = dryBreakers({"\n", ":", "<br>"}, view, [](std::string_view text) {
        return text == "<br>" ? std::vector<Token>{4, 5} : std::vector<Token>{0};
    });
    QVERIFY((breakers == std::vector<std::vector<Token>>{{1}, {2}, {3}, {4, 5}}));
    QCOMPARE(defaultDryBreakers().size(), size_t{4});
}

QTEST_APPLESS_MAIN(TestSampler)
#include "test_sampler.moc"
