#include "engine/gpu/selftest/check.h"

#include <cmath>
#include <format>
#include <random>

#include "engine/base/error.h"

namespace hearth::gpu::selftest {

std::vector<Check> checks() {
    std::vector<Check> all;
    addNormChecks(all);
    addProductChecks(all);
    addElementwiseChecks(all);
    addSparseChecks(all);
    addAttentionChecks(all);
    return all;
}

std::vector<float> normalValues(size_t n, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(n);
    for (float& v : values) v = normal(random);
    return values;
}

void compare(std::span<const float> got, const std::function<Expected(size_t)>& expected) {
    for (size_t i = 0; i < got.size(); ++i) {
        const Expected e = expected(i);
        if (!(std::abs(got[i] - e.value) <= e.tolerance))
            throw Error("the device computes wrongly",
                        std::format("value {} is {:.9g}, expected {:.9g} ± {:.3g}", i, got[i], e.value, e.tolerance));
    }
}

}  // namespace hearth::gpu::selftest
