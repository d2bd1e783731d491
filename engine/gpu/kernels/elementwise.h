#pragma once

#include "engine/gpu/kernels/product.h"

namespace hearth::gpu::kernels {

/// What a feed-forward does to its gate (formats §2.2); GELU in its tanh form.
enum class Gate : uint32_t { silu, gelu, relu, relu2, drelu, sigmoid, gpt_oss };

HEARTH_KERNEL_FUNCTION float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

HEARTH_KERNEL_FUNCTION float activated(Gate gate, float g, float u) {
    const float positive = fmaxf(g, 0.0f);
    switch (gate) {
        case Gate::silu: return g * sigmoid(g) * u;
        case Gate::gelu: return 0.5f * g * (1.0f + tanhf(0.7978845608f * (g + 0.044715f * g * g * g))) * u;
        case Gate::relu: return positive * u;
        case Gate::relu2: return positive * positive * u;
        case Gate::drelu: return positive * fmaxf(u, 0.0f);
        case Gate::sigmoid: return sigmoid(g) * u;
        case Gate::gpt_oss: {
            const float low = fminf(g, 7.0f);
            return low * sigmoid(1.702f * low) * (fminf(fmaxf(u, -7.0f), 7.0f) + 1.0f);
        }
    }
    return 0;
}

/// out[i] = act(gate[i]) · up[i], the n first or, where `count` is given, as many as it says; without up: act(gate[i]).
struct Activate {
    static constexpr const char* name = "activate";
    DevPtr<const float> gate, up;
    DevPtr<float> out;
    DevPtr<const uint32_t> count;  ///< null: n
    uint32_t n;
    Gate kind;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const uint32_t size = count ? *count : n;
        for (uint32_t i = blockX() * blockThreads() + threadIndex(); i < size; i += gridX() * blockThreads())
            out[i] = activated(kind, gate[i], up ? up[i] : 1.0f);
    }
};

/// x += scale · y.
struct AddScaled {
    static constexpr const char* name = "add_scaled";
    DevPtr<float> x;
    DevPtr<const float> y;
    uint32_t n;
    float scale;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        for (uint32_t i = blockX() * blockThreads() + threadIndex(); i < n; i += gridX() * blockThreads())
            x[i] += scale * y[i];
    }
};

/// x = scale · x + bias, where a bias is given; x is n values that take turns on the bias's `period` values, or as many as
/// `list` has, bias[list[i]] for the i-th.
struct Adjust {
    static constexpr const char* name = "adjust";
    DevPtr<float> x;
    DevPtr<const float> bias;           ///< null: none
    DevPtr<const uint32_t> list, count; ///< null: all n
    uint32_t n, period;
    float scale;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const uint32_t size = list ? *count : n;
        for (uint32_t i = blockX() * blockThreads() + threadIndex(); i < size; i += gridX() * blockThreads()) {
            const float value = scale * x[i];
            x[i] = bias ? value + bias[list ? list[i] : i % period] : value;
        }
    }
};

/// out[i] = x[list[i]], as many as the list has.
struct Gather {
    static constexpr const char* name = "gather";
    DevPtr<const float> x;
    DevPtr<const uint32_t> list, count;
    DevPtr<float> out;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const uint32_t size = *count;
        for (uint32_t i = blockX() * blockThreads() + threadIndex(); i < size; i += gridX() * blockThreads())
            out[i] = x[list[i]];
    }
};

/// x = cap · tanh(x / cap).
struct Softcap {
    static constexpr const char* name = "softcap";
    DevPtr<float> x;
    uint32_t n;
    float cap;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        for (uint32_t i = blockX() * blockThreads() + threadIndex(); i < n; i += gridX() * blockThreads())
            x[i] = cap * tanhf(x[i] / cap);
    }
};

/// Rotates pairs of x [tokens, heads, width] in place by the angles of each token, given as cosines and sines
/// [tokens, rotated / 2] (Su et al. 2021). neox: element i with i + rotated / 2; otherwise 2i with 2i + 1. Elements from
/// `rotated` on stay. Grid: x over heads, y over tokens.
struct Rope {
    static constexpr const char* name = "rope";
    DevPtr<float> x;
    DevPtr<const float> cosines, sines;
    uint32_t width, rotated, stride;  ///< stride: floats from one token to the next
    uint32_t neox;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const uint32_t half = rotated / 2;
        const DevPtr<float> head = x + (size_t{blockY()} * stride + size_t{blockX()} * width);
        for (uint32_t i = threadIndex(); i < half; i += blockThreads()) {
            const uint32_t a = neox ? i : 2 * i, b = neox ? i + half : 2 * i + 1;
            const float c = cosines[size_t{blockY()} * half + i], s = sines[size_t{blockY()} * half + i];
            const float first = head[a], second = head[b];
            head[a] = first * c - second * s;
            head[b] = first * s + second * c;
        }
    }
};

/// out[t] = row ids[t] of a table [rows, cols], times `scale`. Grid: x over groups of 16 values (a thread each), y tokens.
template <Type type>
struct Embed {
    static constexpr const char* name = "embed";
    DevPtr<const uint8_t> table;
    DevPtr<const uint32_t> ids;
    DevPtr<float> out;  ///< [tokens, cols]
    uint32_t cols;
    float scale;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const uint32_t group = blockX() * blockThreads() + threadIndex();
        if (group >= cols / 16) return;
        const DevPtr<float> to = out + (size_t{blockY()} * cols + group * 16);
        const size_t id = ids[blockY()];
        if constexpr (type == Type::F32 || type == Type::F16 || type == Type::BF16) {
            const DevPtr<const uint8_t> row = table + id * cols * (type == Type::F32 ? 4 : 2);
            for (unsigned k = 0; k < 16; ++k) to[k] = scale * Multiply<type>::at(row, group * 16 + k);
        } else {
            using F = Format<type>;
            constexpr unsigned groups = F::values / 16;
            const DevPtr<const uint8_t> row = table + id * (cols / F::values * F::bytes);
            const Group g = F::group(row + size_t{group / groups} * F::bytes, group % groups);
            for (unsigned k = 0; k < 16; ++k)
                to[k] = scale *
                        (g.scale * static_cast<float>(static_cast<int8_t>(g.codes[k / 4] >> k % 4 * 8)) - g.minimum);
        }
    }
};

}  // namespace hearth::gpu::kernels
