#include <QtTest>
#include <algorithm>
#include <random>

#include "engine/placement/solver.h"

using namespace hearth::placement;

namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

/// Random problems small enough to try everything.
class Instances {
public:
    explicit Instances(uint32_t seed) : random_(seed) {}

    int integer(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
    double real(double least, double most) { return std::uniform_real_distribution(least, most)(random_); }

    /// Blocks from hot to cold, as the planner makes them; `even`: all of one size, none before the hand-over.
    Layer layer(int most_blocks, bool even) {
        Layer l;
        l.cpu_s = real(0.1, 3);
        const int cores = even ? 1 : integer(0, 2);
        for (int c = 0; c < cores; ++c)
            l.cores.push_back(
                {static_cast<uint64_t>(integer(0, 4)) * 8 * mib, real(0, 2), c == 0 ? 0 : real(0, 0.4), c});
        double density = real(0.02, 0.5);
        for (int b = integer(0, most_blocks); b > 0; --b) {
            const int steps = even ? 1 : integer(1, 3);
            const double reads = density * steps;
            l.blocks.push_back(
                {static_cast<uint64_t>(steps) * 8 * mib, reads, reads * 4, !even && b > 1 && integer(0, 3) == 0});
            density *= real(0.3, 1);
        }
        for (uint32_t cut = 0; cut <= l.blocks.size(); ++cut) l.cuts.push_back(cut);
        return l;
    }

    std::vector<Layer> layers(int most_layers, int most_blocks, bool even) {
        std::vector<Layer> all;
        for (int i = integer(1, most_layers); i > 0; --i) all.push_back(layer(most_blocks, even));
        return all;
    }

    Target target(int most_steps, bool free_handover) {
        return {static_cast<uint64_t>(integer(0, most_steps)) * 8 * mib, real(2, 20), free_handover ? 0 : real(0, 0.5),
                free_handover ? 0 : real(0, 0.2)};
    }

private:
    std::mt19937 random_;
};

/// The formula of sparsity §3.2 for any set of moved blocks (a mask), written out once more.
double secondsOf(const Layer& l, int core, unsigned moved, const Target& t) {
    double serial = 0, device = 0, cpu = 0;
    for (size_t b = 0; b < l.blocks.size(); ++b) {
        const Block& k = l.blocks[b];
        if ((moved >> b & 1) == 0) cpu += k.cpu_s;
        else if (k.before) serial += k.reads;
        else device += k.reads;
    }
    if (core < 0) return l.cpu_s + cpu;
    const Core& c = l.cores[static_cast<size_t>(core)];
    const bool hybrid = moved != (1u << l.blocks.size()) - 1;
    return t.layer_s + (c.reads + serial) / t.bytes_per_s + c.cpu_s + std::max(device / t.bytes_per_s, cpu) +
           (c.handovers + hybrid) * t.handover_s;
}

/// The best of all assignments, by trying them: prefixes of each layer's blocks, or any set of them.
class Everything {
public:
    Everything(const std::vector<Layer>& layers, const std::vector<Target>& targets, bool any_set)
        : layers_(layers), targets_(targets), any_set_(any_set), used_(targets.size(), 0) {}

    double best() {
        best_ = 1e300;
        go(0, 0, -1, 0);
        return best_;
    }

private:
    void go(size_t layer, int first_device, int side, double seconds) {
        if (layer == layers_.size()) {
            best_ = std::min(best_, seconds + (side >= 0 ? targets_[size_t(side)].handover_s : 0));
            return;
        }
        const Layer& l = layers_[layer];
        go(layer + 1, first_device, -1,
           seconds + (side >= 0 ? targets_[size_t(side)].handover_s : 0) + secondsOf(l, -1, 0, {}));
        for (int g = first_device; g < int(targets_.size()); ++g)
            for (int c = 0; c < int(l.cores.size()); ++c)
                for (unsigned moved = 0; moved < 1u << l.blocks.size(); ++moved) {
                    if (!any_set_ && (moved & (moved + 1)) != 0) continue;
                    uint64_t bytes = l.cores[size_t(c)].bytes;
                    for (size_t b = 0; b < l.blocks.size(); ++b)
                        if ((moved >> b & 1) != 0) bytes += l.blocks[b].bytes;
                    if (used_[size_t(g)] + bytes > targets_[size_t(g)].budget) continue;
                    used_[size_t(g)] += bytes;
                    double cost = secondsOf(l, c, moved, targets_[size_t(g)]);
                    if (side != g)
                        cost += targets_[size_t(g)].handover_s + (side >= 0 ? targets_[size_t(side)].handover_s : 0);
                    go(layer + 1, g, g, seconds + cost);
                    used_[size_t(g)] -= bytes;
                }
    }

