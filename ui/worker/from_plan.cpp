#include "ui/worker/from_plan.h"

#include <set>

namespace hearth::ui {
namespace {

QString fromStd(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

/// Weights that are multiplied; the embedding is looked up.
bool isWeight(const std::string& what) {
    static const std::set<std::string> names = {"attention", "norms", "predictor", "feed-forward", "experts", "output"};
    return names.contains(what);
}

}  // namespace

Prediction fromPlan(const placement::Plan& plan, uint64_t main_memory) {
    Prediction prediction;
    uint64_t weights = 0, away = 0;
    for (const placement::Part& part : plan.parts) {
        prediction.parts.push_back({fromStd(part.what), fromStd(part.device), part.bytes});
        if (!isWeight(part.what)) continue;
        weights += part.bytes;
        if (part.device != "cpu") away += part.bytes;
    }
    for (const placement::LayerSplit& split : plan.layers) {
        PlannedLayer layer{fromStd(split.attention_device), fromStd(split.kv_device), {}};
        for (const auto& [device, share] : split.feed_forward) layer.feed_forward.insert(fromStd(device), share);
        prediction.layers.push_back(layer);
    }
    prediction.ctx = plan.ctx;
    prediction.prefill_tps = plan.prefill_tps;
    prediction.decode_tps = plan.decode_tps;
    prediction.tps_per_gib = plan.tps_per_gib;
    prediction.limit = fromStd(plan.limit);
    prediction.graphics_share = weights > 0 ? static_cast<double>(away) / static_cast<double>(weights) : 0;
    if (plan.bytes("cpu") > main_memory) prediction.fit = Prediction::TooBig;
    else if (away == 0) prediction.fit = Prediction::Cpu;
    else prediction.fit = away == weights ? Prediction::FullGpu : Prediction::Hybrid;
    return prediction;
}

}  // namespace hearth::ui
