#include <algorithm>
#include <cmath>

#include "engine/base/half.h"
#include "engine/gpu/kernels/all.h"
#include "engine/gpu/selftest/check.h"

namespace hearth::gpu::selftest {

namespace {

using kernels::Cache;

struct Case {
    const char* name;
    uint32_t cells, first, heads, kv_heads, key_width, value_width, ranges, per_range;
    float softcap;
    bool sinks;
    Cache cache;
    uint32_t ring = 0;  ///< cells that there is memory for; 0: for all
};

constexpr Case kCases[] = {
    {"attend, one range", 19, 0, 4, 4, 64, 64, 1, 19, 0, false, Cache::f32},
    {"attend, half precision, shared heads, three ranges", 50, 0, 8, 2, 80, 80, 3, 17, 0, false, Cache::f16},
    {"attend, window, softcap, other width of values", 70, 23, 4, 1, 96, 48, 4, 12, 20, false, Cache::f32},
    {"attend, sinks", 33, 0, 4, 2, 64, 64, 2, 17, 0, true, Cache::f32},
    {"attend, ranges without cells", 5, 0, 2, 1, 32, 32, 4, 3, 0, false, Cache::f32},
    {"attend, widest head", 9, 0, 1, 1, 512, 512, 2, 5, 0, false, Cache::f16},
    {"attend, a ring of cells", 70, 47, 4, 2, 32, 32, 3, 8, 0, false, Cache::f16, 25},
};

/// `rows` rows as the cache keeps them, stored by the device itself in an order of their own, or one by one in a ring; and
/// as double precision reads them.
Buffer cached(Device& device, std::vector<float>& rows, uint32_t cells, uint32_t width, Cache cache, uint32_t ring) {
    const Buffer x = upload<float>(device, rows);
    std::vector<uint32_t> places(cells);
    for (uint32_t c = 0; c < cells; ++c) places[c] = ring > 0 ? c : c ^ 1u;
    if (cells % 2 == 1) places.back() = cells - 1;
    std::vector<uint32_t> memory_places = places;
    for (uint32_t& place : memory_places)
        if (ring > 0) place %= ring;
    const Buffer dplaces = upload<uint32_t>(device, memory_places);
    Buffer memory(device, (ring > 0 ? ring : cells) * width * (cache == Cache::f16 ? 2 : 4));
    for (uint32_t c = 0; c < cells; ++c)
        if (ring > 0 || c == 0)
            launch(device, 0, {2, ring > 0 ? 1 : cells, 32},
                   kernels::Store{x.as<const float>() + size_t{c} * width, memory.as<uint8_t>(),
                                  dplaces.as<const uint32_t>() + c, width, cache});
    device.synchronize();
    std::vector<float> stored(rows.size());
    for (uint32_t c = 0; c < cells; ++c)
        for (uint32_t i = 0; i < width; ++i) {
            const float v = rows[c * width + i];
            stored[places[c] * width + i] = cache == Cache::f16 ? halfToFloat(floatToHalf(v)) : v;
        }
    rows = stored;
    return memory;
}

void attend(Device& device, uint32_t seed, const Case& c) {
    const std::vector<float> q = normalValues(c.heads * c.key_width, seed), sinks = normalValues(c.heads, seed + 3);
    std::vector<float> keys = normalValues(c.cells * c.kv_heads * c.key_width, seed + 1);
    std::vector<float> values = normalValues(c.cells * c.kv_heads * c.value_width, seed + 2);
    const Buffer dk = cached(device, keys, c.cells, c.kv_heads * c.key_width, c.cache, c.ring);
    const Buffer dv = cached(device, values, c.cells, c.kv_heads * c.value_width, c.cache, c.ring);
    const std::vector<uint32_t> count{c.cells};
    const Buffer dq = upload<float>(device, q), dsinks = upload<float>(device, sinks),
                 dcount = upload<uint32_t>(device, count);
    const Buffer parts(device, c.ranges * c.heads * c.value_width * sizeof(float));
    const Buffer top(device, c.ranges * c.heads * sizeof(float)), total(device, c.ranges * c.heads * sizeof(float));
    const Buffer out(device, c.heads * c.value_width * sizeof(float));
    const float scale = 1 / std::sqrt(static_cast<float>(c.key_width));
    launch(device, 0, {c.heads, c.ranges, 96},
           kernels::Attend{dq.as<const float>(), dk.as<const uint8_t>(), dv.as<const uint8_t>(), parts.as<float>(),
                           top.as<float>(), total.as<float>(), dcount.as<const uint32_t>(), c.heads, c.kv_heads,
                           c.key_width, c.value_width, c.per_range, c.first,
                           c.ring > 0 ? c.ring : c.cells, scale, c.softcap, c.cache});
    launch(device, 0, {c.heads, 1, 64},
           kernels::FinishAttention{parts.as<const float>(), top.as<const float>(), total.as<const float>(),
                                    c.sinks ? dsinks.as<const float>() : nullptr, out.as<float>(), c.ranges, c.heads,
                                    c.value_width});
    compare(download<float>(device, out, c.heads * c.value_width), [&](size_t i) {
        const size_t head = i / c.value_width, group = head / (c.heads / c.kv_heads);
        double sum = 0, weights = c.sinks ? std::exp(static_cast<double>(sinks[head])) : 0, magnitude = 0;
        for (size_t cell = c.first; cell < c.cells; ++cell) {
            double logit = 0;
            for (size_t k = 0; k < c.key_width; ++k)
                logit += static_cast<double>(q[head * c.key_width + k]) *
                         keys[(cell * c.kv_heads + group) * c.key_width + k];
            logit *= scale;
            if (c.softcap != 0) logit = c.softcap * std::tanh(logit / c.softcap);
            const double weight = std::exp(logit),
                         value = values[(cell * c.kv_heads + group) * c.value_width + i % c.value_width];
            sum += weight * value;
            weights += weight;
            magnitude += weight * std::abs(value);
        }
        // A logit is off by some roundings of its products, its weight by as much relatively; so is the sum of them.
        return Expected{sum / weights,
                        0x1p-24 * (2.0 * std::sqrt(c.key_width) * 8 + c.cells + 16) * magnitude / weights};
    });
}

}  // namespace

void addAttentionChecks(std::vector<Check>& checks) {
    for (const Case& c : kCases) checks.push_back({c.name, [&c](Device& d, uint32_t seed) { attend(d, seed, c); }});
}

}  // namespace hearth::gpu::selftest
