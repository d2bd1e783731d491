#include "engine/runtime/hybrid/device_weights.h"

namespace hearth::runtime {

gpu::Buffer Upload::floats(const float* values, uint64_t count) const {
    if (values == nullptr) return {};
    gpu::Buffer buffer(device_, count * sizeof(float));
    device_.copyIn(0, buffer.address(), values, count * sizeof(float));
    return buffer;
}

DeviceNorm Upload::norm(const model::NormWeights& norm) const {
    if (!norm) return {};
    return {floats(norm.weight, norm.size), floats(norm.bias, norm.size), static_cast<uint32_t>(norm.size)};
}

DeviceLinear Upload::linear(const model::Linear& linear) const {
    if (!linear) return {};
    const cpu::Weight& w = linear.weight;
    gpu::Buffer weight(device_, w.rows * w.row_bytes);
    device_.copyIn(0, weight.address(), w.data, w.rows * w.row_bytes);
    return {w.type, std::move(weight), floats(linear.bias, w.rows), static_cast<uint32_t>(w.rows),
            static_cast<uint32_t>(w.cols), linear.scale};
}

DeviceLinear Upload::rows(const model::Linear& all, uint64_t count) const {
    if (!all || count == 0) return {};
    return linear({all.weight.slice(0, count), all.bias, all.scale});
}

DeviceLinear Upload::columns(const model::Linear& all, uint64_t count) const {
    const cpu::Weight& w = all.weight;
    if (!all || count == 0) return {};
    if (count == w.cols) return linear({w, nullptr, all.scale});
    const uint64_t row_bytes = gguf::rowBytes(w.type, count);
    gpu::Buffer weight(device_, w.rows * row_bytes);
    for (uint64_t row = 0; row < w.rows; ++row)
        device_.copyIn(0, weight.as<std::byte>().address() + row * row_bytes, w.data + row * w.row_bytes, row_bytes);
    return {w.type, std::move(weight), {}, static_cast<uint32_t>(w.rows), static_cast<uint32_t>(count), all.scale};
}

DeviceLayer Upload::layer(const model::LayerWeights& l, uint32_t heads, HotNeurons hot, bool predictor) const {
    DeviceLayer layer;
    layer.q = linear(l.q);
    layer.k = linear(l.k);
    layer.v = linear(l.v);
    layer.attn_output = linear(l.attn_output);
    layer.q_norm = norm(l.q_norm);
    layer.k_norm = norm(l.k_norm);
    layer.sinks = floats(l.sinks, heads);
    layer.hot = hot;
    layer.gate = rows(l.gate, hot.gates);
    layer.up = rows(l.up, hot.neurons);
    // Where a file has both, the one with a row per neuron serves dense products as well.
    if (l.down_t) layer.down_t = rows({l.down_t.weight, nullptr, l.down_t.scale}, hot.neurons);
    else layer.down = columns(l.down, hot.neurons);
    layer.down_bias = l.down_t ? floats(l.down_t.bias, l.down_t.weight.cols) : floats(l.down.bias, l.down.weight.rows);
    if (predictor) {
        layer.predictor_in = linear(l.predictor_in);
        layer.predictor_out = linear(l.predictor_out);
    }
    return layer;
}

}  // namespace hearth::runtime
