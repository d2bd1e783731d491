#include "engine/runtime/hybrid/hybrid.h"

#include <algorithm>
#include <map>

#include "engine/base/error.h"

namespace hearth::runtime {
namespace {

constexpr uint32_t most_value_width = gpu::kernels::Attend::kMostWidth;

/// What keeps a layer's shape from the kernels.
std::string whyNotShape(const model::Description& d, const model::LayerShape& s) {
    const uint32_t rotated = s.windowed ? d.window_rope.n_rot : d.rope.n_rot;
    if (s.value_width > most_value_width) return "its heads are wider than " + std::to_string(most_value_width);
    if (s.rotated && rotated > s.key_width) return "its heads are narrower than what is rotated";
    if (d.width % 16 != 0) return "its width is no multiple of 16";
    return {};
}

/// What keeps a sparse mode from the kernels.
std::string whyNotSparse(const model::Description& d, const sparse::Choice& choice) {
    if (d.relu_threshold > 0) return "small gates are cut";
    if (choice.mode == sparse::Mode::threshold) return "its neurons are chosen by thresholds";
    if (choice.mode != sparse::Mode::predict) return {};
    const bool own = d.file->find("blk.0.fc1.weight") != nullptr;
    const bool asked = choice.predictor == sparse::Predictor::best || choice.predictor == sparse::Predictor::file;
    return own && asked ? "" : "its neurons are predicted by a calibration";
}

/// Of what the plan gives to the device, what can be cut there: columns of a down-projection only between blocks, and gates
/// without their neurons only all of them.
HotNeurons hotOf(const model::LayerWeights& l, const placement::LayerSplit& split, bool exact_gates) {
    const uint64_t all = l.up.weight.rows;
    uint64_t neurons = std::min(split.neurons, all);
    if (!l.down_t && neurons < all) {
        const uint64_t block = gguf::typeInfo(l.down.weight.type).block_elements;
        if (block > 1) neurons = neurons / std::max<uint64_t>(32, block) * std::max<uint64_t>(32, block);
    }
    const bool gates = exact_gates && l.gate && l.down_t && split.gates >= all;
    return {static_cast<uint32_t>(gates ? all : neurons), static_cast<uint32_t>(neurons)};
}

}  // namespace

std::string whyNotOnDevices(const model::Description& d, cpu::KvType kv, const sparse::Choice& sparse) {
    if (std::string why = whyNotSparse(d, sparse); !why.empty()) return why;
    if (d.experts.count > 0) return "its layers have experts";
    if (d.architecture.latent_attention) return "it has latent attention";
    if (d.recurrent()) return "it has recurrent layers";
    if (d.architecture.altup) return "it has several residual streams";
    if (kv == cpu::KvType::q8_0) return "keys and values are kept as Q8_0";
    for (const model::LayerShape& s : d.shapes)
        if (std::string why = whyNotShape(d, s); !why.empty()) return why;
    for (uint32_t i = 0; i < d.layers; ++i) {
        const gguf::Tensor* q = d.file->find("blk." + std::to_string(i) + ".attn_q.weight");
        if (q != nullptr && q->ne[1] != uint64_t{d.shapes[i].heads} * d.shapes[i].key_width)
            return "its heads have gates";
    }
    for (const gguf::Tensor& t : d.file->tensors())
        if (!hasKernels(t.type)) return "there are no kernels for weights of " + std::string(gguf::typeInfo(t.type).name);
    return {};
}

Hybrid::Hybrid(const model::Description& d, const model::Weights& weights, const placement::Plan& plan,
               const DeviceStepsOptions& options, const OpenDevice& open)
    : elsewhere_(d.layers, false) {
    std::map<std::string, DeviceStepsOptions> wanted;
    const auto of = [&](const std::string& name) -> DeviceStepsOptions& {
        return wanted.try_emplace(name, options).first->second;
    };
    for (uint32_t i = 0; i < d.layers; ++i) {
        if (plan.layers[i].attention_device == "cpu") continue;
        const bool skips = options.sparse != sparse::Mode::off && options.sparse != sparse::Mode::all && d.hasZeros(i);
        const bool exact = skips && !(options.sparse == sparse::Mode::predict && weights.layers[i].predictor_in);
        of(plan.layers[i].attention_device).layers[i] = hotOf(weights.layers[i], plan.layers[i], exact);
        elsewhere_[i] = true;
    }
    if (plan.output_device != "cpu") of(plan.output_device).output = true;
    placing_.layers.assign(d.layers, nullptr);
    for (const auto& [name, part] : wanted) {
        Served served{.name = name, .device = open(name)};
        served.free_before = served.device->bytesFree();
        served.steps = std::make_unique<DeviceSteps>(*served.device, d, weights, part);
        for (const auto& [i, hot] : part.layers) placing_.layers[i] = served.steps.get();
        if (part.output) placing_.output = served.steps.get();
        served_.push_back(std::move(served));
    }
}

void Hybrid::prepare(model::Sequence& sequence) const {
    for (const Served& served : served_) served.steps->prepare(sequence);
}

uint64_t Hybrid::allocated(std::string_view device) const {
    const auto found = std::ranges::find(served_, device, &Served::name);
    return found == served_.end() ? 0 : found->free_before - std::min(found->free_before, found->device->bytesFree());
}

}  // namespace hearth::runtime
