#include <algorithm>
#include <cmath>
#include <cstring>
#include <format>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/quant/blocks.h"
#include "engine/quant/encode_levels.h"

namespace hearth::quant {

namespace detail {

float roundToHalf(float value) { return halfToFloat(floatToHalf(std::clamp(value, -65504.0f, 65504.0f))); }

void writeHalf(float value, uint8_t* bytes) {
    const uint16_t half = floatToHalf(value);
    bytes[0] = static_cast<uint8_t>(half & 255);
    bytes[1] = static_cast<uint8_t>(half >> 8);
}

std::span<const EncodeLevel* const> encodeLevels() {
    static const std::vector<const EncodeLevel*> levels = [] {
        std::vector<const EncodeLevel*> found{&encode_generic};
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2")) found.push_back(&encode_avx2);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
            found.push_back(&encode_avx512);
#endif
        return found;
    }();
    return levels;
}

namespace {

EncodeBlocks encoder(const EncodeLevel& level, Type type) {
    switch (type) {
        case Type::Q4_0: return level.q4_0;
        case Type::Q4_1: return level.q4_1;
        case Type::Q5_0: return level.q5_0;
        case Type::Q5_1: return level.q5_1;
        case Type::Q8_0: return level.q8_0;
        case Type::Q4_K: return level.q4_k;
        case Type::Q5_K: return level.q5_k;
        case Type::Q6_K: return level.q6_k;
        default: return nullptr;
    }
}

template <typename Convert>
void encode16(std::span<const float> values, std::span<std::byte> out, Convert toBits) {
    for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t bits = toBits(values[i]);
        std::memcpy(out.data() + 2 * i, &bits, 2);
    }
}

/// Blocks are encoded in pieces of this many values, which stay in the first-level cache.
constexpr size_t kPiece = 2048;

/// The largest weight, after checking that there is one weight ≥ 0 per value.
float checkImportance(std::span<const float> importance, size_t values) {
    if (importance.size() != values)
        throw Error("cannot quantise with this importance matrix",
                    std::format("it has {} weights for a row of {} values", importance.size(), values),
                    "Use an importance matrix made for this model");
    float most = 0.0f;
    for (const float w : importance) {
        if (!(w >= 0.0f) || !std::isfinite(w))
            throw Error("cannot quantise with this importance matrix", std::format("it holds the weight {}", w),
                        "Weights must be finite and not negative");
        most = std::max(most, w);
    }
    return most;
}

void encodeQuantised(EncodeBlocks encodeBlocks, const gguf::TypeInfo& info, std::span<const float> values,
                     std::span<std::byte> out, std::span<const float> importance) {
    const float most = importance.empty() ? 0.0f : checkImportance(importance, values.size());
    // A power of two, so that no weight is rounded.
    const float unit = most > 0.0f ? std::ldexp(1.0f, -std::max(std::ilogb(most), -126)) : 0.0f;
    float x[kPiece], w[kPiece];
    auto* target = reinterpret_cast<uint8_t*>(out.data());
    for (size_t first = 0; first < values.size(); first += kPiece) {
        const size_t n = std::min(kPiece, values.size() - first);
        for (size_t i = 0; i < n; ++i) {
            const float value = values[first + i];
            if (!std::isfinite(value))
                throw Error(std::format("cannot quantise to {}", info.name),
                            std::format("value {} is not a finite number", first + i), "The source file is damaged");
            x[i] = std::clamp(value, -kLargest, kLargest);
            if (most > 0.0f) w[i] = std::max(importance[first + i] * unit, kLeastImportance);
        }
        encodeBlocks(x, most > 0.0f ? w : nullptr, n / info.block_elements, target);
        target += n / info.block_elements * info.block_bytes;
    }
}

}  // namespace
}  // namespace detail

bool canEncode(Type type) {
    return type == Type::F32 || type == Type::F16 || type == Type::BF16 ||
           detail::encoder(detail::encode_generic, type) != nullptr;
}

void encode(Type type, std::span<const float> values, std::span<std::byte> out, std::span<const float> importance) {
    if (!canEncode(type))
        throw Error("cannot quantise", std::format("Hearth does not write {}", gguf::typeInfo(type).name),
                    "Choose one of Q8_0, Q6_K, Q5_K, Q4_K, Q5_1, Q5_0, Q4_1, Q4_0, F16, BF16 and F32");
    if (detail::countBlocks(type, values.size(), out.size()) == 0) return;
    switch (type) {
        case Type::F32: std::memcpy(out.data(), values.data(), out.size()); return;
        case Type::F16: detail::encode16(values, out, floatToHalf); return;
        case Type::BF16: detail::encode16(values, out, floatToBf16); return;
        default:
            detail::encodeQuantised(detail::encoder(*detail::encodeLevels().back(), type), gguf::typeInfo(type), values,
                                    out, importance);
    }
}

}  // namespace hearth::quant
