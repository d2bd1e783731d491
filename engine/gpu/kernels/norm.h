#pragma once

#include "engine/gpu/kernel.h"

namespace hearth::gpu::kernels {

/// Sum over the block; all threads get it. `partial` is memory of the block, a float a warp; before it serves again, wait.
HEARTH_KERNEL_FUNCTION float blockSum(float value, float* partial) {
    value = warpSum(value);
    if (lane() == 0) partial[warp()] = value;
    syncBlock();
    float sum = 0;
    for (unsigned w = 0; w < warps(); ++w) sum += partial[w];
    return sum;
}

/// Row blockX of x [rows, cols]: out = weight · x / sqrt(mean(x²) + eps) (Zhang & Sennrich 2019), without weight where null.
struct RmsNorm {
    static constexpr const char* name = "rms_norm";
    DevPtr<const float> x, weight;
    DevPtr<float> out;
    uint32_t cols;
    float eps;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        HEARTH_SHARED(float, partial, kWarp);
        const DevPtr<const float> row = x + size_t{blockX()} * cols;
        float squares = 0;
        for (unsigned i = threadIndex(); i < cols; i += blockThreads()) squares += row[i] * row[i];
        const float mean = blockSum(squares, partial) / static_cast<float>(cols);
        const float factor = 1.0f / sqrtf(mean + eps);
        const DevPtr<float> to = out + size_t{blockX()} * cols;
        for (unsigned i = threadIndex(); i < cols; i += blockThreads())
            to[i] = row[i] * factor * (weight ? weight[i] : 1.0f);
    }
};

/// Row blockX of x [rows, cols]: out = weight · (x − mean) / sqrt(variance + eps) + bias (Ba et al. 2016); null: 1 and 0.
struct LayerNorm {
    static constexpr const char* name = "layer_norm";
    DevPtr<const float> x, weight, bias;
    DevPtr<float> out;
    uint32_t cols;
    float eps;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        HEARTH_SHARED(float, partial, kWarp);
        const DevPtr<const float> row = x + size_t{blockX()} * cols;
        float sum = 0;
        for (unsigned i = threadIndex(); i < cols; i += blockThreads()) sum += row[i];
        const float mean = blockSum(sum, partial) / static_cast<float>(cols);
        syncBlock();
        float squares = 0;
        for (unsigned i = threadIndex(); i < cols; i += blockThreads()) squares += (row[i] - mean) * (row[i] - mean);
        const float factor = 1.0f / sqrtf(blockSum(squares, partial) / static_cast<float>(cols) + eps);
        const DevPtr<float> to = out + size_t{blockX()} * cols;
        for (unsigned i = threadIndex(); i < cols; i += blockThreads())
            to[i] = (row[i] - mean) * factor * (weight ? weight[i] : 1.0f) + (bias ? bias[i] : 0.0f);
    }
};

}  // namespace hearth::gpu::kernels
