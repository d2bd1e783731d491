#include "engine/sparse/two_bits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/half.h"

namespace hearth::sparse {

namespace {

constexpr size_t kBlock = 64, kBytes = 18;

/// Nearest of −1, 0, 1, 2.
int nearest(float v) { return static_cast<int>(std::clamp(std::nearbyint(v), -1.0f, 2.0f)); }

/// What a step leaves, and the best step for the codes that it gives.
struct Fit {
    float error = INFINITY, better = 0;
    Fit(std::span<const float> x, float step) {
        float dot = 0, squares = 0;
        error = 0;
        for (const float v : x) {
            const auto code = static_cast<float>(step != 0 ? nearest(v / step) : 0);
            error += (v - code * step) * (v - code * step);
            dot += v * code;
            squares += code * code;
        }
        better = squares > 0 ? dot / squares : 0;
    }
};

float bestStep(std::span<const float> x) {
    float squares = 0;
    for (const float v : x) squares += v * v;
    const float deviation = std::sqrt(squares / static_cast<float>(x.size()));
    float best = 0, least = squares;
    for (const float sign : {1.0f, -1.0f})
        for (const float start : {0.7f, 1.0f, 1.4f}) {
            float step = sign * start * deviation;
            for (int round = 0; round < 4; ++round) {
                const Fit fit(x, step);
                if (fit.error < least) {
                    least = fit.error;
                    best = step;
                }
                step = fit.better;
            }
        }
    return best;
}

}  // namespace

void encodeTwoBits(std::span<const float> values, std::span<std::byte> out) {
    if (values.size() % kBlock != 0 || out.size() != values.size() / kBlock * kBytes)
        throw Error("cannot make a copy with two bits a weight", "a row is not whole blocks of 64 values");
    for (size_t b = 0; b < values.size() / kBlock; ++b) {
        const std::span<const float> x = values.subspan(b * kBlock, kBlock);
        uint8_t block[kBytes] = {};
        const uint16_t half = floatToHalf(bestStep(x));
        const float step = halfToFloat(half);
        std::memcpy(block, &half, sizeof half);
        for (size_t i = 0; i < kBlock; ++i) {
            const int code = step != 0 ? nearest(x[i] / step) + 1 : 1;
            block[2 + i / 4] = static_cast<uint8_t>(block[2 + i / 4] | code << i % 4 * 2);
        }
        std::memcpy(out.data() + b * kBytes, block, kBytes);
    }
}

}  // namespace hearth::sparse
