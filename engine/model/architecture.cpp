#include "engine/model/architecture.h"

#include <algorithm>

namespace hearth::model {
namespace {

using cpu::Activation;
using cpu::RopePairs;

constexpr Architecture gemma(std::string_view name, uint32_t period) {
    return {.name = name,
            .rope = RopePairs::neox,
            .activation = Activation::gelu,
            .post_norms = true,
            .windows = Windows::last_full,
            .window_period = period,
            .embedding_sqrt = true,
            .plain_scale_27b = true};
}

constexpr Architecture gemma2() {
    Architecture a = gemma("gemma2", 2);
    a.attention_softcap = 50;
    a.final_softcap = 30;
    return a;
}

constexpr Architecture gemma3() {
    Architecture a = gemma("gemma3", 6);
    a.window_rope_base = 10000;
    return a;
}

constexpr Architecture gemma3n() {
    Architecture a = gemma("gemma3n", 5);
    a.window_rope_base = 10000;
    a.final_softcap = 30;
    a.attention_scale = 1;
    a.plain_scale_27b = false;
    a.altup = true;
    return a;
}

constexpr Architecture table[] = {
    {.name = "llama"},
    {.name = "mistral3"},
    {.name = "qwen2", .rope = RopePairs::neox},
    {.name = "qwen2moe", .rope = RopePairs::neox, .normalise_experts = false},
    {.name = "qwen3", .rope = RopePairs::neox},
    {.name = "qwen3moe", .rope = RopePairs::neox},
    {.name = "qwen35", .rope = RopePairs::neox, .ffn_norm = "post_attention_norm", .delta_net = true},
    {.name = "qwen35moe", .rope = RopePairs::neox, .ffn_norm = "post_attention_norm", .delta_net = true},
    gemma2(),
    gemma3(),
    gemma3n(),
    {.name = "phi3", .rope = RopePairs::neox},
    {.name = "falcon", .norm = Norm::layer, .rope = RopePairs::neox, .activation = Activation::gelu, .parallel = true},
    {.name = "smollm3", .rope_skip_period = 4, .rope_skip_phase = 3},
    {.name = "olmo2",
     .rope = RopePairs::neox,
     .pre_norms = false,
     .post_norms = true,
     .windows = Windows::last_full,
     .window_period = 4,
     .window_yarn = false},
    {.name = "olmoe", .rope = RopePairs::neox, .normalise_experts = false},
    {.name = "granite"},
    {.name = "granitemoe"},
    {.name = "gpt-oss",
     .rope = RopePairs::neox,
     .activation = Activation::gpt_oss,
     .ffn_norm = "post_attention_norm",
     .windows = Windows::last_full,
     .window_period = 2,
     .router = Router::late_softmax,
     .normalise_experts = false},
    {.name = "smallthinker",
     .rope = RopePairs::neox,
     .activation = Activation::relu,
     .windows = Windows::first_full,
     .window_period = 4,
     .rope_skip_period = 4,
     .rope_skip_needs_window = true,
     .router_reads_layer_input = true},
    {.name = "deepseek2", .normalise_experts = false, .latent_attention = true, .yarn_in_scale = true},
    {.name = "nemotron", .norm = Norm::layer, .rope = RopePairs::neox, .activation = Activation::relu2},
    {.name = "arcee", .activation = Activation::relu2},
    {.name = "plm", .activation = Activation::relu2, .latent_attention = true},
    {.name = "opt",
     .norm = Norm::layer,
     .activation = Activation::relu,
     .learned_positions = true,
     .position_offset = 2},
    {.name = "bamboo", .activation = Activation::drelu},
};

}  // namespace

const Architecture* findArchitecture(std::string_view name) {
    const auto* found = std::ranges::find(table, name, &Architecture::name);
    return found == std::end(table) ? nullptr : found;
}

std::span<const Architecture> architectures() { return table; }

}  // namespace hearth::model