    const std::vector<Layer>& layers_;
    const std::vector<Target>& targets_;
    bool any_set_;
    std::vector<uint64_t> used_;
    double best_ = 0;
};

bool withinBudgets(const std::vector<Layer>& layers, const std::vector<Target>& targets, const Solution& s) {
    std::vector<uint64_t> used(targets.size(), 0);
    int last = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
        const Choice& c = s.layers[i];
        if (c.device == Choice::cpu) continue;
        if (c.device < last) return false;
        last = c.device;
        used[size_t(c.device)] += choiceBytes(layers[i], c);
    }
    for (size_t g = 0; g < targets.size(); ++g)
        if (used[g] > targets[g].budget) return false;
    return true;
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

class TestSolver : public QObject {
    Q_OBJECT

private slots:
    void optimalOnOneDevice() {
        Instances instances(1);
        int hybrid = 0;
        for (int i = 0; i < 1200; ++i) {
            const std::vector<Layer> layers = instances.layers(3, 4, false);
            const std::vector<Target> targets{instances.target(24, false)};
            const Solution s = solve(layers, targets);
            QVERIFY(withinBudgets(layers, targets, s));
            QVERIFY2(near(s.seconds, Everything(layers, targets, false).best()), qPrintable(QString::number(i)));
            for (size_t l = 0; l < layers.size(); ++l)
                hybrid += s.layers[l].device == 0 && s.layers[l].cut > 0 && s.layers[l].cut < layers[l].blocks.size();
        }
        QVERIFY(hybrid > 100);   // the instances are not all trivial
    }

    /// No set of blocks is better than the hottest ones, so it is enough that the solver looks at those (sparsity §3.3).
    void hottestFirstIsEnough() {
        Instances instances(2);
        for (int i = 0; i < 400; ++i) {
            const std::vector<Layer> layers = instances.layers(2, 4, true);
            const std::vector<Target> targets{instances.target(10, false)};
            QVERIFY(near(solve(layers, targets).seconds, Everything(layers, targets, true).best()));
        }
    }

    void optimalOnTwoDevices() {
        Instances instances(3);
        int both = 0;
        for (int i = 0; i < 400; ++i) {
            const std::vector<Layer> layers = instances.layers(4, 2, false);
            const std::vector<Target> targets{instances.target(6, false), instances.target(6, false)};
            const Solution s = solve(layers, targets);
            QVERIFY(withinBudgets(layers, targets, s));
            QVERIFY2(near(s.seconds, Everything(layers, targets, false).best()), qPrintable(QString::number(i)));
            const auto serves = [&](int g) {
                return std::ranges::any_of(s.layers, [g](const Choice& c) { return c.device == g; });
            };
            both += serves(0) && serves(1);
        }
        QVERIFY(both > 50);
    }

    /// Without fixed charges the greedy answer misses at most what one block would have gained.
    void greedyMissesAtMostOneBlock() {
        Instances instances(4);
        for (int i = 0; i < 400; ++i) {
            std::vector<Layer> layers = instances.layers(3, 4, true);
            double largest = 0;
            for (Layer& l : layers) {
                l.cores[0].bytes = 0;
                l.cores[0].reads = 0;
                for (const Block& b : l.blocks) largest = std::max(largest, b.cpu_s);
            }
            const std::vector<Target> targets{instances.target(10, true)};
            const Solution s = solve(layers, targets, Effort::greedy);
            QVERIFY(withinBudgets(layers, targets, s));
            QVERIFY(s.seconds <= Everything(layers, targets, false).best() + largest + 1e-9);
        }
    }

    void moreIsNeverWorse() {
        Instances instances(5);
        for (int i = 0; i < 200; ++i) {
            const std::vector<Layer> layers = instances.layers(8, 6, false);
            Target target = instances.target(0, false);
            for (const Effort effort : {Effort::greedy, Effort::exact}) {
                double last = 1e300;
                for (uint64_t budget = 0; budget < 300 * mib; budget += 3 * mib + 12345) {
                    target.budget = budget;
                    const Solution s = solve(layers, {&target, 1}, effort);
                    QVERIFY(withinBudgets(layers, {target}, s));
                    QVERIFY(s.seconds <= last);
                    last = s.seconds;
                }
            }
        }
    }

    void sameQuestionSameAnswer() {
        Instances instances(6);
        for (int i = 0; i < 50; ++i) {
            const std::vector<Layer> layers = instances.layers(6, 6, false);
            const std::vector<Target> targets{instances.target(20, false), instances.target(20, false)};
            QCOMPARE(solve(layers, targets).layers, solve(layers, targets).layers);
        }
    }

    void withoutDevicesEverythingStays() {
        Instances instances(7);
        const std::vector<Layer> layers = instances.layers(4, 4, false);
        double want = 0;
        for (const Layer& l : layers) want += secondsOf(l, -1, 0, {});
        const Solution s = solve(layers, {});
        QVERIFY(near(s.seconds, want));
        for (const Choice& c : s.layers) QCOMPARE(c.device, int(Choice::cpu));
    }

    void stepsAreBounded() {
        QCOMPARE(solverStep(40ull << 30), 8 * mib);
        QCOMPARE(solverStep(8ull << 30), 8 * mib);
        for (const uint64_t bytes : {1000ull, 1ull << 20, 1ull << 30, 40ull << 30, 1ull << 40}) {
            const uint64_t steps = bytes / solverStep(bytes);
            QVERIFY(steps <= 6144 && (steps >= 512 || solverStep(bytes) == 1));
        }
    }
};

QTEST_GUILESS_MAIN(TestSolver)
#include "test_solver.moc"
