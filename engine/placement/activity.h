#pragma once

#include <span>
#include <utility>
#include <vector>

#include "engine/model/description.h"
#include "engine/sparse/profile.h"

namespace hearth::placement {

/// How the reads of a layer's neurons are spread over them, hottest first.
class Curve {
public:
    /// Even: every neuron fires as often as any other.
    Curve() = default;
    /// The hottest share q of the neurons makes q^exponent of the reads; 0 < exponent ≤ 1.
    static Curve power(double exponent);
    /// Points (share of neurons, share of reads), ascending; straight between them, from (0, 0) to (1, 1). Throws Error
    /// when they do not ascend within (0, 1) or a colder piece is read more than a hotter one.
    static Curve through(std::span<const std::pair<double, double>> points);
    /// From how often each neuron fires (any unit, any order).
    static Curve fromRates(std::span<const double> rates);

    /// Share of the reads that the hottest share `q` of the neurons makes, both in [0, 1].
    double reads(double q) const;

private:
    double exponent_ = 1;
    std::vector<std::pair<double, double>> points_;  // empty: the exponent holds
};

/// What is known or assumed about the neurons of one layer.
struct Activity {
    double active = 1;  ///< mean share of neurons that fire for a token
    double flagged = 1;  ///< mean share that a predictor lets through
    Curve curve;
};

/// False positives and all: a predictor lets through this many neurons for each that fires (sparsity §2.4).
constexpr double flagged_per_active = 1.3;

/// Without a profile: an even spread of the share that models of the kind are published to have (powerinfer §3.3,
/// sparsity §1.1): 33 % ReLU and ReGLU, 15 % dReLU, 10 % ReLU²; Gemma 3n's cut leaves the tail of a normal distribution.
std::vector<Activity> assumedActivity(const model::Description& description);

/// From what was counted; layers that the profile says nothing about, or that it does not fit, are as assumed. Of a ranking
/// only the order of neurons is taken, not how many fire.
std::vector<Activity> activityFrom(const model::Description& description, const sparse::Profile& profile);

}  // namespace hearth::placement
