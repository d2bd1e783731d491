#include "engine/runtime/hybrid/launches.h"

#include <algorithm>
#include <format>

#include "engine/base/error.h"

namespace hearth::runtime {

using namespace gpu::kernels;
using gguf::Type;
using gpu::DevPtr;

namespace {

constexpr unsigned kThreads = 128, kWarps = kThreads / gpu::kWarp;
constexpr uint32_t kMostBlocks = 4096;

constexpr bool isFloat(Type type) { return type == Type::F32 || type == Type::F16 || type == Type::BF16; }

/// Calls `body` with the type as a constant. False: there are no kernels for it.
template <typename Body>
bool withType(Type type, const Body& body) {
    switch (type) {
#define HEARTH_CASE(one) \
    case Type::one: body.template operator()<Type::one>(); return true;
        HEARTH_BLOCK_TYPES(HEARTH_CASE)
        HEARTH_FLOAT_TYPES(HEARTH_CASE)
#undef HEARTH_CASE
        default: return false;
    }
}

uint32_t blocksFor(uint32_t n, uint32_t per_block) {
    return std::clamp((n + per_block - 1) / per_block, 1u, kMostBlocks);
}

}  // namespace

bool hasKernels(Type type) {
    return withType(type, []<Type>() {});
}

gpu::Grid Launches::over(uint32_t n, uint32_t rows) { return {blocksFor(n, kThreads), rows, kThreads}; }

void Launches::products(const DeviceLinear& linear, DeviceInput& x, DevPtr<float> out, const List& rows) const {
    if (!isFloat(linear.type) && !x.rounded) {
        const unsigned blocks = x.cols / 32;
        launch({(blocks + kWarps - 1) / kWarps, x.n, kThreads}, RoundActivations{x.x, rounded_, x.cols});
        x.rounded = true;
    }
    const gpu::Grid grid{blocksFor(rows.rows, kWarps), x.n, kThreads};
    const auto weight = linear.weight.as<const uint8_t>();
    withType(linear.type, [&]<Type type>() {
        if constexpr (isFloat(type))
            launch(grid, Multiply<type>{weight, x.x, out, rows, linear.cols, rows.rows});
        else launch(grid, Multiply<type>{weight, rounded_, out, rows, linear.cols, rows.rows});
    });
}

void Launches::multiply(const DeviceLinear& linear, DeviceInput& x, DevPtr<float> out) const {
    multiplyFirst(linear, linear.rows, x, out);
}

void Launches::multiplyFirst(const DeviceLinear& linear, uint32_t count, DeviceInput& x, DevPtr<float> out) const {
    products(linear, x, out, {nullptr, nullptr, count});
    if (linear.bias.address() != nullptr || linear.scale != 1)
        adjust(out, x.n * count, linear.scale, linear.bias.as<const float>(), count);
}

void Launches::multiplyListed(const DeviceLinear& linear, DeviceInput& x, DevPtr<float> out,
                              DevPtr<const uint32_t> list, DevPtr<const uint32_t> count) const {
    products(linear, x, out, {list, count, linear.rows});
    if (linear.bias.address() != nullptr || linear.scale != 1)
        launch(over(linear.rows),
               Adjust{out, linear.bias.as<const float>(), list, count, linear.rows, linear.rows, linear.scale});
}

void Launches::addRows(const DeviceLinear& down, DevPtr<const float> h, const List& rows, DevPtr<float> partial,
                       DevPtr<float> out) const {
    const uint32_t chunks = (down.rows + kNeuronsPerChunk - 1) / kNeuronsPerChunk;
    const gpu::Grid grid{blocksFor(down.cols / 16, 32), chunks, 32};
    withType(down.type, [&]<Type type>() {
        launch(grid, AddRows<type>{down.weight.as<const uint8_t>(), h, partial, rows, down.cols});
    });
    device_.fill(0, out.address(), 0, down.cols * sizeof(float));
    launch(over(down.cols), AddChunks{partial, out, chunks, down.cols});
    if (down.scale != 1) adjust(out, down.cols, down.scale);
}

void Launches::rmsNorm(const DeviceNorm& norm, DevPtr<const float> x, DevPtr<float> out, uint32_t rows, uint32_t cols,
                       float eps) const {
    launch({rows, 1, kThreads}, RmsNorm{x, norm.weight.as<const float>(), out, cols, eps});
}

void Launches::layerNorm(const DeviceNorm& norm, DevPtr<const float> x, DevPtr<float> out, uint32_t rows,
                         uint32_t cols, float eps) const {
    launch({rows, 1, kThreads},
           LayerNorm{x, norm.weight.as<const float>(), norm.bias.as<const float>(), out, cols, eps});
}

void Launches::activate(Gate kind, DevPtr<const float> gate, DevPtr<const float> up, DevPtr<float> out, uint32_t n,
                        DevPtr<const uint32_t> count) const {
    launch(over(n), Activate{gate, up, out, count, n, kind});
}

void Launches::adjust(DevPtr<float> x, uint32_t n, float scale, DevPtr<const float> bias, uint32_t period) const {
    launch(over(n), Adjust{x, bias, nullptr, nullptr, n, period, scale});
}

void Launches::addScaled(DevPtr<float> x, DevPtr<const float> y, uint32_t n, float scale) const {
    launch(over(n), AddScaled{x, y, n, scale});
}

void Launches::compactAbove(DevPtr<const float> scores, uint32_t n, float threshold, DevPtr<uint32_t> list,
                            DevPtr<uint32_t> count) const {
    launch({1, 1, kThreads}, CompactAbove{scores, list, count, n, threshold});
}

void Launches::gather(DevPtr<const float> x, uint32_t most, DevPtr<const uint32_t> list, DevPtr<const uint32_t> count,
                      DevPtr<float> out) const {
    launch(over(most), Gather{x, list, count, out});
}

}  // namespace hearth::runtime
