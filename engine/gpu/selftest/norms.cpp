#include <cmath>

#include "engine/gpu/kernels/all.h"
#include "engine/gpu/selftest/check.h"

namespace hearth::gpu::selftest {

namespace {

constexpr double kUlp = 0x1p-24;   // relative error of one rounding to float32
constexpr float kEps = 1e-5f;

void rmsNorm(Device& device, uint32_t seed, bool weighted) {
    const uint32_t rows = 3, cols = 200;   // no multiple of a warp
    const std::vector<float> x = normalValues(rows * cols, seed), w = normalValues(cols, seed + 1);
    const Buffer dx = upload<float>(device, x), dw = upload<float>(device, w);
    const Buffer out(device, x.size() * sizeof(float));
    launch(
        device, 0, {rows, 1, 96},
        kernels::RmsNorm{dx.as<const float>(), weighted ? dw.as<const float>() : nullptr, out.as<float>(), cols, kEps});
    compare(download<float>(device, out, x.size()), [&](size_t i) {
        double squares = 0;
        for (size_t c = 0; c < cols; ++c)
            squares += static_cast<double>(x[i / cols * cols + c]) * x[i / cols * cols + c];
        const double value = x[i] / std::sqrt(squares / cols + kEps) * (weighted ? w[i % cols] : 1.0f);
        return Expected{value, std::abs(value) * kUlp * (cols + 8)};
    });
}

void layerNorm(Device& device, uint32_t seed, bool weighted) {
    const uint32_t rows = 3, cols = 200;
    const std::vector<float> x = normalValues(rows * cols, seed), w = normalValues(cols, seed + 1),
                             b = normalValues(cols, seed + 2);
    const Buffer dx = upload<float>(device, x), dw = upload<float>(device, w), db = upload<float>(device, b);
    const Buffer out(device, x.size() * sizeof(float));
    launch(device, 0, {rows, 1, 96},
           kernels::LayerNorm{dx.as<const float>(), weighted ? dw.as<const float>() : nullptr,
                              weighted ? db.as<const float>() : nullptr, out.as<float>(), cols, kEps});
    compare(download<float>(device, out, x.size()), [&](size_t i) {
        const float* const row = x.data() + i / cols * cols;
        double mean = 0, squares = 0, largest = 0;
        for (size_t c = 0; c < cols; ++c) mean += row[c] / static_cast<double>(cols);
        for (size_t c = 0; c < cols; ++c) {
            squares += (row[c] - mean) * (row[c] - mean);
            largest = std::max(largest, std::abs(static_cast<double>(row[c])));
        }
        const double factor = 1 / std::sqrt(squares / cols + kEps), scale = weighted ? w[i % cols] : 1.0f;
        const double value = (x[i] - mean) * factor * scale + (weighted ? b[i % cols] : 0.0f);
        // The mean is off by a few roundings of the largest value; everything after it by a few of its own.
        return Expected{value, kUlp * (cols + 8) * (std::abs(value) + largest * factor * std::abs(scale))};
    });
}

}  // namespace

void addNormChecks(std::vector<Check>& checks) {
    checks.push_back({"rms_norm", [](Device& d, uint32_t seed) { rmsNorm(d, seed, true); }});
    checks.push_back({"rms_norm without weight", [](Device& d, uint32_t seed) { rmsNorm(d, seed, false); }});
    checks.push_back({"layer_norm", [](Device& d, uint32_t seed) { layerNorm(d, seed, true); }});
    checks.push_back({"layer_norm without weight", [](Device& d, uint32_t seed) { layerNorm(d, seed, false); }});
}

}  // namespace hearth::gpu::selftest
