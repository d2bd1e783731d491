#include "engine/placement/plan.h"

#include <algorithm>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/model/forward.h"
#include "engine/model/sequence.h"

namespace hearth::placement {
namespace {

constexpr uint32_t least_context = 512;

bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

/// The kind of a weight, as people see it.
std::string kindOf(std::string_view name) {
    if (name.starts_with("token_embd") || name.starts_with("position_embd") || name.starts_with("per_layer_token_embd"))
        return "embedding";
    if (name.starts_with("output.")) return "output";
    if (contains(name, "norm") || name.starts_with("rope_")) return "norms";
    if (contains(name, "_exps")) return "experts";
    if (contains(name, "ffn_") || contains(name, ".fc1") || contains(name, ".fc2")) return "feed-forward";
    return "attention";
}

std::string inGib(uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
    return text;
}

struct WeightBytes {
    std::map<std::string, uint64_t> by_kind;
    uint64_t per_token = 0;
};

/// One row of the embedding, the used experts, and everything else are read for each token; the whole embedding only
/// where it is the output matrix too.
WeightBytes countWeights(const model::Description& d) {
    WeightBytes count;
    const bool tied = d.file->find("output.weight") == nullptr;
    for (const gguf::Tensor& t : d.file->tensors()) {
        const std::string kind = kindOf(t.name);
        count.by_kind[kind] += t.bytes;
        if (kind == "embedding") count.per_token += t.name == "token_embd.weight" && tied ? t.bytes : t.rowBytes();
        else if (kind == "experts") count.per_token += t.bytes / d.experts.count * d.experts.used;
        else count.per_token += t.bytes;
    }
    return count;
}

uint64_t cacheBytes(const model::Description& d, const Options& o, uint32_t ctx) {
    return model::Sequence::bytes(d, {.context = ctx, .batch = o.batch, .kv = o.kv});
}

/// The longest context (in steps of 256) whose cache fits in `room` bytes, at least the least useful one.
uint32_t fittingContext(const model::Description& d, const Options& o, uint32_t most, uint64_t room) {
    uint32_t low = std::min(least_context, most), high = most;
    if (cacheBytes(d, o, high) <= room) return high;
    while (high - low > 256) {
        const uint32_t middle = low + (high - low) / 2;
        (cacheBytes(d, o, middle) <= room ? low : high) = middle;
    }
    return low > 256 ? low / 256 * 256 : low;
}

}  // namespace

uint64_t Plan::bytes(std::string_view device) const {
    uint64_t total = 0;
    for (const Part& part : parts)
        if (part.device == device) total += part.bytes;
    return total;
}

Plan plan(const model::Description& d, const sparse::Profile*, std::span<const Device> devices, const Options& o) {
    const auto cpu = std::ranges::find(devices, Kind::cpu, &Device::kind);
    if (cpu == devices.end()) throw Error("cannot plan", "no processor is among the devices");
    const WeightBytes weights = countWeights(d);
    uint64_t fixed = 0;
    Plan p;
    for (const auto& [kind, bytes] : weights.by_kind) {
        p.parts.push_back({kind, cpu->name, bytes});
        fixed += bytes;
    }
    const uint32_t batch = std::max(1u, o.batch);
    p.parts.push_back({"scratch", cpu->name, model::Forward::scratchBytes(d, batch)});
    p.parts.push_back({"logits", cpu->name, uint64_t{d.vocabulary} * sizeof(float)});
    fixed += p.parts[p.parts.size() - 1].bytes + p.parts[p.parts.size() - 2].bytes;

    const uint64_t room = cpu->bytes_free > fixed ? cpu->bytes_free - fixed : 0;
    p.ctx = o.ctx > 0 ? o.ctx : fittingContext(d, o, d.context, room);
    p.parts.push_back({"KV cache", cpu->name, cacheBytes(d, o, p.ctx)});
    p.layers.assign(d.layers, {cpu->name, {{cpu->name, 1.0}}});
    p.bytes_per_token = weights.per_token;

    if (p.bytes(cpu->name) > cpu->bytes_free)
        p.limit = "main memory: " + inGib(p.bytes(cpu->name)) + " are needed, " + inGib(cpu->bytes_free) +
                  " are free; what does not fit is read from disk again and again";
    else if (o.ctx == 0 && p.ctx < d.context)
        p.limit = "main memory: the context is " + std::to_string(p.ctx) + " of the " + std::to_string(d.context) +
                  " positions that the model knows";
    else p.limit = "the bandwidth of main memory";
    if (cpu->read_bytes_per_s > 0) p.decode_tps = cpu->read_bytes_per_s / static_cast<double>(p.bytes_per_token);
    if (cpu->flops > 0) p.prefill_tps = cpu->flops / (2.0 * static_cast<double>(d.parameters()));
    return p;
}

}  // namespace hearth::placement
