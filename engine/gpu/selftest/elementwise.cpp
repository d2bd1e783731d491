#include <algorithm>
#include <cmath>

#include "engine/gpu/kernels/all.h"
#include "engine/gpu/selftest/check.h"
#include "engine/quant/random_weight.h"

namespace hearth::gpu::selftest {

namespace {

using gguf::Type;
using kernels::Gate;
using quant::RandomWeight;

/// Cards' expf and tanhf are off by up to two units in the last place; a few operations follow.
constexpr double kFew = 16 * 0x1p-24;

double expectedGate(Gate gate, double g, double u) {
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    switch (gate) {
        case Gate::silu: return g * sigmoid(g) * u;
        case Gate::gelu: return 0.5 * g * (1 + std::tanh(std::sqrt(2 / M_PI) * (g + 0.044715 * g * g * g))) * u;
        case Gate::relu: return std::max(g, 0.0) * u;
        case Gate::relu2: return std::max(g, 0.0) * std::max(g, 0.0) * u;
        case Gate::drelu: return std::max(g, 0.0) * std::max(u, 0.0);
        case Gate::sigmoid: return sigmoid(g) * u;
        case Gate::gpt_oss:
            return std::min(g, 7.0) * sigmoid(1.702 * std::min(g, 7.0)) * (std::clamp(u, -7.0, 7.0) + 1);
    }
    return 0;
}

void activate(Device& device, uint32_t seed, Gate gate, bool with_up) {
    const uint32_t n = 300;
    std::vector<float> g = normalValues(n, seed), u = normalValues(n, seed + 1);
    for (float& v : g) v *= 4;   // some beyond the limits of gpt_oss
    for (float& v : u) v *= 4;
    const Buffer dg = upload<float>(device, g), du = upload<float>(device, u), out(device, n * sizeof(float));
    launch(device, 0, {2, 1, 64},
           kernels::Activate{dg.as<const float>(), with_up ? du.as<const float>() : nullptr, out.as<float>(), nullptr,
                             n, gate});
    compare(download<float>(device, out, n), [&](size_t i) {
        const double up = with_up ? u[i] : 1, value = expectedGate(gate, g[i], up);
        // GELU's tail is the difference of two numbers near 1.
        return Expected{value, kFew * (std::abs(value) + std::abs(static_cast<double>(g[i]) * up))};
    });
}

/// Only as many as the device counts are written.
void activateCounted(Device& device, uint32_t seed) {
    const uint32_t n = 100, some = 37;
    const std::vector<float> g = normalValues(n, seed), before(n, 5.0f);
    const std::vector<uint32_t> count{some};
    const Buffer dg = upload<float>(device, g), dcount = upload<uint32_t>(device, count),
                 out = upload<float>(device, before);
    launch(
        device, 0, {1, 1, 32},
        kernels::Activate{dg.as<const float>(), nullptr, out.as<float>(), dcount.as<const uint32_t>(), n, Gate::relu});
    compare(download<float>(device, out, n),
            [&](size_t i) { return Expected{i < some ? std::max<double>(g[i], 0) : 5.0, 0}; });
}

void addScaled(Device& device, uint32_t seed) {
    const uint32_t n = 200;
    const std::vector<float> x = normalValues(n, seed), y = normalValues(n, seed + 1);
    const Buffer dx = upload<float>(device, x), dy = upload<float>(device, y);
    launch(device, 0, {2, 1, 64}, kernels::AddScaled{dx.as<float>(), dy.as<const float>(), n, 0.5f});
    compare(download<float>(device, dx, n), [&](size_t i) {
        const double value = x[i] + 0.5 * y[i];
        return Expected{value, 2 * 0x1p-24 * (std::abs(x[i]) + std::abs(y[i]))};
    });
}

/// A bias for each of several rows; without one; for listed values, beyond which nothing changes.
void adjust(Device& device, uint32_t seed) {
    const uint32_t period = 50, n = 4 * period;
    const std::vector<float> x = normalValues(n, seed), bias = normalValues(period, seed + 1);
    const std::vector<uint32_t> list{49, 3, 4, 17}, count{4};
    const Buffer dx = upload<float>(device, x), dbias = upload<float>(device, bias),
                 dlist = upload<uint32_t>(device, list), dcount = upload<uint32_t>(device, count);
    const auto within = [](double a, double b) { return Expected{a + b, 2 * 0x1p-24 * (std::abs(a) + std::abs(b))}; };
    launch(device, 0, {2, 1, 64},
           kernels::Adjust{dx.as<float>(), dbias.as<const float>(), nullptr, nullptr, n, period, 0.5f});
    std::vector<float> now = download<float>(device, dx, n);
    compare(now, [&](size_t i) { return within(0.5 * x[i], bias[i % period]); });
    launch(device, 0, {2, 1, 64}, kernels::Adjust{dx.as<float>(), nullptr, nullptr, nullptr, n, period, 0.25f});
    const std::vector<float> scaled = download<float>(device, dx, n);
    compare(scaled, [&](size_t i) { return Expected{0.25 * now[i], 0}; });
    launch(device, 0, {1, 1, 32},
           kernels::Adjust{dx.as<float>(), dbias.as<const float>(), dlist.as<const uint32_t>(),
                           dcount.as<const uint32_t>(), n, period, 1.0f});
    compare(download<float>(device, dx, n),
            [&](size_t i) { return i < 4 ? within(scaled[i], bias[list[i]]) : Expected{scaled[i], 0}; });
}

void gather(Device& device, uint32_t seed) {
    const std::vector<float> x = normalValues(100, seed), before(100, 5.0f);
    std::vector<uint32_t> list(70);
    for (uint32_t i = 0; i < list.size(); ++i) list[i] = (i * 37 + seed) % 100;
    const std::vector<uint32_t> count{66};
    const Buffer dx = upload<float>(device, x), dlist = upload<uint32_t>(device, list),
                 dcount = upload<uint32_t>(device, count), out = upload<float>(device, before);
    launch(device, 0, {2, 1, 32},
           kernels::Gather{dx.as<const float>(), dlist.as<const uint32_t>(), dcount.as<const uint32_t>(),
                           out.as<float>()});
    compare(download<float>(device, out, 100), [&](size_t i) { return Expected{i < 66 ? x[list[i]] : 5.0, 0}; });
}

void softcap(Device& device, uint32_t seed) {
    const uint32_t n = 200;
    std::vector<float> x = normalValues(n, seed);
    for (float& v : x) v *= 40;
    const Buffer dx = upload<float>(device, x);
    launch(device, 0, {2, 1, 64}, kernels::Softcap{dx.as<float>(), n, 30.0f});
    compare(download<float>(device, dx, n), [&](size_t i) {
        const double value = 30 * std::tanh(x[i] / 30.0);
        return Expected{value, kFew * 30};
    });
}

void rope(Device& device, uint32_t seed, bool neox) {
    const uint32_t tokens = 2, heads = 3, width = 80, rotated = 64, half = rotated / 2;
    const std::vector<float> x = normalValues(tokens * heads * width, seed);
    std::vector<float> cosines(tokens * half), sines(tokens * half);
    for (uint32_t i = 0; i < tokens * half; ++i) {
        cosines[i] = static_cast<float>(std::cos(0.1 * i));
        sines[i] = static_cast<float>(std::sin(0.1 * i));
    }
    const Buffer dx = upload<float>(device, x), dc = upload<float>(device, cosines), ds = upload<float>(device, sines);
    launch(
        device, 0, {heads, tokens, 32},
        kernels::Rope{dx.as<float>(), dc.as<const float>(), ds.as<const float>(), width, rotated, heads * width, neox});
    compare(download<float>(device, dx, x.size()), [&](size_t i) {
        const size_t at = i % width, head = i - at, token = i / (heads * width);
        if (at >= rotated) return Expected{x[i], 0};
        const size_t pair = neox ? at % half : at / 2;
        const bool second = neox ? at >= half : at % 2 == 1;
        const double a = x[head + (neox ? pair : 2 * pair)], b = x[head + (neox ? pair + half : 2 * pair + 1)];
        const double c = cosines[token * half + pair], s = sines[token * half + pair];
        return Expected{second ? a * s + b * c : a * c - b * s, 4 * 0x1p-24 * (std::abs(a) + std::abs(b))};
    });
}

template <Type type>
void embed(Device& device, uint32_t seed) {
    const uint32_t rows = 9, cols = 512;
    const RandomWeight table(type, rows, cols, seed);
    const std::vector<uint32_t> ids{8, 0, 3, 3};
    const Buffer dt = upload<std::byte>(device, table.bytes), dids = upload<uint32_t>(device, ids);
    const Buffer out(device, ids.size() * cols * sizeof(float));
    launch(device, 0, {1, static_cast<unsigned>(ids.size()), 64},
           kernels::Embed<type>{dt.as<const uint8_t>(), dids.as<const uint32_t>(), out.as<float>(), cols, 2.0f});
    compare(download<float>(device, out, ids.size() * cols), [&](size_t i) {
        const float* const row = table.values.data() + ids[i / cols] * cols;
        double largest = 0;   // code and minimum of a value may cancel
        for (size_t k = i % cols / 16 * 16; k < i % cols / 16 * 16 + 16; ++k)
            largest = std::max(largest, std::abs(static_cast<double>(row[k])));
        return Expected{2.0 * row[i % cols], 16 * 0x1p-24 * largest};
    });
}

}  // namespace

void addElementwiseChecks(std::vector<Check>& checks) {
    constexpr std::pair<const char*, Gate> gates[] = {
        {"silu", Gate::silu},   {"gelu", Gate::gelu},       {"relu", Gate::relu},      {"relu2", Gate::relu2},
        {"drelu", Gate::drelu}, {"sigmoid", Gate::sigmoid}, {"gpt_oss", Gate::gpt_oss}};
    for (const auto& [name, gate] : gates) {
        checks.push_back(
            {std::string("activate ") + name, [gate](Device& d, uint32_t seed) { activate(d, seed, gate, true); }});
        checks.push_back({std::string("activate without up, ") + name,
                          [gate](Device& d, uint32_t seed) { activate(d, seed, gate, false); }});
    }
    checks.push_back({"activate a counted number", activateCounted});
    checks.push_back({"add_scaled", addScaled});
    checks.push_back({"adjust", adjust});
    checks.push_back({"gather", gather});
    checks.push_back({"softcap", softcap});
    checks.push_back({"rope, pairs apart", [](Device& d, uint32_t seed) { rope(d, seed, true); }});
    checks.push_back({"rope, neighbours", [](Device& d, uint32_t seed) { rope(d, seed, false); }});
#define HEARTH_ADD(type) checks.push_back({"embed " #type, embed<Type::type>});
    HEARTH_BLOCK_TYPES(HEARTH_ADD)
    HEARTH_FLOAT_TYPES(HEARTH_ADD)
#undef HEARTH_ADD
}

}  // namespace hearth::gpu::selftest
