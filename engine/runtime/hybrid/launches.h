#pragma once

#include <cstdint>

#include "engine/gpu/kernels/all.h"
#include "engine/runtime/hybrid/device_weights.h"

namespace hearth::runtime {

/// Whether there are kernels for weights of this type.
bool hasKernels(gguf::Type type);

/// The input of products: [n, cols] floats, and the same rounded to 8 bits once a matrix wants it so.
struct DeviceInput {
    gpu::DevPtr<const float> x;
    uint32_t n = 0, cols = 0;
    bool rounded = false;
};

/// The kernels as the steps of a layer use them, on stream 0 of a device.
class Launches {
public:
    using List = gpu::kernels::Rows;

    /// `rounded`: working memory for the rounded input in force.
    Launches(gpu::Device& device, gpu::DevPtr<gpu::kernels::Rounded> rounded) : device_(device), rounded_(rounded) {}

    /// out [n, rows] = x · linearᵀ with bias and scale. Of several products of one input the first rounds it.
    void multiply(const DeviceLinear& linear, DeviceInput& x, gpu::DevPtr<float> out) const;
    /// out [n, count] = x · the first `count` rowsᵀ.
    void multiplyFirst(const DeviceLinear& linear, uint32_t count, DeviceInput& x, gpu::DevPtr<float> out) const;
    /// out [listed rows] = the listed rows · x of one token, with bias and scale.
    void multiplyListed(const DeviceLinear& linear, DeviceInput& x, gpu::DevPtr<float> out,
                        gpu::DevPtr<const uint32_t> list, gpu::DevPtr<const uint32_t> count) const;
    /// Without bias: out [cols] = Σ h[j] · row j of a down-projection by neuron: all rows, or the listed ones with h by place in the list.
    /// partial: working memory, a row a chunk.
    void addRows(const DeviceLinear& down, gpu::DevPtr<const float> h, const List& rows, gpu::DevPtr<float> partial,
                 gpu::DevPtr<float> out) const;

    void rmsNorm(const DeviceNorm& norm, gpu::DevPtr<const float> x, gpu::DevPtr<float> out, uint32_t rows,
                 uint32_t cols, float eps) const;
    void layerNorm(const DeviceNorm& norm, gpu::DevPtr<const float> x, gpu::DevPtr<float> out, uint32_t rows,
                   uint32_t cols, float eps) const;
    void activate(gpu::kernels::Gate kind, gpu::DevPtr<const float> gate, gpu::DevPtr<const float> up,
                  gpu::DevPtr<float> out, uint32_t n, gpu::DevPtr<const uint32_t> count = nullptr) const;
    /// x [n] = scale · x + bias, which has `period` values.
    void adjust(gpu::DevPtr<float> x, uint32_t n, float scale, gpu::DevPtr<const float> bias = nullptr,
                uint32_t period = 1) const;
    /// x += scale · y
    void addScaled(gpu::DevPtr<float> x, gpu::DevPtr<const float> y, uint32_t n, float scale) const;
    void compactAbove(gpu::DevPtr<const float> scores, uint32_t n, float threshold, gpu::DevPtr<uint32_t> list,
                      gpu::DevPtr<uint32_t> count) const;
    void gather(gpu::DevPtr<const float> x, uint32_t most, gpu::DevPtr<const uint32_t> list,
                gpu::DevPtr<const uint32_t> count, gpu::DevPtr<float> out) const;

    template <typename Kernel>
    void launch(const gpu::Grid& grid, const Kernel& kernel) const {
        gpu::launch(device_, 0, grid, kernel);
    }
    /// Blocks of `threads` that take n values a thread each, up to what keeps a device busy.
    static gpu::Grid over(uint32_t n, uint32_t rows = 1);

private:
    void products(const DeviceLinear& linear, DeviceInput& x, gpu::DevPtr<float> out, const List& rows) const;
    gpu::Device& device_;
    gpu::DevPtr<gpu::kernels::Rounded> rounded_;
};

}  // namespace hearth::runtime
