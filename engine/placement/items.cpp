#include "engine/placement/items.h"

#include <algorithm>
#include <cmath>

#include "engine/model/forward.h"
#include "engine/model/sequence.h"
#include "engine/placement/device_scratch.h"
#include "engine/sparse/down_copies.h"

namespace hearth::placement {
namespace {

bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

uint64_t aligned(uint64_t bytes) { return (bytes + device_alignment - 1) / device_alignment * device_alignment; }

/// The number in "blk.N."; `layers` for tensors of no layer.
uint32_t layerOf(std::string_view name, uint32_t layers) {
    if (!name.starts_with("blk.")) return layers;
    uint64_t n = 0;
    size_t i = 4;
    for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && n < layers; ++i)
        n = n * 10 + static_cast<uint64_t>(name[i] - '0');
    return static_cast<uint32_t>(std::min<uint64_t>(n, layers));
}

/// The name without "blk.N.".
std::string_view inLayer(std::string_view name) { return name.substr(name.find('.', 4) + 1); }

bool isFloat(gguf::Type type) { return type == gguf::Type::F32 || type == gguf::Type::F16 || type == gguf::Type::BF16; }

/// One layer's feed-forward tensors, before it is known how they are read.
struct Matrices {
    const gguf::Tensor *gate = nullptr, *up = nullptr, *down = nullptr, *down_t = nullptr;
    bool predictor = false;
};

Matrices matricesOf(const model::Description& d, uint32_t layer, bool experts) {
    const std::string p = "blk." + std::to_string(layer) + ".", end = experts ? "_exps.weight" : ".weight";
    Matrices m;
    m.gate = d.file->find(p + "ffn_gate" + end);
    m.up = d.file->find(p + "ffn_up" + end);
    m.down = d.file->find(p + "ffn_down" + end);
    m.down_t = d.file->find(p + "ffn_down_t" + end);
    m.predictor = d.file->find(p + "fc1.weight") != nullptr && d.file->find(p + "fc2.weight") != nullptr;
    if (experts && m.up != nullptr && m.down != nullptr && m.down->ne[0] == m.up->ne[0] && m.down->ne[1] == m.up->ne[1])
        std::swap(m.down, m.down_t);   // stored with a row per neuron under the ordinary name
    return m;
}

/// Whether neurons that are zero can be skipped: the activation has zeros and a neuron's part of the down-projection is a
/// row, in the file or in a copy: regrouped, or of float weights in an explicit sparse mode.
bool skips(const model::Description& d, uint32_t layer, const Matrices& m, sparse::Mode mode) {
    if (mode == sparse::Mode::off || mode == sparse::Mode::all) return false;
    if (!d.hasZeros(layer) && mode != sparse::Mode::threshold) return false;
    if (m.down_t != nullptr) return true;
    return m.down != nullptr && (sparse::canRegroup(m.down->type) || (mode != sparse::Mode::automatic && isFloat(m.down->type)));
}

/// Whether a mode takes a copy by neuron beside the file's own down-projection.
bool needsCopy(const model::Description& d, uint32_t layer, const Matrices& m, sparse::Mode mode) {
    if (!d.hasZeros(layer) && mode != sparse::Mode::threshold) return false;
    return mode != sparse::Mode::off && m.down_t == nullptr && m.down != nullptr;
}

FeedForward feedForward(const model::Description& d, uint32_t layer, const Activity& activity, sparse::Mode mode) {
    const bool experts = d.expertLayer(layer);
    const Matrices m = matricesOf(d, layer, experts);
    FeedForward f;
    if (m.up == nullptr) return f;
    f.what = experts ? "experts" : "feed-forward";
    const double routed = experts ? static_cast<double>(d.experts.used) / d.experts.count : 1;
    f.gate_reads = f.rest_reads = routed;
    const auto addAll = [](Sized& to, std::initializer_list<const gguf::Tensor*> tensors) {
        for (const gguf::Tensor* t : tensors)
            if (t != nullptr) to.add(*t);
    };
    const uint64_t neurons = m.down_t ? m.down_t->ne[1] : m.down ? m.down->ne[0] : m.up->ne[1];
    if (!skips(d, layer, m, mode)) {
        f.units = experts ? d.experts.count : neurons;
        if (experts && !d.activationHasZeros()) f.curve = activity.curve;
        addAll(f.rest, {m.gate, m.up, m.down, m.down_t});
        // A down-projection that runs along the neurons is cut between blocks, and processors round 32 inputs at a time.
        if (!experts && m.down_t == nullptr && m.down != nullptr && !isFloat(m.down->type))
            f.granule = std::max(32u, gguf::typeInfo(m.down->type).block_elements);
        return f;
    }
    f.units = neurons * (experts ? d.experts.count : 1);
    f.gathered = true;
    f.curve = activity.curve;
    if (mode == sparse::Mode::predict && m.predictor) {
        addAll(f.rest, {m.gate, m.up, m.down, m.down_t});
        f.rest_reads = routed * activity.flagged;
        return f;
    }
    // The first factor decides, so all of it is read; without a gate that is the up-projection.
    addAll(f.gate, {m.gate ? m.gate : m.up});
    addAll(f.rest, {m.gate ? m.up : nullptr, m.down, m.down_t});
    const double a = activity.active;
    // dReLU: up is read where the gate fires, down where both do; were they independent, the gate would fire for √a.
    const bool both = d.architecture.activation == cpu::Activation::drelu && m.gate != nullptr;
    f.rest_reads = routed * (both ? (std::sqrt(a) + a) / 2 : a);
    return f;
}

bool isCut(std::string_view name) {
    for (const char* one :
         {"ffn_gate.weight", "ffn_up.weight", "ffn_down.weight", "ffn_down_t.weight", "ffn_gate_exps.weight",
          "ffn_up_exps.weight", "ffn_down_exps.weight", "ffn_down_t_exps.weight"})
        if (name == one) return true;
    return false;
}

/// Bytes of keys and values that one token reads in a layer when `depth` positions came before it.
double cacheReads(const model::Description& d, uint32_t layer, const Options& o, uint32_t depth) {
    const model::LayerShape& s = d.shapes[layer];
    if (s.recurrent)  // the state is read and written
        return 2.0 * sizeof(float) * d.delta_net.value_heads * d.delta_net.state * d.delta_net.state;
    const uint64_t positions = s.windowed ? std::min(depth, d.window) : depth;
    const uint64_t values = d.latent.kv_rank > 0 ? 0 : s.kv_heads * cpu::kvRowBytes(o.kv, s.value_width);
    return static_cast<double>(positions * (s.kv_heads * cpu::kvRowBytes(o.kv, s.key_width) + values));
}

void addMemory(ModelItems& items, const model::Description& d, const Options& o) {
    items.scratch = model::Forward::scratchBytes(d, std::max(1u, o.batch), o.sparse);
    items.logits = uint64_t{d.vocabulary} * sizeof(float);
    // For what the layers of all architectures share it is known exactly; for the rest the processor's stands in.
    items.device_scratch = deviceScratchBytes(d, std::max(1u, o.batch));
    if (d.experts.count > 0 || d.latent.kv_rank > 0 || d.recurrent() || d.architecture.altup)
        items.device_scratch = std::max(items.device_scratch, items.scratch + items.logits);
    uint32_t neurons = 0;
    for (uint32_t i = 0; i < d.layers; ++i)
        neurons = std::max(neurons, d.expertLayer(i) ? d.experts.count : d.shapes[i].feed_forward);
    // A hand-over: x and the list of neurons out, a vector of sums back; two of each, so that one may still be in use.
    items.staging =
        2 * (2 * aligned(uint64_t{d.width} * sizeof(float)) + aligned(uint64_t{neurons} * sizeof(uint32_t)));
}

}  // namespace

