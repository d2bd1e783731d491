#pragma once

#include "engine/gpu/kernels/product.h"

namespace hearth::gpu::kernels {

/// How keys and values are stored: floats, or half precision.
enum class Cache : uint32_t { f32, f16 };

/// Attention of one token, split over the context: each block of Attend takes one head and one range of cells and leaves the
/// parts of an online softmax (Milakov & Gimelshein 2018); FinishAttention puts the ranges of a head together, in order.
///
/// Grid: x over query heads, y over ranges. A warp takes a cell at a time; its lanes share the width.
struct Attend {
    static constexpr const char* name = "attend";
    static constexpr unsigned kMostWidth = 512;  ///< of a head
    static constexpr unsigned kMostWarps = 8;

    DevPtr<const float> q;  ///< [heads, key_width]
    DevPtr<const uint8_t> keys, values;  ///< a row of cell c and key/value head g at (c % ring · kv_heads + g) · width
    DevPtr<float> out;  ///< [ranges, heads, value_width], not yet divided
    DevPtr<float> top, total;  ///< [ranges, heads]
    DevPtr<const uint32_t> cells;  ///< how many there are; the device knows
    uint32_t heads, kv_heads, key_width, value_width, per_range,
        first,  ///< cells before it are out of the window
        ring;   ///< cells that there is memory for
    float scale, softcap;  ///< softcap 0: none
    Cache cache;

    HEARTH_KERNEL_FUNCTION float cached(DevPtr<const uint8_t> p, size_t i) const {
        return cache == Cache::f16 ? halfAt(p, i) : p.as<const float>()[i];
    }

    HEARTH_KERNEL_FUNCTION void operator()() const {
        HEARTH_SHARED(float, sums, kMostWarps* kMostWidth);
        HEARTH_SHARED(float, tops, kMostWarps);
        HEARTH_SHARED(float, totals, kMostWarps);
        const uint32_t head = blockX(), group = head / (heads / kv_heads);
        const uint32_t begin = first + blockY() * per_range;
        const uint32_t all = *cells, end = begin + per_range < all ? begin + per_range : all;
        float largest = -INFINITY, weight = 0;
        float sum[kMostWidth / kWarp] = {};
        for (uint32_t cell = begin + warp(); cell < end; cell += warps()) {
            float dot = 0;
            const size_t place = cell % ring, key = (place * kv_heads + group) * key_width;
            for (unsigned i = lane(); i < key_width; i += kWarp)
                dot += q[size_t{head} * key_width + i] * cached(keys, key + i);
            float logit = warpSum(dot) * scale;
            if (softcap != 0) logit = softcap * tanhf(logit / softcap);
            const float higher = fmaxf(largest, logit), factor = expf(largest - higher), part = expf(logit - higher);
            largest = higher;
            weight = weight * factor + part;
            const size_t value = (place * kv_heads + group) * value_width;
            for (unsigned k = 0; k < kMostWidth / kWarp; ++k) {  // of fixed length, so that sum stays in registers
                const unsigned i = k * kWarp + lane();
                if (i < value_width) sum[k] = sum[k] * factor + part * cached(values, value + i);
            }
        }
        for (unsigned k = 0; k < kMostWidth / kWarp; ++k) sums[warp() * kMostWidth + k * kWarp + lane()] = sum[k];
        if (lane() == 0) {
            tops[warp()] = largest;
            totals[warp()] = weight;
        }
        syncBlock();
        float highest = -INFINITY, whole = 0;
        for (unsigned w = 0; w < warps(); ++w) highest = fmaxf(highest, tops[w]);
        for (unsigned w = 0; w < warps(); ++w) whole += share(totals[w], tops[w], highest);
        const size_t own = size_t{blockY()} * heads + head;
        for (unsigned i = threadIndex(); i < value_width; i += blockThreads()) {
            float joined = 0;
            for (unsigned w = 0; w < warps(); ++w) joined += share(sums[w * kMostWidth + i], tops[w], highest);
            out[own * value_width + i] = joined;
        }
        if (threadIndex() == 0) {
            top[own] = highest;
            total[own] = whole;
        }
    }

    /// What a part whose largest logit is `own` counts beside one whose largest is `highest`.
    HEARTH_KERNEL_FUNCTION static float share(float value, float own, float highest) {
        return own == -INFINITY ? 0.0f : value * expf(own - highest);
    }
};

/// out[head] = the ranges of Attend put together. sinks: one extra logit a head that only enters the denominator, or null.
/// Grid: x over heads.
struct FinishAttention {
    static constexpr const char* name = "finish_attention";
    DevPtr<const float> parts, top, total;  ///< as Attend leaves them
    DevPtr<const float> sinks;  ///< [heads]
    DevPtr<float> out;  ///< [heads, value_width]
    uint32_t ranges, heads, value_width;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const uint32_t head = blockX();
        float highest = sinks ? sinks[head] : -INFINITY;
        for (uint32_t r = 0; r < ranges; ++r) highest = fmaxf(highest, top[size_t{r} * heads + head]);
        float whole = sinks ? expf(sinks[head] - highest) : 0.0f;
        for (uint32_t r = 0; r < ranges; ++r) {
            const size_t place = size_t{r} * heads + head;
            whole += Attend::share(total[place], top[place], highest);
        }
        for (unsigned i = threadIndex(); i < value_width; i += blockThreads()) {
            float sum = 0;
            for (uint32_t r = 0; r < ranges; ++r) {
                const size_t place = size_t{r} * heads + head;
                sum += Attend::share(parts[place * value_width + i], top[place], highest);
            }
            out[size_t{head} * value_width + i] = sum / whole;
        }
    }
};

/// Puts the key or value rows of tokens into the cache: row t of x [tokens, width] to cell cells[t]. Grid: x over parts of a
/// row, y over tokens.
struct Store {
    static constexpr const char* name = "store";
    DevPtr<const float> x;
    DevPtr<uint8_t> cache_memory;
    DevPtr<const uint32_t> cells;
    uint32_t width;
    Cache cache;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const size_t row = size_t{cells[blockY()]} * width;
        for (uint32_t i = blockX() * blockThreads() + threadIndex(); i < width; i += gridX() * blockThreads()) {
            const float value = x[size_t{blockY()} * width + i];
            if (cache == Cache::f16) cache_memory.as<uint16_t>()[row + i] = floatAsHalf(value);
            else cache_memory.as<float>()[row + i] = value;
        }
    }
};

}  // namespace hearth::gpu::kernels
