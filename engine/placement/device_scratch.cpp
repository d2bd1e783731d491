#include "engine/placement/device_scratch.h"

#include <algorithm>
#include <string>

#include "engine/placement/items.h"

namespace hearth::placement {
namespace {

constexpr uint64_t rounded_block = 48;      // bytes for 32 activations
constexpr uint64_t neurons_per_chunk = 256;

/// The largest sizes of any layer.
struct Largest {
    uint64_t q = 0, k = 0, v = 0, heads = 0, head_count = 0, neurons = 0, rank = 0;
};

Largest largestOf(const model::Description& d) {
    Largest most;
    const auto grow = [](uint64_t& a, uint64_t b) { a = std::max(a, b); };
    for (uint32_t i = 0; i < d.layers; ++i) {
        const model::LayerShape& s = d.shapes[i];
        grow(most.q, uint64_t{s.heads} * s.key_width);
        grow(most.k, uint64_t{s.kv_heads} * s.key_width);
        grow(most.v, uint64_t{s.kv_heads} * s.value_width);
        grow(most.heads, uint64_t{s.heads} * s.value_width);
        grow(most.head_count, s.heads);
        grow(most.neurons, s.feed_forward);
        if (const gguf::Tensor* fc1 = d.file->find("blk." + std::to_string(i) + ".fc1.weight"))
            grow(most.rank, fc1->ne[1]);
    }
    return most;
}

}  // namespace

std::array<uint64_t, static_cast<size_t>(Scratch::end)> deviceScratch(const model::Description& d, uint32_t batch) {
    std::array<uint64_t, static_cast<size_t>(Scratch::end)> bytes{};
    const Largest most = largestOf(d);
    const uint64_t n = std::max(1u, batch), f = most.neurons;
    const auto set = [&](Scratch piece, uint64_t values) { bytes[static_cast<size_t>(piece)] = 4 * values; };
    for (const Scratch piece : {Scratch::x, Scratch::normed, Scratch::branch, Scratch::branch2})
        set(piece, n * d.width);
    set(Scratch::q, n * most.q);
    set(Scratch::k, n * most.k);
    set(Scratch::v, n * most.v);
    set(Scratch::heads, n * most.heads);
    set(Scratch::gate, n * f);
    set(Scratch::up, n * f);
    if (most.rank > 0) set(Scratch::scores, f);
    set(Scratch::rank, most.rank);
    const uint64_t widest = std::max({uint64_t{d.width}, most.heads, f, most.rank});
    bytes[static_cast<size_t>(Scratch::rounded)] = n * ((widest + 31) / 32) * rounded_block;
    for (const Scratch piece :
         {Scratch::list, Scratch::listed_gate, Scratch::listed_up, Scratch::cold_list, Scratch::cold_gates})
        set(piece, f);
    set(Scratch::count, 1);
    set(Scratch::cold_count, 1);
    set(Scratch::partial, (f + neurons_per_chunk - 1) / neurons_per_chunk * d.width);
    set(Scratch::parts, most_ranges * most.heads);
    set(Scratch::top, most_ranges * most.head_count);
    set(Scratch::total, most_ranges * most.head_count);
    set(Scratch::cosines, n * d.rope.n_rot / 2);
    set(Scratch::sines, n * d.rope.n_rot / 2);
    if (d.window > 0) {
        set(Scratch::window_cosines, n * d.window_rope.n_rot / 2);
        set(Scratch::window_sines, n * d.window_rope.n_rot / 2);
        set(Scratch::window_cells, n);
    }
    set(Scratch::cells, n);
    set(Scratch::counts, n);
    set(Scratch::logits, d.vocabulary);
    return bytes;
}

uint64_t deviceScratchBytes(const model::Description& d, uint32_t batch) {
    uint64_t sum = 0;
    for (const uint64_t bytes : deviceScratch(d, batch))
        sum += (bytes + device_alignment - 1) / device_alignment * device_alignment;
    return sum;
}

}  // namespace hearth::placement
