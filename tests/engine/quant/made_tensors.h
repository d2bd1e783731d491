#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <vector>

/// Tensors that any language can make again from this description, so that several programs quantise the same values.
///
/// Uniform numbers: state' = state · 6364136223846793005 + 1442695040888963407 (mod 2^64), the state starting at the seed;
/// u = ((state' >> 11) + 0.5) · 2^-53. All in float64; a value is rounded to float32 at the end. In the order drawn:
///   gaussian    seed 1:  u1, u2 → g = sqrt(−2 ln u1) · cos(2π u2);  value = 0.02 · g
///   laplace     seed 2:  u1, u2 → value = 0.02 · (−ln u1), negative where u2 ≥ 0.5
///   outlier     seed 3:  g as above, u3 → value = 0.02 · g, twelve times that where u3 < 0.005
///   importance  seed 4:  u → 0.01 + (ln u)²; one for each of the 512 columns
/// Tensors are [256, 512] (rows, columns), row by row.
namespace hearth::made {

constexpr size_t kRows = 256, kColumns = 512;

class Uniform {
public:
    explicit Uniform(uint64_t seed) : state_(seed) {}
    double next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return (static_cast<double>(state_ >> 11) + 0.5) * 0x1p-53;
    }
    double gauss() {
        const double u1 = next(), u2 = next();
        return std::sqrt(-2.0 * std::log(u1)) * std::cos(2.0 * std::numbers::pi * u2);
    }

private:
    uint64_t state_;
};

inline std::vector<float> tensor(std::string_view kind) {
    Uniform random(kind == "gaussian" ? 1 : kind == "laplace" ? 2 : 3);
    std::vector<float> values(kRows * kColumns);
    for (float& value : values) {
        double v = 0;
        if (kind == "gaussian") {
            v = 0.02 * random.gauss();
        } else if (kind == "laplace") {
            const double u1 = random.next(), u2 = random.next();
            v = 0.02 * -std::log(u1) * (u2 < 0.5 ? 1 : -1);
        } else {
            const double g = random.gauss(), u3 = random.next();
            v = 0.02 * g * (u3 < 0.005 ? 12 : 1);
        }
        value = static_cast<float>(v);
    }
    return values;
}

inline std::vector<float> importance() {
    Uniform random(4);
    std::vector<float> weights(kColumns);
    for (float& weight : weights) {
        const double log = std::log(random.next());
        weight = static_cast<float>(0.01 + log * log);
    }
    return weights;
}

}  // namespace hearth::made
