#include <cmath>
#include <limits>

#include <QTest>

#include "cases.h"
#include "engine/base/error.h"
#include "engine/sampling/samplers.h"

using namespace hearth::sampling;
using cases::Json;

namespace {

float logitOf(const Json& value) {
    return value.is_string() ? -std::numeric_limits<float>::infinity() : value.get<float>();
}

template <typename T>
T parameter(const Json& params, const char* name, T otherwise) {
    return params.contains(name) ? params[name].get<T>() : otherwise;
}

/// Runs one sampler as a case names it.
void apply(Candidates& candidates, const std::string& name, const Json& p, const std::vector<Token>& history) {
    Random random(1);
    const int32_t min_keep = parameter(p, "min_keep", 1);
    if (name == "top_k") return topK(candidates, p["k"].get<int32_t>());
    if (name == "top_p") return topP(candidates, p["p"].get<double>(), min_keep);
    if (name == "min_p") return minP(candidates, p["p"].get<double>(), min_keep);
    if (name == "typical") return typical(candidates, p["p"].get<double>(), min_keep);
    if (name == "top_n_sigma") return topNSigma(candidates, p["n"].get<double>());
    if (name == "temperature") return temperature(candidates, p["t"].get<double>());
    if (name == "dynatemp")
        return temperature(candidates, p["t"].get<double>(), p["range"].get<double>(), p["exponent"].get<double>());
    if (name == "xtc")
        return xtc(candidates, p["probability"].get<double>(), p["threshold"].get<double>(), min_keep, random);
    if (name == "mirostat_v2") return mirostat2(candidates, p["mu"].get<double>());
    if (name == "mirostat_v1") return mirostat1(candidates, p["mu"].get<double>(), p["m"].get<int32_t>());
    if (name == "adaptive_p") {
        const double target = p["target"].get<double>();
        return adaptiveP(candidates, target, parameter(p, "average", target));
    }
    if (name == "logit_bias") {
        std::vector<std::pair<Token, float>> bias;
        for (const Json& entry : p["bias"]) bias.emplace_back(entry[0].get<Token>(), logitOf(entry[1]));
        return addLogitBias(candidates, bias);
    }
    if (name == "penalties") {
        Penalties penalties;
        penalties.last_n = p["last_n"].get<int32_t>();
        penalties.repeat = parameter(p, "repeat", 1.0);
        penalties.frequency = parameter(p, "frequency", 0.0);
        penalties.presence = parameter(p, "presence", 0.0);
        return penalties.apply(candidates, history);
    }
    if (name == "dry") {
        Dry dry;
        dry.multiplier = p["multiplier"].get<double>();
        dry.base = p["base"].get<double>();
        dry.allowed_length = p["allowed_length"].get<int32_t>();
        dry.last_n = p["last_n"].get<int32_t>();
        if (p.contains("breakers")) dry.breakers = p["breakers"].get<std::vector<std::vector<Token>>>();
        return dry.apply(candidates, history);
    }
    throw std::runtime_error("unknown sampler " + name);
}

}  // namespace

/// One sampler, or a chain of them, on given logits: the surviving tokens and their probabilities.
class TestSamplers : public QObject {
    Q_OBJECT

    std::vector<cases::Source> sources_ = cases::both("sampling/cases.json");

private slots:
    void cases_data() {
        QTest::addColumn<int>("source");
        QTest::addColumn<int>("index");
        for (size_t s = 0; s < sources_.size(); ++s)
            for (size_t i = 0; i < sources_[s].content["cases"].size(); ++i)
                QTest::addRow("%s %zu: %s", sources_[s].name.c_str(), i,
                              sources_[s].content["cases"][i]["name"].get<std::string>().c_str())
                    << static_cast<int>(s) << static_cast<int>(i);
    }
    void cases();
    void counts() {
        QVERIFY(!sources_.empty() && sources_[0].name == "own");
        QVERIFY(sources_[0].content["cases"].size() >= 100);
        if (sources_.size() < 2) QSKIP("the fixture set is not beside this checkout (HEARTH_FIXTURES)");
        QCOMPARE(sources_[1].content["cases"].size(), size_t{391});
    }
    void unusableLogits();
};

void TestSamplers::cases() {
    QFETCH(int, source);
    QFETCH(int, index);
    const Json& file = sources_[static_cast<size_t>(source)].content;
    const Json& test = file["cases"][static_cast<size_t>(index)];
    const double tolerance = file["tolerance"].get<double>();
    std::vector<float> logits;
    for (const Json& value : test["logits"]) logits.push_back(logitOf(value));
    const auto history = parameter(test, "history", std::vector<Token>());

    Candidates candidates;
    candidates.reset(logits);
    if (test["sampler"] == "chain")
        for (const Json& step : test["chain"])
            apply(candidates, step["sampler"].get<std::string>(), step["params"], history);
    else apply(candidates, test["sampler"].get<std::string>(), test["params"], history);
    candidates.softmax();

    std::vector<Candidate> left = candidates.list();
    const auto keep = test["keep"].get<std::vector<Token>>();
    const auto probs = test["probs"].get<std::vector<double>>();
    QCOMPARE(left.size(), keep.size());
    const bool ties = parameter(test, "ties", false);
    std::sort(left.begin(), left.end(), [](const Candidate& a, const Candidate& b) { return a.id < b.id; });
    std::vector<double> got, want = probs;
    for (size_t i = 0; i < left.size(); ++i) {
        got.push_back(left[i].p);
        if (!ties) QCOMPARE(left[i].id, keep[i]);
    }
    if (ties) {
        std::sort(got.begin(), got.end());
        std::sort(want.begin(), want.end());
    }
    for (size_t i = 0; i < got.size(); ++i)
        QVERIFY2(std::abs(got[i] - want[i]) <= tolerance,
                 qPrintable(QString("p[%1] is %2, expected %3").arg(i).arg(got[i]).arg(want[i])));

    if (!test.contains("mu_after")) return;
    const Json& p = test["params"];
    for (size_t i = 0; i < left.size(); ++i) {
        const double mu =
            p["mu"].get<double>() - p["eta"].get<double>() * (-std::log2(left[i].p) - p["tau"].get<double>());
        QVERIFY(std::abs(mu - test["mu_after"][i].get<double>()) <= tolerance);
    }
}

void TestSamplers::unusableLogits() {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    Candidates candidates;
    candidates.reset(std::vector<float>{nan, 1, infinity, -infinity, 2});
    candidates.keepBest(3);
    QCOMPARE(candidates.list().size(), size_t{3});   // NaN and -infinity are not available
    QCOMPARE(candidates.list()[0].id, 2);
    QCOMPARE(candidates.list()[1].id, 4);
    candidates.reset(std::vector<float>{nan, -infinity});
    QVERIFY_THROWS_EXCEPTION(hearth::Error, candidates.list());
    QVERIFY_THROWS_EXCEPTION(hearth::Error, argmax(std::vector<float>{nan, nan}));
    QVERIFY_THROWS_EXCEPTION(hearth::Error, argmax(std::vector<float>{}));
}

QTEST_APPLESS_MAIN(TestSamplers)
#include "test_samplers.moc"
