#pragma once

#include <cstdint>
#include <span>

#include "engine/gpu/device.h"
#include "engine/model/weights.h"

namespace hearth::runtime {

/// A matrix [rows, cols] on a device, its blocks as in the file.
struct DeviceLinear {
    gguf::Type type = gguf::Type::F32;
    gpu::Buffer weight, bias;
    uint32_t rows = 0, cols = 0;
    float scale = 1;
    explicit operator bool() const { return weight.address() != nullptr; }
};

struct DeviceNorm {
    gpu::Buffer weight, bias;
    uint32_t size = 0;
    explicit operator bool() const { return weight.address() != nullptr; }
};

/// Which neurons of a layer are hot: the first `neurons` are on the device altogether, of the first `gates` (as many or more)
/// the gate is.
struct HotNeurons {
    uint32_t gates = 0, neurons = 0;
};

/// The weights of a layer that a device computes. Names as in model/weights.h.
struct DeviceLayer {
    DeviceLinear q, k, v, attn_output;
    DeviceNorm q_norm, k_norm;
    gpu::Buffer sinks;
    DeviceLinear gate;                   ///< [hot.gates, d]
    DeviceLinear up, down, down_t;       ///< [hot.neurons, d], [d, hot.neurons], [hot.neurons, d]
    DeviceLinear predictor_in, predictor_out;
    gpu::Buffer down_bias;               ///< [d]
    HotNeurons hot;
};

/// Puts weights on a device, each byte once. What it reads must stay until the device has been waited for.
class Upload {
public:
    explicit Upload(gpu::Device& device) : device_(device) {}

    DeviceLinear linear(const model::Linear& linear) const;
    DeviceNorm norm(const model::NormWeights& norm) const;
    gpu::Buffer floats(const float* values, uint64_t count) const;   ///< none where `values` is null
    /// All of a layer but its norms and its cold neurons; the predictor only where it is asked for.
    DeviceLayer layer(const model::LayerWeights& weights, uint32_t heads, HotNeurons hot, bool predictor) const;

private:
    DeviceLinear rows(const model::Linear& linear, uint64_t count) const;      ///< the first ones
    DeviceLinear columns(const model::Linear& linear, uint64_t count) const;   ///< likewise, without the bias

    gpu::Device& device_;
};

}  // namespace hearth::runtime
