#include "engine/placement/activity.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/base/error.h"

namespace hearth::placement {

Curve Curve::power(double exponent) {
    if (!(exponent > 0 && exponent <= 1))
        throw Error("cannot use this profile", "its exponent is not above 0 and at most 1");
    Curve curve;
    curve.exponent_ = exponent;
    return curve;
}

Curve Curve::through(std::span<const std::pair<double, double>> points) {
    Curve curve;
    curve.points_.emplace_back(0, 0);
    curve.points_.insert(curve.points_.end(), points.begin(), points.end());
    if (curve.points_.back() != std::pair(1.0, 1.0)) curve.points_.emplace_back(1, 1);
    double slope = std::numeric_limits<double>::infinity();
    for (size_t i = 1; i < curve.points_.size(); ++i) {
        const auto [q0, r0] = curve.points_[i - 1];
        const auto [q1, r1] = curve.points_[i];
        const double next = (r1 - r0) / (q1 - q0);
        // A little more than before is rounding: rates that are all equal give slopes that differ in the last digit.
        if (!(q1 > q0 && r1 >= r0 && next <= slope * (1 + 1e-6)))
            throw Error("cannot use this profile", "its points do not run from the hottest neurons to the coldest");
        slope = next;
    }
    return curve;
}

Curve Curve::fromRates(std::span<const double> rates) {
    constexpr size_t most_points = 64;
    std::vector<double> sorted(rates.begin(), rates.end());
    std::ranges::sort(sorted, std::greater());
    const double all = std::accumulate(sorted.begin(), sorted.end(), 0.0);
    if (sorted.empty() || !(all > 0)) return {};
    std::vector<std::pair<double, double>> points;
    double sum = 0;
    for (size_t i = 0, next = 1; i < sorted.size(); ++i) {
        sum += sorted[i];
        if (i + 1 < sorted.size() && (i + 1) * most_points >= next * sorted.size()) {
            points.emplace_back(static_cast<double>(i + 1) / static_cast<double>(sorted.size()), sum / all);
            next = (i + 1) * most_points / sorted.size() + 1;
        }
    }
    return through(points);
}

double Curve::reads(double q) const {
    q = std::clamp(q, 0.0, 1.0);
    if (points_.empty()) return std::pow(q, exponent_);
    const auto after = std::ranges::lower_bound(points_, q, {}, &std::pair<double, double>::first);
    if (after == points_.begin()) return 0;
    const auto [q0, r0] = *(after - 1);
    const auto [q1, r1] = *after;
    return r0 + (r1 - r0) * (q - q0) / (q1 - q0);
}

std::vector<Activity> assumedActivity(const model::Description& d) {
    using cpu::Activation;
    std::vector<Activity> all(d.layers);
    for (uint32_t i = 0; i < d.layers; ++i) {
        Activity& a = all[i];
        if (const float cut = d.shapes[i].gate_cut; cut > 0) a.active = 0.5 * std::erfc(cut / std::sqrt(2.0));
        else if (d.architecture.activation == Activation::drelu) a.active = 0.15;
        else if (d.architecture.activation == Activation::relu2) a.active = 0.10;
        else if (d.architecture.activation == Activation::relu) a.active = 0.33;
        a.flagged = std::min(1.0, flagged_per_active * a.active);
    }
    return all;
}

std::vector<Activity> activityFrom(const model::Description& d, const sparse::Profile& profile) {
    std::vector<Activity> all = assumedActivity(d);
    const auto sum = [](const std::vector<uint64_t>& counts) {
        return static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
    };
    for (uint32_t i = 0; i < d.layers && i < profile.layers(); ++i) {
        const sparse::Profile::Layer& layer = profile.layer(i);
        const bool experts = d.expertLayer(i);
        // Experts without zeros are placed whole: what is spread is how often each is chosen.
        const bool whole = experts && !d.activationHasZeros();
        const std::vector<uint64_t>& units = whole ? layer.chosen : layer.fired;
        const uint64_t expected = whole     ? d.experts.count
                                  : experts ? uint64_t{d.experts.count} * d.experts.width
                                            : d.shapes[i].feed_forward;
        if (units.size() != expected || sum(units) == 0) continue;
        all[i].curve = Curve::fromRates(std::vector<double>(units.begin(), units.end()));
        if (whole || !layer.rates || layer.tokens == 0) continue;
        const double computed = experts ? sum(layer.chosen) * d.experts.width
                                        : static_cast<double>(layer.tokens) * static_cast<double>(units.size());
        all[i].active = std::clamp(sum(layer.fired) / computed, 0.0, 1.0);
        all[i].flagged = std::min(1.0, flagged_per_active * all[i].active);
    }
    return all;
}

}  // namespace hearth::placement
