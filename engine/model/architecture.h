#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/cpu/ops.h"

namespace hearth::model {

enum class Norm : uint8_t { rms, layer };

/// How a router turns its logits into expert weights (formats §2.1, MoE forward order).
enum class Router : uint8_t {
    softmax,        ///< probabilities over all experts, then the top k
    sigmoid,        ///< each expert for itself, then the top k
    late_softmax,   ///< top k of the logits, then softmax over those
};

/// Which layers see only a window of positions, when the file names a window size.
enum class Windows : uint8_t {
    never,
    last_full,    ///< layer i is windowed if i % period < period − 1
    first_full,   ///< layer i is windowed if i % period ≠ 0
};

/// The choices that make an architecture, read by one forward pass (formats §2.2). What a file shows by itself (biases,
/// gates, q/k norms, sinks, experts, fused matrices) is not here: it follows from the tensors that are present.
struct Architecture {
    std::string_view name;  ///< general.architecture
    Norm norm = Norm::rms;
    cpu::RopePairs rope = cpu::RopePairs::norm;
    cpu::Activation activation = cpu::Activation::silu;

    bool pre_norms = true;  ///< norms before attention and feed-forward
    bool post_norms = false;  ///< norms on the outputs of both branches
    bool parallel = false;  ///< x + attention(norm x) + ffn(norm x)
    std::string_view ffn_norm = "ffn_norm";  ///< tensor of the norm before the feed-forward

    Windows windows = Windows::never;
    uint32_t window_period = 0;  ///< default where the file names none
    double window_rope_base = 0;  ///< > 0: windowed layers rotate by this base, unscaled
    bool window_yarn = true;  ///< false: windowed layers rotate without scaling
    int rope_skip_period = 0, rope_skip_phase = 0;  ///< no rope where i % period == phase
    bool rope_skip_needs_window = false;  ///< ... only if the file names a window

    bool learned_positions = false;  ///< position_embd rows instead of rope
    uint32_t position_offset = 0;  ///< row = position + offset

    bool embedding_sqrt = false;  ///< embeddings × √n_embd
    double attention_softcap = 0, final_softcap = 0;  ///< where the file has no key
    double attention_scale = 0;  ///< 0 = 1/√key width
    bool plain_scale_27b = false;  ///< Gemma's 27B divide by √(n_embd / n_head) instead

    Router router = Router::softmax;
    bool normalise_experts = true;  ///< expert weights divided by their sum
    bool router_reads_layer_input = false;  ///< before the attention and any norm

    bool latent_attention = false;  ///< MLA, formats §2.3
    bool yarn_in_scale = false;  ///< YaRN's magnitude goes into the score scale, not the rotation
    bool delta_net = false;  ///< gated delta net on most layers, formats §2.4
    bool altup = false;  ///< Gemma 3n's parallel streams and per-layer embeddings
};

/// The table's entry for general.architecture, or nullptr.
const Architecture* findArchitecture(std::string_view name);
std::span<const Architecture> architectures();

}  // namespace hearth::model
