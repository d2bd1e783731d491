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
struct RandomWeight {
    std::vector<std::byte> bytes;
    std::vector<float> values;
    cpu::Weight weight;

    RandomWeight(Type type, size_t rows, size_t cols, uint32_t seed) {
        std::mt19937 random(seed);
        const uint64_t row_bytes = gguf::rowBytes(type, cols);
        bytes.resize(rows * row_bytes);
        values.resize(rows * cols);
        const gguf::TypeInfo& info = gguf::typeInfo(type);
        for (size_t i = 0; i < values.size() / info.block_elements; ++i)
            fillBlock(type, random, std::span(bytes).subspan(i * info.block_bytes, info.block_bytes),
                      std::span(values).subspan(i * info.block_elements, info.block_elements));
        weight = {type, bytes.data(), rows, cols, row_bytes};
    }

private:
    /// Random bits, drawn again until the block's values are of ordinary size.
    static void fillBlock(Type type, std::mt19937& random, std::span<std::byte> block, std::span<float> out) {
        std::normal_distribution<float> normal;
        for (;;) {
            for (std::byte& b : block) b = static_cast<std::byte>(random());
            if (type == Type::F32) {
                const float value = normal(random);
                std::memcpy(block.data(), &value, sizeof value);
            }
            quant::decode(type, block, out);
            float largest = 0;
            bool finite = true;
            for (const float v : out) {
                finite = finite && std::isfinite(v);
                largest = std::max(largest, std::abs(v));
            }
            if (finite && largest > 0.01f && largest < 8.0f) return;
        }
    }
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
