#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/gguf/file.h"
#include "engine/model/architecture.h"

namespace hearth::model {

/// Sizes of one layer; widths are of one head.
struct LayerShape {
    uint32_t heads = 0, kv_heads = 0, key_width = 0, value_width = 0;
    uint32_t feed_forward = 0;      ///< neurons of the dense feed-forward (0 in a layer of experts)
    bool windowed = false;          ///< attends to the last Description::window positions only
    bool rotated = true;            ///< rope is applied
    bool recurrent = false;         ///< gated delta net instead of attention
    uint32_t kv_layer = 0;          ///< the layer whose keys and values it reads: itself, or an earlier one
    float gate_cut = 0;             ///< Gemma 3n: gates below mean + gate_cut · deviation are zero (0 = none)
};

/// Everything rope needs; angles of dimension i: position · base^(−2i/n_rot), scaled (formats §2.1).
struct RopeShape {
    uint32_t n_rot = 0;             ///< rotated elements of a head, even
    double base = 10000;
    double scale = 1;               ///< 1/factor of linear or YaRN scaling
    bool yarn = false;
    double yarn_original = 0, yarn_beta_fast = 32, yarn_beta_slow = 1, yarn_mix = 1;
    double magnitude = 1;           ///< rotated elements are multiplied by it
};

struct ExpertShape {
    uint32_t count = 0, used = 0, width = 0;    ///< count 0 = no experts
    uint32_t shared_width = 0;
    uint32_t groups = 0, groups_used = 0;       ///< 0 = no grouping
    uint32_t leading_dense = 0;                 ///< first layers with a dense feed-forward
    Router router = Router::softmax;
    bool normalise = true;
    float scale = 1;
};

struct LatentShape {
    uint32_t q_rank = 0, kv_rank = 0, nope = 0, rope = 0, value = 0;    ///< kv_rank 0 = no latent attention
};

struct DeltaNetShape {
    uint32_t conv_width = 0, inner = 0, state = 0, value_heads = 0, key_heads = 0;    ///< state 0 = none
    uint32_t channels() const { return 2 * key_heads * state + value_heads * state; }
};

struct AltupShape {
    uint32_t streams = 0, active = 0, per_layer = 0;    ///< streams 0 = none
};

/// What a model file says about itself: everything that can be known without reading weights. Made in milliseconds.
/// Who said which activation a model has.
enum class ActivationSource : uint8_t {
    architecture,   ///< nobody: what models of this architecture have
    file,           ///< the key hidden_activation, or PowerInfer's magic
    name,           ///< the model's or the file's name: a guess
    user,
};

struct Description {
    /// Throws Error: unknown architecture, missing or impossible sizes, tensors that are absent or of another shape.
    static Description read(std::shared_ptr<const gguf::File> file);

    std::shared_ptr<const gguf::File> file;
    Architecture architecture;  ///< the table's entry, with the file's own choices put in
    ActivationSource activation_source = ActivationSource::architecture;
    float relu_threshold = 0;  ///< relu and its kin: gates below it count as zero (FATReLU; ProSparse, arXiv 2402.13516 §3.2)
    std::string name;  ///< general.name or the file's name

    uint32_t layers = 0, width = 0, vocabulary = 0, context = 0;  ///< width = n_embd; context = as trained
    std::vector<LayerShape> shapes;  ///< [layers]
    float norm_eps = 1e-5f;
    uint32_t window = 0;  ///< positions that a windowed layer sees, 0 = no such layers

    RopeShape rope, window_rope;  ///< of full and of windowed layers
    uint32_t rope_original_context = 0;  ///< LongRoPE: beyond it the long factors hold (0 = none)

    float embedding_scale = 1, residual_scale = 1, logit_divisor = 1;
    float attention_scale = 0;  ///< scores are multiplied by it
    float attention_softcap = 0, final_softcap = 0;
    float q_temperature = 0;  ///< β: q × (1 + β ln(1 + ⌊position / original⌋))
    uint32_t q_temperature_original = 0;

    ExpertShape experts;
    LatentShape latent;
    DeltaNetShape delta_net;
    AltupShape altup;
    float predictor_threshold = 0;  ///< PowerInfer's files: a neuron takes part when its score is at least this

    uint64_t parameters() const;  ///< values in all tensors
    bool expertLayer(uint32_t layer) const { return experts.count > 0 && layer >= experts.leading_dense; }
    /// Whether many neurons of the feed-forward are exactly zero (formats §2.2; sparsity §1).
    bool activationHasZeros() const;
    bool hasZeros(uint32_t layer) const { return activationHasZeros() || shapes[layer].gate_cut > 0; }
    bool recurrent() const { return delta_net.state > 0; }
};

}  // namespace hearth::model
