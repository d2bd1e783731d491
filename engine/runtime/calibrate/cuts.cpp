#include "engine/runtime/calibrate/cuts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace hearth::runtime {
namespace {

/// h(z) = E[max(0, z + ε)^power], ε standard normal, as a table to be inverted. For a gate of mean m and deviation τ
/// E[relu(gate)^power] = τ^power h(m / τ).
class ExpectedPower {
public:
    explicit ExpectedPower(int power) : power_(power) {
        for (size_t i = 0; i < table_.size(); ++i) {
            const double z = least + step * static_cast<double>(i);
            double sum = 0;
            for (double e = -reach; e <= reach; e += width)
                sum += std::pow(std::max(0.0, z + e), power) * std::exp(-e * e / 2);
            table_[i] = sum * width / std::sqrt(2 * std::numbers::pi);
        }
    }

    /// The z from which h(z) ≥ value.
    double from(double value) const {
        if (value > table_.back()) return std::pow(value, 1.0 / power_);   // h(z) → z^power
        return least + step * static_cast<double>(std::ranges::lower_bound(table_, value) - table_.begin());
    }
    int power() const { return power_; }

private:
    static constexpr double least = -7, step = 0.02, reach = 8, width = 0.02;
    int power_;
    std::array<double, 1000> table_;
};

const ExpectedPower& expectedPower(cpu::Activation activation) {
    static const ExpectedPower square(2), fourth(4);
    return activation == cpu::Activation::relu2 ? fourth : square;
}

/// A neuron's gate given its estimate: slope · estimate + offset, with a deviation.
struct Relation {
    double slope = 0, offset = 0, deviation = 0;
};

std::vector<Relation> relations(MatrixView<const float> estimates, MatrixView<const float> gates) {
    struct Sums {
        double e = 0, g = 0, ee = 0, gg = 0, eg = 0;
    };
    std::vector<Sums> sums(gates.cols);
    for (size_t t = 0; t < gates.rows; ++t)
        for (size_t j = 0; j < gates.cols; ++j) {
            const double e = estimates.row(t)[j], g = gates.row(t)[j];
            Sums& s = sums[j];
            s.e += e;
            s.g += g;
            s.ee += e * e;
            s.gg += g * g;
            s.eg += e * g;
        }
    std::vector<Relation> all(gates.cols);
    const double n = static_cast<double>(gates.rows);
    for (size_t j = 0; j < all.size(); ++j) {
        const Sums& s = sums[j];
        const double var_e = s.ee / n - s.e / n * s.e / n, var_g = s.gg / n - s.g / n * s.g / n,
                     both = s.eg / n - s.e / n * s.g / n;
        Relation& r = all[j];
        r.slope = var_e > 0 ? both / var_e : 0;
        r.offset = (s.g - r.slope * s.e) / n;
        r.deviation = std::sqrt(std::max(0.0, var_g - r.slope * both));
    }
    return all;
}

constexpr float everything = -1e30f;   // a cut that lets all through

}  // namespace

Cuts fitCuts(LayerSample& sample, cpu::Activation activation, MatrixView<const float> estimates, double budget) {
    const size_t f = sample.neurons();
    const std::vector<Relation> all = relations(estimates, sample.decides());
    const ExpectedPower& expected = expectedPower(activation);
    Cuts c{std::vector<float>(f, everything), std::vector<float>(f), 0, 1};
    for (size_t j = 0; j < f; ++j)
        if (all[j].slope > 0) c.spreads[j] = static_cast<float>(all[j].deviation / all[j].slope);

    const auto cutAt = [&](double lambda) {
        for (size_t j = 0; j < f; ++j) {
            const Relation& r = all[j];
            const double energy = std::pow(r.deviation, expected.power()) * sample.weights()[j] * sample.weights()[j];
            if (!(r.slope > 0)) continue;
            const double mean = energy > 0 ? r.deviation * expected.from(lambda / energy) : 0;
            c.cuts[j] = static_cast<float>(std::clamp((mean - r.offset) / r.slope, -1e30, 1e30));
        }
    };
    const auto lostAt = [&](double lambda) {
        cutAt(lambda);
        return sample.lostShare([&](size_t t, size_t j) { return estimates.row(t)[j] < c.cuts[j]; });
    };
    // Around the mean energy of a neuron that fires, a factor of 2^±24.
    double sum = 0;
    for (size_t t = 0; t < sample.tokens(); ++t)
        for (size_t j = 0; j < f; ++j) {
            const double part = double{sample.activated().row(t)[j]} * sample.weights()[j];
            sum += part * part;
        }
    const double middle = std::log2(sum / static_cast<double>(sample.tokens() * f) + 1e-300);
    double low = middle - 24, high = middle + 8;
    for (int round = 0; round < 9; ++round) {
        const double lambda = (low + high) / 2;
        (lostAt(std::exp2(lambda)) <= budget ? low : high) = lambda;
    }
    c.lost = lostAt(std::exp2(low));
    size_t flagged = 0;
    for (size_t t = 0; t < sample.tokens(); ++t)
        for (size_t j = 0; j < f; ++j) flagged += estimates.row(t)[j] >= c.cuts[j];
    c.flagged = static_cast<double>(flagged) / static_cast<double>(sample.tokens() * f);
    return c;
}

std::vector<std::pair<float, float>> fitThresholds(LayerSample& sample) {
    std::vector<float> parts;
    for (size_t t = 0; t < sample.tokens(); t += std::max<size_t>(1, sample.tokens() / 64))
        for (size_t j = 0; j < sample.neurons(); ++j)
            if (const float part = std::abs(sample.activated().row(t)[j]) * sample.weights()[j]; part > 0)
                parts.push_back(part);
    std::ranges::sort(parts);
    std::vector<std::pair<float, float>> points;
    float most = 0;
    for (const double share : {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}) {
        if (parts.empty()) break;
        const float cut = parts[static_cast<size_t>(share * static_cast<double>(parts.size()))];
        const auto lost = static_cast<float>(sample.lostShare([&](size_t t, size_t j) {
            return std::abs(sample.activated().row(t)[j]) * sample.weights()[j] < cut;
        }));
        most = std::max(most, lost);
        points.emplace_back(most, cut);
    }
    return points;
}

}  // namespace hearth::runtime
