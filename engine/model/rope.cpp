#include "engine/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth::model {
namespace {

/// The dimension that turns `beta` times within the original context (YaRN, arXiv 2309.00071, §3.2).
double correctionDimension(const RopeShape& s, double beta) {
    return s.n_rot * std::log(s.yarn_original / (beta * 2 * std::numbers::pi)) / (2 * std::log(s.base));
}

}  // namespace

RopeTable::RopeTable(const RopeShape& s, const float* factors) : speed_(s.n_rot / 2), magnitude_(s.magnitude) {
    const double low = s.yarn ? std::max(0.0, std::floor(correctionDimension(s, s.yarn_beta_fast))) : 0;
    const double high = s.yarn ? std::min(s.n_rot - 1.0, std::ceil(correctionDimension(s, s.yarn_beta_slow))) : 0;
    for (size_t i = 0; i < speed_.size(); ++i) {
        double speed = std::pow(s.base, -2.0 * static_cast<double>(i) / s.n_rot);
        if (factors != nullptr) speed /= factors[i];
        if (s.yarn) {
            const double ramp = std::clamp((static_cast<double>(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
            const double keep = (1 - ramp) * s.yarn_mix;
            speed = speed * s.scale * (1 - keep) + speed * keep;
        } else {
            speed *= s.scale;
        }
        speed_[i] = speed;
    }
}

void RopeTable::fill(std::span<const uint32_t> positions) {
    cosines_.resize(positions.size(), speed_.size());
    sines_.resize(positions.size(), speed_.size());
    for (size_t t = 0; t < positions.size(); ++t)
        for (size_t i = 0; i < speed_.size(); ++i) {
            const double angle = positions[t] * speed_[i];
            cosines_.row(t)[i] = static_cast<float>(std::cos(angle) * magnitude_);
            sines_.row(t)[i] = static_cast<float>(std::sin(angle) * magnitude_);
        }
}

}  // namespace hearth::model
