#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "engine/gguf/type.h"

/// Models that are made to be timed: the sizes and types of real ones, drawn numbers.
namespace hearth::bench {

struct Shape {
    std::string_view name, architecture;   ///< architecture: llama, nemotron or smallthinker
    uint64_t width, neurons, layers, heads, kv_heads, head_width, vocabulary;
    uint64_t experts = 0, experts_used = 0;   ///< smallthinker; neurons are those of one expert
};

/// Sizes of well-known models.
std::span<const Shape> shapes();

/// What weights are stored as: one type for all matrices, or a mix like Q4_K_M (output Q6_K, attention values and
/// down-projections of half the layers Q6_K, the rest Q4_K).
struct Types {
    gguf::Type base = gguf::Type::Q4_0;
    bool mix = false;
};

struct Recipe {
    Shape shape;
    Types types;
    double zeros = -1;  ///< share of neurons at zero, in (0, 1); −1: whatever the architecture does with normal gates
    std::string activation;  ///< written as hidden_activation; empty: none, or relu where zeros are asked for
    uint32_t rank = 0;  ///< of the gate's low rank part, 0: none
    double noise = 0.1;  ///< beside it, 1 = as strong as it
    bool down_transposed = false;  ///< ffn_down_t, a row per neuron, instead of ffn_down
    uint64_t seed = 1;
};

/// Writes the model. With a rank, returns the recall of its low rank predictor (Rows::recall), else 1.
double writeModel(const Recipe& recipe, const std::filesystem::path& path);

}  // namespace hearth::bench
