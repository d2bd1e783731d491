#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/gguf/type.h"

namespace hearth::gpu::selftest {

/// A weight [rows, cols] of random blocks of a type, and what they decode to.
struct RandomWeight {
    RandomWeight(gguf::Type type, size_t rows, size_t cols, uint32_t seed);

    std::vector<std::byte> bytes;
    std::vector<float> values;
};

}  // namespace hearth::gpu::selftest
