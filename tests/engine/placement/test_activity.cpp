#include <QtTest>

#include "engine/placement/plan.h"
#include "tests/support/fixtures.h"

using namespace hearth;
using placement::Activity;

/// What a profile tells the planner.
class TestActivity : public QObject {
    Q_OBJECT

    static model::Description described(const char* name) {
        return model::Description::read(gguf::File::open(test::dataFolder() / "models" / name));
    }

private slots:
    void ratesAndRankings() {
        const model::Description d = described("pwri_llama_q4_0.gguf");
        const size_t f = d.shapes[0].feed_forward;
        sparse::Profile profile(d.layers);
        // A tenth of the neurons fires for each of 100 tokens, the others never.
        profile.layer(0) = {std::vector<uint64_t>(f), {}, 100, true};
        for (size_t j = 0; j < f / 10; ++j) profile.layer(0).fired[3 * j] = 100;
        profile.layer(1) = profile.layer(0);   // the same as a ranking
        profile.layer(1).rates = false;
        profile.layer(1).tokens = 0;

        const std::vector<Activity> all = placement::activityFrom(d, profile), assumed = placement::assumedActivity(d);
        const double share = static_cast<double>(f / 10) / static_cast<double>(f);
        QVERIFY(std::abs(all[0].active - share) < 1e-9);
        QVERIFY(std::abs(all[0].flagged - 1.3 * share) < 1e-9);
        QVERIFY(all[0].curve.reads(0.15) > 0.99);
        QCOMPARE(all[1].active, assumed[1].active);
        QVERIFY(all[1].curve.reads(0.15) > 0.99);

        profile.layer(0) = {std::vector<uint64_t>(f + 1, 5), {}, 10, true};   // of another model
        const std::vector<Activity> others = placement::activityFrom(d, profile);
        QCOMPARE(others[0].active, assumed[0].active);
        QCOMPARE(others[0].curve.reads(0.5), 0.5);
    }

    /// Of experts without zeros it counts how often each is chosen.
    void experts() {
        const model::Description d = described("qwen3moe.gguf");
        sparse::Profile profile(d.layers);
        sparse::Profile::Layer& layer = profile.layer(0);
        layer.chosen.assign(d.experts.count, 0);
        layer.chosen[1] = 40;
        layer.tokens = 40;
        const std::vector<Activity> all = placement::activityFrom(d, profile);
        QVERIFY(all[0].curve.reads(1.0 / d.experts.count) > 0.99);
        QCOMPARE(all[0].active, placement::assumedActivity(d)[0].active);
    }
};

QTEST_GUILESS_MAIN(TestActivity)
#include "test_activity.moc"
