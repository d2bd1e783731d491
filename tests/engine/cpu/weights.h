#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "engine/base/half.h"
#include "engine/base/matrix.h"
#include "engine/cpu/matmul.h"
#include "engine/quant/quant.h"
#include "engine/quant/random_weight.h"

/// Weights and activations of the kernel tests, and what is computed from them in double precision.
namespace hearth::test {

using gguf::Type;

inline const std::vector<Type>& blockTypes() {
    static const std::vector<Type> types{Type::Q4_0, Type::Q4_1, Type::Q5_0, Type::Q5_1, Type::Q8_0, Type::Q2_K, Type::Q3_K,
                                         Type::Q4_K, Type::Q5_K, Type::Q6_K, Type::IQ4_NL, Type::IQ4_XS, Type::TQ1_0, Type::TQ2_0,
                                         Type::MXFP4, Type::NVFP4, Type::Q1_0, Type::Q2_0};
    return types;
}
inline const std::vector<Type>& floatTypes() {
    static const std::vector<Type> types{Type::F32, Type::F16, Type::BF16};
    return types;
}
inline bool isFloat(Type type) { return std::ranges::count(floatTypes(), type) != 0; }

/// A weight of its own memory, which ends where the last row ends, and its values.
struct RandomWeight : quant::RandomWeight {
    cpu::Weight weight;

    RandomWeight(Type type, size_t rows, size_t cols, uint32_t seed)
        : quant::RandomWeight(type, rows, cols, seed),
          weight{type, bytes.data(), rows, cols, gguf::rowBytes(type, cols)} {}
};

inline std::vector<float> randomValues(size_t n, uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> x(n);
    for (float& v : x) v = normal(random);
    return x;
}

/// Activations that 8 bits hold exactly: whole numbers to ±127, the largest of them in each block of 32, over 64.
inline std::vector<float> exactValues(size_t n, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<float> x(n);
    for (float& v : x) v = static_cast<float>(static_cast<int>(random() % 255) - 127) / 64.0f;
    for (size_t i = 0; i < n; i += 32) x[i + random() % std::min<size_t>(32, n - i)] = 127.0f / 64.0f;
    return x;
}

}  // namespace hearth::test
