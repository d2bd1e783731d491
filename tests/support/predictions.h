#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/placement/plan.h"
#include "engine/placement/shape_file.h"

/// Predictions of the planner for described models and machines, as tests check and benchmarks print them.
namespace hearth::test {

inline std::filesystem::path placementFile(const char* name) {
    return std::filesystem::path(HEARTH_SOURCE_DIR) / "resources" / "placement" / name;
}

/// Ways to run a model that does not fit into graphics memory.
enum class Way {
    layer_split,      ///< whole layers on one side, every neuron computed
    four_handovers,   ///< by neuron with a predictor; up, gate and down are merged one by one
    predictor,        ///< by neuron with a predictor, one hand-over a layer
    lossless,         ///< by neuron behind the exact gate, one hand-over a layer
};

inline placement::Options optionsOf(Way way) {
    placement::Options options{.ctx = 512, .depth = 512};
    options.sparse = way == Way::layer_split ? sparse::Mode::off
                     : way == Way::lossless  ? sparse::Mode::exact
                                             : sparse::Mode::predict;
    if (way == Way::layer_split) options.split = placement::Split::layers;
    return options;
}

/// The constants of sparsity §3.5: a graphics card of 900 GB/s, main memory of `cpu_gb_s` GB/s, 85 % of it for scattered
/// rows, 12 µs a hand-over, 0.55 GB held back.
inline placement::Plan predict(const placement::ModelShape& shape, Way way, double vram_gb, double cpu_gb_s) {
    const uint64_t vram = static_cast<uint64_t>(vram_gb * 1e9);
    const placement::Device devices[] = {{.name = "cpu",
                                          .bytes_total = 1ull << 40,
                                          .bytes_free = 1ull << 40,
                                          .read_bytes_per_s = cpu_gb_s * 1e9,
                                          .gather = 0.85},
                                         {.name = "cuda:0",
                                          .kind = placement::Kind::cuda,
                                          .bytes_total = vram,
                                          .bytes_free = vram,
                                          .read_bytes_per_s = 900e9,
                                          .handover_s = way == Way::four_handovers ? 4 * 12e-6 : 12e-6}};
    placement::Options options = optionsOf(way);
    options.budget["cuda:0"] = vram;
    options.held_back = 550'000'000;
    return placement::plan(shape.description, shape.activity, devices, options);
}

/// A shape whose neurons fire as §3.5 assumes: 11 %, and the hottest share q makes q^0.166 of the reads.
inline placement::ModelShape skewedShape(const char* id) {
    placement::ModelShape shape = placement::readShape(placementFile("models.json"), id);
    for (placement::Activity& a : shape.activity)
        a = {0.11, 0.11 * placement::flagged_per_active, placement::Curve::power(0.166)};
    return shape;
}

}  // namespace hearth::test
