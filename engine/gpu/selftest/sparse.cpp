#include <algorithm>
#include <cmath>
#include <format>
#include <numeric>

#include "engine/gpu/kernels/all.h"
#include "engine/gpu/selftest/check.h"
#include "engine/quant/random_weight.h"

namespace hearth::gpu::selftest {

namespace {

using gguf::Type;
using kernels::Rows;
using quant::RandomWeight;

/// The neurons above a threshold, whole numbers, so nothing may be off.
void compactAbove(Device& device, uint32_t seed) {
    for (const uint32_t n : {1u, 64u, 1000u}) {
        const std::vector<float> scores = normalValues(n, seed + n);
        std::vector<uint32_t> expected;
        for (uint32_t i = 0; i < n; ++i)
            if (scores[i] > 0.25f) expected.push_back(i);
        const Buffer dscores = upload<float>(device, scores), list(device, n * sizeof(uint32_t)),
                     count(device, sizeof(uint32_t));
        launch(device, 0, {1, 1, 96},
               kernels::CompactAbove{dscores.as<const float>(), list.as<uint32_t>(), count.as<uint32_t>(), n, 0.25f});
        const uint32_t size = download<uint32_t>(device, count, 1)[0];
        if (size != expected.size() || download<uint32_t>(device, list, size) != expected)
            throw Error("the device computes wrongly",
                        std::format("the list of {} neurons of {} is another", expected.size(), n));
    }
}

/// The down step, of all neurons or of a list of them: chunks, then their sum added to what is there.
template <Type type>
void addRows(Device& device, uint32_t seed, bool listed) {
    const uint32_t neurons = 600, cols = 256,
                   chunks = (neurons + kernels::kNeuronsPerChunk - 1) / kernels::kNeuronsPerChunk;
    const RandomWeight weight(type, neurons, cols, seed);
    std::vector<uint32_t> list(neurons);
    std::iota(list.begin(), list.end(), 0u);
    if (listed)
        std::erase_if(list, [&](uint32_t i) { return (i * 2654435761u + seed) >> 29 != 0 || (i >= 256 && i < 512); });
    const std::vector<float> h = normalValues(list.size(), seed + 1), before = normalValues(cols, seed + 2);
    const std::vector<uint32_t> count{static_cast<uint32_t>(list.size())};
    const Buffer dw = upload<std::byte>(device, weight.bytes), dh = upload<float>(device, h),
                 out = upload<float>(device, before);
    const Buffer dlist = upload<uint32_t>(device, list), dcount = upload<uint32_t>(device, count);
    const Buffer partial(device, chunks * cols * sizeof(float));
    const Rows rows = listed ? Rows{dlist.as<const uint32_t>(), dcount.as<const uint32_t>(), neurons}
                             : Rows{nullptr, nullptr, neurons};
    launch(device, 0, {1, chunks, 32},
           kernels::AddRows<type>{dw.as<const uint8_t>(), dh.as<const float>(), partial.as<float>(), rows, cols});
    launch(device, 0, {2, 1, 128}, kernels::AddChunks{partial.as<const float>(), out.as<float>(), chunks, cols});
    compare(download<float>(device, out, cols), [&](size_t j) {
        double value = before[j], magnitude = std::abs(value);
        for (size_t i = 0; i < list.size(); ++i) {
            const float* const row = weight.values.data() + list[i] * cols;
            double largest = 0;
            for (size_t k = j / 16 * 16; k < j / 16 * 16 + 16; ++k)
                largest = std::max(largest, std::abs(static_cast<double>(row[k])));
            value += static_cast<double>(h[i]) * row[j];
            magnitude += std::abs(static_cast<double>(h[i])) * 4 * largest;  // code and minimum of a value may cancel
        }
        return Expected{value, magnitude * 0x1p-24 * (static_cast<double>(kernels::kNeuronsPerChunk) + chunks + 4)};
    });
}

}  // namespace

void addSparseChecks(std::vector<Check>& checks) {
    checks.push_back({"compact_above", compactAbove});
#define HEARTH_ADD(type)                                                                                          \
    checks.push_back({"add_rows " #type, [](Device& d, uint32_t seed) { addRows<Type::type>(d, seed, false); }}); \
    checks.push_back(                                                                                             \
        {"add_rows of a list, " #type, [](Device& d, uint32_t seed) { addRows<Type::type>(d, seed, true); }});
    HEARTH_BLOCK_TYPES(HEARTH_ADD)
    HEARTH_FLOAT_TYPES(HEARTH_ADD)
#undef HEARTH_ADD
}

}  // namespace hearth::gpu::selftest
