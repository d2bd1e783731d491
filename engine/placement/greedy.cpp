#include <algorithm>
#include <numeric>

#include "engine/placement/choices.h"

namespace hearth::placement {
namespace {

/// One step along a layer's hull.
struct Move {
    size_t layer = 0;
    Choice to;
    uint64_t bytes = 0;   ///< more than before
    double gain = 0;      ///< seconds saved
};

/// The choices of a layer on the lower convex hull of (bytes, seconds), beginning with the processor alone: each move
/// saves fewer seconds per byte than the one before it.
std::vector<Move> hullMoves(size_t index, const Layer& layer, int device, std::span<const Target> targets) {
    std::vector<PricedChoice> hull{{Choice{}, 0, layerSeconds(layer, {}, targets)}};
    for (const PricedChoice& next : pricedChoices(layer, device, targets)) {
        if (next.seconds >= hull.back().seconds) continue;
        const auto slope = [](const PricedChoice& a, const PricedChoice& b) {
            return (a.seconds - b.seconds) / static_cast<double>(b.bytes - a.bytes);
        };
        while (hull.size() > 1 && slope(hull.back(), next) >= slope(hull[hull.size() - 2], hull.back()))
            hull.pop_back();
        hull.push_back(next);
    }
    std::vector<Move> moves;
    for (size_t i = 1; i < hull.size(); ++i)
        moves.push_back(
            {index, hull[i].choice, hull[i].bytes - hull[i - 1].bytes, hull[i - 1].seconds - hull[i].seconds});
    return moves;
}

/// The device that serves each layer: cumulative bytes follow the shares of the budgets.
std::vector<int> ranges(std::span<const Layer> layers, std::span<const Target> targets) {
    std::vector<double> sizes;
    for (const Layer& layer : layers)
        sizes.push_back(layer.cores.empty() ? 0.0
                                            : static_cast<double>(choiceBytes(
                                                  layer, {0, 0, static_cast<uint32_t>(layer.blocks.size())})));
    double budgets = 0, all = std::accumulate(sizes.begin(), sizes.end(), 0.0);
    for (const Target& target : targets) budgets += static_cast<double>(target.budget);
    std::vector<int> device(layers.size(), 0);
    size_t current = 0;
    double bound = static_cast<double>(targets[0].budget), seen = 0;
    for (size_t i = 0; i < layers.size(); ++i) {
        while (current + 1 < targets.size() && (seen + sizes[i] / 2) * budgets > bound * all)
            bound += static_cast<double>(targets[++current].budget);
        device[i] = static_cast<int>(current);
        seen += sizes[i];
    }
    return device;
}

/// The choices along a sequence of moves, and the best of the states that it passed.
class Path {
public:
    Path(std::span<const Layer> layers, std::span<const Target> targets)
        : targets_(targets), now_(layers.size()), best_(now_) {}

    void take(const Move& move) {
        const size_t i = move.layer;
        gain_ += move.gain + crossings(i);
        now_[i] = move.to;
        gain_ -= crossings(i);
        pending_.push_back(move);
        if (gain_ <= best_gain_) return;
        best_gain_ = gain_;
        for (const Move& one : pending_) best_[one.layer] = one.to;
        pending_.clear();
    }
    const std::vector<Choice>& best() const { return best_; }

private:
    double handover(int device) const {
        return device == Choice::cpu ? 0 : targets_[static_cast<size_t>(device)].handover_s;
    }
    double crossing(int a, int b) const { return a == b ? 0 : handover(a) + handover(b); }
    /// Seconds of the hand-overs before and after a layer.
    double crossings(size_t i) const {
        double s = crossing(i > 0 ? now_[i - 1].device : Choice::cpu, now_[i].device);
        return s + crossing(now_[i].device, i + 1 < now_.size() ? now_[i + 1].device : Choice::cpu);
    }

    std::span<const Target> targets_;
    std::vector<Choice> now_, best_;
    std::vector<Move> pending_;   // since the best state
    double gain_ = 0, best_gain_ = 0;
};

}  // namespace

std::vector<PricedChoice> pricedChoices(const Layer& layer, int device, std::span<const Target> targets) {
    std::vector<PricedChoice> all, kept;
    for (uint32_t core = 0; core < layer.cores.size(); ++core)
        for (const uint32_t cut : layer.cuts) {
            const Choice choice{device, core, cut};
            all.push_back({choice, choiceBytes(layer, choice), layerSeconds(layer, choice, targets)});
        }
    std::ranges::stable_sort(all, [](const PricedChoice& a, const PricedChoice& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
    });
    for (const PricedChoice& one : all)
        if (kept.empty() || one.seconds < kept.back().seconds) kept.push_back(one);
    return kept;
}

std::vector<Choice> greedyChoices(std::span<const Layer> layers, std::span<const Target> targets) {
    const std::vector<int> device = ranges(layers, targets);
    std::vector<Move> moves;
    for (size_t i = 0; i < layers.size(); ++i)
        for (const Move& move : hullMoves(i, layers[i], device[i], targets)) moves.push_back(move);
    // Stable: equal layers fill in their order, and the moves of one layer keep theirs.
    std::ranges::stable_sort(moves, [](const Move& a, const Move& b) {
        return a.gain * static_cast<double>(b.bytes) > b.gain * static_cast<double>(a.bytes);
    });
    // The path of moves does not depend on the budgets: each device only stops somewhere on it. Hand-overs between layers can
    // make a stop on the way better than the last one; taking the best of all stops, more budget never makes worse.
    Path path(layers, targets);
    std::vector<uint64_t> used(targets.size(), 0);
    std::vector<bool> full(targets.size(), false);
    for (const Move& move : moves) {
        const auto g = static_cast<size_t>(move.to.device);
        full[g] = full[g] || used[g] + move.bytes > targets[g].budget;
        if (full[g]) continue;
        used[g] += move.bytes;
        path.take(move);
    }
    return path.best();
}

}  // namespace hearth::placement
