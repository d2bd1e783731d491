#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// How much a lossy mode loses, measured while it runs.
namespace hearth::sparse {

/// Every few tokens one layer is also computed in full: the share of its output that was lost, ‖full − given‖ / ‖full‖ (CETT,
/// arXiv 2402.03804), is the statistic. With a budget, what is measured moves a dial that makes all cuts let more through:
/// quickly up while too much is lost, slowly down while far less is. What is checked when depends on positions alone.
class LossControl {
public:
    /// `budget`: 0 = only measure.
    LossControl(size_t layers = 0, float budget = 0) : newest_(layers, -1.0f), budget_(budget) {}

    /// Whether this layer is to be checked at this position of a text.
    bool due(size_t layer, uint32_t position) const {
        const uint32_t period = budget_ > 0 ? period_held : period_watched;
        return !newest_.empty() && position % period == 0 && position / period % newest_.size() == layer;
    }
    void add(size_t layer, float lost);

    /// Mean over layers of what their newest check found; 0 before the first.
    float lost() const;
    uint64_t checks() const { return checks_; }
    /// ≥ 0: cuts of predictors lie this many of their spreads lower, thresholds are divided by 2^dial.
    float dial() const { return dial_; }

private:
    static constexpr uint32_t period_watched = 16, period_held = 4;   // tokens
    std::vector<float> newest_;   // [layers], −1 = not yet
    float budget_, dial_ = 0;
    uint64_t checks_ = 0;
};

}  // namespace hearth::sparse