void Sized::add(const gguf::Tensor& tensor) {
    bytes += tensor.bytes;
    aligned += placement::aligned(tensor.bytes);
    by_type[tensor.type] += tensor.bytes;
}

std::string kindOf(std::string_view name) {
    if (name.starts_with("token_embd") || name.starts_with("position_embd") || name.starts_with("per_layer_token_embd"))
        return "embedding";
    if (name.starts_with("output.")) return "output";
    if (contains(name, "norm") || name.starts_with("rope_")) return "norms";
    if (contains(name, "_exps")) return "experts";
    if (contains(name, ".fc1") || contains(name, ".fc2")) return "predictor";
    if (contains(name, "ffn_")) return "feed-forward";
    return "attention";
}

ModelItems itemsOf(const model::Description& d, std::span<const Activity> activity, const Options& o, uint32_t ctx,
                   uint32_t depth) {
    ModelItems items;
    items.layers.resize(d.layers);
    const bool tied = d.file->find("output.weight") == nullptr;
    const model::SequenceOptions cache{.context = ctx, .batch = o.batch, .kv = o.kv};
    for (uint32_t i = 0; i < d.layers; ++i) {
        LayerItems& layer = items.layers[i];
        layer.feed_forward = feedForward(d, i, activity[i], o.sparse);
        layer.kv_bytes = model::Sequence::layerBytes(d, i, cache);
        layer.kv_reads = cacheReads(d, i, o, std::min(depth, ctx));
        layer.kv_movable = !o.kv_with_layer && !d.shapes[i].recurrent && layer.kv_bytes > 0;
        const Matrices m = matricesOf(d, i, d.expertLayer(i));
        if (!needsCopy(d, i, m, o.sparse)) continue;
        if (sparse::canRegroup(m.down->type)) items.regrouped += sparse::DownCopies::bytesNeeded(*m.down);
        else if (o.sparse != sparse::Mode::automatic) items.transposed += m.down->bytes;
    }
    for (const gguf::Tensor& t : d.file->tensors()) {
        const std::string kind = kindOf(t.name);
        const uint32_t layer = layerOf(t.name, d.layers);
        if (kind == "predictor" && o.sparse != sparse::Mode::predict) {  // lies in the file, is never read
            items.resting[kind].add(t);
            continue;
        }
        const uint64_t used =
            kind == "experts" && d.experts.count > 0 ? t.bytes / d.experts.count * d.experts.used : t.bytes;
        if (kind == "embedding") {
            items.resting[kind].add(t);
            items.embedding_reads += t.rowBytes();
            const bool output = tied && t.name == "token_embd.weight";
            items.dense_reads += output ? t.bytes : t.rowBytes();
            if (!output) continue;
            items.tied_output.add(t);
        } else {
            items.dense_reads += used;
            // Whatever belongs to no layer is read at the end.
            if (layer == d.layers) items.output[kind].add(t);
            else if (!isCut(inLayer(t.name))) items.layers[layer].core[kind].add(t);
        }
        items.params +=
            static_cast<double>(t.ne[0] * t.rows()) * (static_cast<double>(used) / static_cast<double>(t.bytes));
    }
    addMemory(items, d, o);
    return items;
}

}  // namespace hearth::placement
