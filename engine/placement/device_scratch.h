#pragma once

#include <array>
#include <cstdint>

#include "engine/model/description.h"

namespace hearth::placement {

/// The working memory of layers on a graphics device, piece by piece: what the planner counts and the executor allocates.
/// n = tokens of a batch; names of sizes as in model/weights.h.
enum class Scratch : uint8_t {
    x, normed, branch, branch2,   ///< [n, d]
    q, k, v, heads,               ///< [n, H·w], [n, K·w], [n, K·v], [n, H·v]
    gate, up, scores,             ///< [n, f]
    rank,                         ///< [n, rank] of a predictor
    rounded,                      ///< activations rounded to 8 bits, of the widest input
    list, count,                  ///< [f] neurons of one token, 1
    listed_gate, listed_up,       ///< [f] of the listed neurons
    cold_list, cold_count, cold_gates,   ///< [f], 1, [f]: what the processor is asked for
    partial,                      ///< [chunks, d] sums of a down-projection by neuron
    parts, top, total,            ///< [ranges, H, v], [ranges, H]: attention
    cosines, sines, window_cosines, window_sines,   ///< [n, rotated / 2]
    cells, window_cells, counts,  ///< [n] places in the KV cache, and how many cells there are then
    logits,                       ///< [vocabulary] of one token
    end
};

/// Ranges of cells that an attention is cut into at most.
constexpr uint32_t most_ranges = 16;
/// Cells of such a range, while there are few.
constexpr uint32_t cells_a_range = 256;

/// Bytes of each piece, for layers of `description` in batches of `batch` tokens.
std::array<uint64_t, static_cast<size_t>(Scratch::end)> deviceScratch(const model::Description& description,
                                                                      uint32_t batch);
/// All of it, each piece at a boundary of its own.
uint64_t deviceScratchBytes(const model::Description& description, uint32_t batch);

}  // namespace hearth::placement
