#include "engine/quant/random_weight.h"

#include <cmath>
#include <cstring>
#include <random>
#include <span>

namespace hearth::quant {

namespace {

/// Random bits, drawn again until the block's values are of ordinary size.
void fillBlock(Type type, std::mt19937& random, std::span<std::byte> block, std::span<float> out) {
    std::normal_distribution<float> normal;
    for (;;) {
        for (std::byte& b : block) b = static_cast<std::byte>(random());
        if (type == gguf::Type::F32) {
            const float value = normal(random);
            std::memcpy(block.data(), &value, sizeof value);
        }
        decode(type, block, out);
        float largest = 0;
        bool finite = true;
        for (const float v : out) {
            finite = finite && std::isfinite(v);
            largest = std::max(largest, std::abs(v));
        }
        if (finite && largest > 0.01f && largest < 8.0f) return;
    }
}

}  // namespace

RandomWeight::RandomWeight(Type type, size_t rows, size_t cols, uint32_t seed)
    : bytes(rows * gguf::rowBytes(type, cols)), values(rows * cols) {
    std::mt19937 random(seed);
    const gguf::TypeInfo& info = gguf::typeInfo(type);
    for (size_t i = 0; i < values.size() / info.block_elements; ++i)
        fillBlock(type, random, std::span(bytes).subspan(i * info.block_bytes, info.block_bytes),
                  std::span(values).subspan(i * info.block_elements, info.block_elements));
}

}  // namespace hearth::quant
