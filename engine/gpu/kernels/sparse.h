#pragma once

#include "engine/gpu/kernels/product.h"

namespace hearth::gpu::kernels {

/// The list of the neurons whose score is above `threshold`, ascending, and its length. One block; any number of threads.
struct CompactAbove {
    static constexpr const char* name = "compact_above";
    DevPtr<const float> scores;  ///< [n]
    DevPtr<uint32_t> list;  ///< room for n
    DevPtr<uint32_t> count;
    uint32_t n;
    float threshold;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        HEARTH_SHARED(uint32_t, found, kWarp);  // by warp
        uint32_t before = 0;
        for (uint32_t base = 0; base < n; base += blockThreads()) {
            const uint32_t i = base + threadIndex();
            const bool fires = i < n && scores[i] > threshold;
            const uint32_t bits = ballot(fires);
            if (lane() == 0) found[warp()] = static_cast<uint32_t>(popCount(bits));
            syncBlock();
            uint32_t at = before;
            for (unsigned w = 0; w < warps(); ++w) {
                if (w < warp()) at += found[w];
                before += found[w];
            }
            syncBlock();  // the next round writes there
            if (fires) list[at + static_cast<uint32_t>(popCount(bits & ((1u << lane()) - 1)))] = i;
        }
        if (threadIndex() == 0) *count = before;
    }
};

/// Neurons of a layer whose sum is formed apart: fixed ranges of neuron numbers, so that the order of summation does not
/// depend on which of them fire.
inline constexpr unsigned kNeuronsPerChunk = 256;

/// First place in an ascending list of `size` numbers that holds `number` or more.
HEARTH_KERNEL_FUNCTION uint32_t firstFrom(DevPtr<const uint32_t> list, uint32_t size, uint32_t number) {
    uint32_t low = 0, high = size;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (list[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

/// partial[chunk, j] = sum over the wanted neurons i of chunk blockY, ascending, of h[i] · weight[i, j]: the down step of a
/// layer whose down-projection has a row per neuron. A thread keeps 16 outputs. Grid: x over groups of 16 outputs (a thread
/// each), y over chunks. Rows that are listed ascend; h is by place in the list.
template <Type type>
struct AddRows {
    static constexpr const char* name = "add_rows";
    DevPtr<const uint8_t> weight;  ///< [neurons, cols]
    DevPtr<const float> h;
    DevPtr<float> partial;  ///< [chunks, cols]
    Rows rows;
    uint32_t cols;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const uint32_t group = blockX() * blockThreads() + threadIndex();
        if (group >= cols / 16) return;
        const uint32_t first_neuron = blockY() * kNeuronsPerChunk;
        uint32_t i = first_neuron, end = first_neuron + kNeuronsPerChunk;
        if (rows.list) {
            const uint32_t size = rows.size();
            i = firstFrom(rows.list, size, first_neuron);
            end = firstFrom(rows.list, size, end);
        } else if (end > rows.rows) {
            end = rows.rows;
        }
        float sum[16] = {};
        for (; i < end; ++i) {
            const float factor = h[i];
            if constexpr (type == Type::F32 || type == Type::F16 || type == Type::BF16) {
                const DevPtr<const uint8_t> row = weight + size_t{rows.at(i)} * cols * (type == Type::F32 ? 4 : 2);
                for (unsigned k = 0; k < 16; ++k) sum[k] += factor * Multiply<type>::at(row, group * 16 + k);
            } else {
                using F = Format<type>;
                constexpr unsigned groups = F::values / 16;
                const DevPtr<const uint8_t> row = weight + size_t{rows.at(i)} * (cols / F::values * F::bytes);
                const Group g = F::group(row + size_t{group / groups} * F::bytes, group % groups);
                for (unsigned k = 0; k < 16; ++k) {
                    const auto code = static_cast<int8_t>(g.codes[k / 4] >> k % 4 * 8);
                    sum[k] += factor * (g.scale * static_cast<float>(code) - g.minimum);
                }
            }
        }
        for (unsigned k = 0; k < 16; ++k) partial[size_t{blockY()} * cols + group * 16 + k] = sum[k];
    }
};

/// out[j] += partial[0, j] + partial[1, j] + …, in order. A thread an output.
struct AddChunks {
    static constexpr const char* name = "add_chunks";
    DevPtr<const float> partial;  ///< [chunks, cols]
    DevPtr<float> out;  ///< [cols]
    uint32_t chunks, cols;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const uint32_t j = blockX() * blockThreads() + threadIndex();
        if (j >= cols) return;
        float sum = 0;
        for (uint32_t c = 0; c < chunks; ++c) sum += partial[size_t{c} * cols + j];
        out[j] += sum;
    }
};

}  // namespace hearth::gpu::kernels
