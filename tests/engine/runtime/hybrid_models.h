#pragma once

#include <QTest>

#include <map>

#include "engine/gpu/emulated/emulated_device.h"
#include "engine/runtime/model.h"
#include "tests/support/logits.h"
#include "tests/support/model_rows.h"

/// Models that are loaded with emulated devices.
namespace hearth::test {

/// Limits of the fixtures' README, §3, for a float32 key/value cache; and for weights that the device multiplies with rounded
/// activations.
inline double hybridLimit(const QString& name) {
    if (name.contains("quants") || name.contains("mxfp4") || name.contains("q4_0")) return 3e-3;
    return name.startsWith("gemma") || name.startsWith("falcon") || name.startsWith("pwri_falcon") ? 1e-6 : 1e-9;
}

struct HybridSetup {
    std::map<std::string, uint64_t> budgets;   ///< device name → bytes of the budget
    uint64_t memory = uint64_t{64} << 20;      ///< of each device
    sparse::Mode sparse = sparse::Mode::automatic;
    placement::Split split = placement::Split::neurons;
    uint32_t ctx = 128, batch = 16;
    uint64_t seed = 0;
};

inline runtime::LoadOptions hybridOptions(const HybridSetup& setup) {
    runtime::LoadOptions options{.ctx = setup.ctx, .batch = setup.batch, .kv = cpu::KvType::f32, .threads = 2};
    options.sparse = setup.sparse;
    options.split = setup.split;
    options.devices = {placement::cpuDevice()};
    for (const auto& [name, bytes] : setup.budgets) {
        options.devices.push_back({.name = name,
                                   .kind = placement::Kind::emulated,
                                   .bytes_total = setup.memory,
                                   .bytes_free = setup.memory});
        options.budget[name] = bytes;
    }
    options.open = [setup](std::string_view name) -> std::unique_ptr<gpu::Device> {
        return std::make_unique<gpu::emulated::EmulatedDevice>(
            gpu::emulated::Options{.name = std::string(name), .bytes = setup.memory, .seed = setup.seed});
    };
    return options;
}

/// Logits of the first `count` tokens, `batch` of them a pass.
inline std::vector<float> logitsOf(runtime::Model& model, model::Sequence& sequence, std::span<const int32_t> tokens,
                                   uint32_t batch) {
    const size_t vocabulary = model.description().vocabulary;
    std::vector<float> all(tokens.size() * vocabulary);
    for (size_t at = 0; at < tokens.size(); at += batch) {
        const size_t n = std::min<size_t>(batch, tokens.size() - at);
        const model::Part part{&sequence, tokens.subspan(at, n), model::Part::Logits::all};
        model.forward().run({&part, 1}, {all.data() + at * vocabulary, n, vocabulary});
    }
    return all;
}

}  // namespace hearth::test
