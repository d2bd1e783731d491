#include <cmath>
#include <numeric>

#include "engine/gpu/kernels/all.h"
#include "engine/gpu/selftest/check.h"
#include "engine/quant/random_weight.h"

namespace hearth::gpu::selftest {

namespace {

using gguf::Type;
using kernels::Rounded;
using quant::RandomWeight;

constexpr bool isFloat(Type type) { return type == Type::F32 || type == Type::F16 || type == Type::BF16; }

Buffer roundedOf(Device& device, const Buffer& x, uint32_t tokens, uint32_t cols) {
    Buffer rounded(device, tokens * (cols / 32) * sizeof(Rounded));
    launch(device, 0, {(cols / 32 + 3) / 4, tokens, 128},
           kernels::RoundActivations{x.as<const float>(), rounded.as<Rounded>(), cols});
    return rounded;
}

/// Codes are within half a step of the value, sums are those of the codes.
void roundActivations(Device& device, uint32_t seed) {
    const uint32_t tokens = 3, cols = 5 * 32;   // not all warps of a block have work
    std::vector<float> x = normalValues(tokens * cols, seed);
    std::fill_n(x.begin() + 32, 32, 0.0f);
    const Buffer dx = upload<float>(device, x);
    const Buffer rounded = roundedOf(device, dx, tokens, cols);
    const auto blocks = download<Rounded>(device, rounded, tokens * cols / 32);
    std::vector<float> back(x.size()), sums;
    for (size_t b = 0; b < blocks.size(); ++b) {
        const auto* const codes = reinterpret_cast<const int8_t*>(blocks[b].codes);
        for (size_t i = 0; i < 32; ++i) back[b * 32 + i] = blocks[b].scale * static_cast<float>(codes[i]);
        sums.insert(sums.end(), blocks[b].sums, blocks[b].sums + 2);
    }
    compare(back, [&](size_t i) {
        double largest = 0;
        for (size_t k = i / 32 * 32; k < i / 32 * 32 + 32; ++k)
            largest = std::max(largest, std::abs(static_cast<double>(x[k])));
        return Expected{x[i], largest / 254 * 1.0001};
    });
    compare(sums, [&](size_t i) {
        const double sum = std::accumulate(back.begin() + static_cast<ptrdiff_t>(i * 16),
                                           back.begin() + static_cast<ptrdiff_t>(i * 16 + 16), 0.0);
        return Expected{sum, 1e-5 * (1 + std::abs(sum))};
    });
}

/// All rows, or those of a list; `listed` rows come in an order of their own.
template <Type type>
void multiply(Device& device, uint32_t seed, bool listed) {
    const uint32_t rows = 23, cols = 768, tokens = 2;
    const RandomWeight weight(type, rows, cols, seed);
    const std::vector<float> x = normalValues(tokens * cols, seed + 1);
    const Buffer dw = upload<std::byte>(device, weight.bytes), dx = upload<float>(device, x);
    std::vector<uint32_t> list{22, 0, 7, 8, 9, 21};
    if (!listed) {
        list.resize(rows);
        std::iota(list.begin(), list.end(), 0u);
    }
    const std::vector<uint32_t> count{static_cast<uint32_t>(list.size())};
    const Buffer dlist = upload<uint32_t>(device, list), dcount = upload<uint32_t>(device, count);
    const Buffer out(device, tokens * list.size() * sizeof(float));
    const kernels::Rows which = listed ? kernels::Rows{dlist.as<const uint32_t>(), dcount.as<const uint32_t>(), rows}
                                       : kernels::Rows{nullptr, nullptr, rows};
    const auto stride = static_cast<uint32_t>(list.size());
    Buffer rounded;
    if constexpr (isFloat(type)) {
        launch(device, 0, {3, tokens, 96},
               kernels::Multiply<type>{dw.as<const uint8_t>(), dx.as<const float>(), out.as<float>(), which, cols,
                                       stride});
    } else {
        rounded = roundedOf(device, dx, tokens, cols);
        launch(device, 0, {3, tokens, 96},
               kernels::Multiply<type>{dw.as<const uint8_t>(), rounded.as<const Rounded>(), out.as<float>(), which,
                                       cols, stride});
    }
    compare(download<float>(device, out, tokens * list.size()), [&](size_t i) {
        const float* const w = weight.values.data() + list[i % stride] * cols;
        const float* const t = x.data() + i / stride * cols;
        double value = 0, magnitude = 0, rounding = 0, largest_w = 0;
        for (size_t c = 0; c < cols; ++c) largest_w = std::max(largest_w, std::abs(static_cast<double>(w[c])));
        for (size_t c = 0; c < cols; ++c) {
            double largest = 0;
            for (size_t k = c / 32 * 32; k < c / 32 * 32 + 32; ++k)
                largest = std::max(largest, std::abs(static_cast<double>(t[k])));
            value += static_cast<double>(w[c]) * t[c];
            // Codes and minima are added apart; each is at most a few times the largest value of the row.
            magnitude += (isFloat(type) ? std::abs(w[c]) : 4 * largest_w) * std::abs(t[c]);
            if (!isFloat(type)) rounding += std::abs(w[c]) * largest / 254 * 1.0001;  // half a step of the activation
        }
        const double operations = isFloat(type) ? cols / 32.0 + 7 : cols / 16.0 / 32.0 * 4 + 9;
        return Expected{value, rounding + operations * 0x1p-24 * magnitude};
    });
}

}  // namespace

void addProductChecks(std::vector<Check>& checks) {
    checks.push_back({"round_activations", roundActivations});
#define HEARTH_ADD(type)                                                                                           \
    checks.push_back({"multiply " #type, [](Device& d, uint32_t seed) { multiply<Type::type>(d, seed, false); }}); \
    checks.push_back(                                                                                              \
        {"multiply listed rows of " #type, [](Device& d, uint32_t seed) { multiply<Type::type>(d, seed, true); }});
    HEARTH_BLOCK_TYPES(HEARTH_ADD)
    HEARTH_FLOAT_TYPES(HEARTH_ADD)
#undef HEARTH_ADD
}

}  // namespace hearth::gpu::selftest
