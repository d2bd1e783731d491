#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/quant/quant.h"

namespace hearth::quant {

/// A weight [rows, cols] of random blocks of a type, and what they decode to: for the self-test of devices and for tests.
struct RandomWeight {
    RandomWeight(Type type, size_t rows, size_t cols, uint32_t seed);

    std::vector<std::byte> bytes;
    std::vector<float> values;
};

}  // namespace hearth::quant
