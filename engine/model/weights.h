#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "engine/cpu/matmul.h"
#include "engine/model/description.h"
#include "engine/sparse/down_copies.h"
#include "engine/sparse/mode.h"

namespace hearth::model {

/// A matrix [rows, cols] in the file's own blocks, its optional bias [rows] and its optional scale (NVFP4's `.scale`).
struct Linear {
    cpu::Weight weight;
    const float* bias = nullptr;
    float scale = 1;
    explicit operator bool() const { return weight.data != nullptr; }
};

/// Weights of a norm; bias only with Norm::layer.
struct NormWeights {
    const float* weight = nullptr;
    const float* bias = nullptr;
    uint64_t size = 0;
    explicit operator bool() const { return weight != nullptr; }
};

/// `count` matrices [rows, cols] one after another (experts, heads), each with its bias row and scale.
struct Stack {
    cpu::Weight first;               ///< matrix 0; matrix e starts e · stride bytes later
    uint64_t count = 0, stride = 0;
    const float* bias = nullptr;     ///< [count, rows]
    const float* scale = nullptr;    ///< [count]
    explicit operator bool() const { return first.data != nullptr; }
    Linear operator[](uint64_t e) const {
        Linear one{first, bias ? bias + e * first.rows : nullptr, scale ? scale[e] : 1.0f};
        one.weight.data += e * stride;
        return one;
    }
};

/// The same of matrices that are regrouped by neuron.
struct RegroupedStack {
    cpu::RegroupedWeight first;      ///< matrix 0; matrix e starts e · stride bytes later
    uint64_t stride = 0;
    explicit operator bool() const { return static_cast<bool>(first); }
    cpu::RegroupedWeight operator[](uint64_t e) const;
};

/// Names: d = n_embd, H/K = query/key heads, w/v = key/value width of a head, f = neurons, E = experts.
struct LayerWeights {
    NormWeights attn_norm;           ///< [d]
    NormWeights attn_norm_2;         ///< [d] falcon 40B: attention reads this one
    NormWeights attn_post_norm;      ///< [d] on the attention's output
    NormWeights ffn_norm;            ///< [d]
    NormWeights ffn_post_norm;       ///< [d] on the feed-forward's output

    Linear q;                        ///< [H·w, d]; with a gate per head: [H·2w, d], each head q then gate
    Linear k;                        ///< [K·w, d]
    Linear v;                        ///< [K·v, d]
    Linear attn_output;              ///< [d, H·v]
    NormWeights q_norm, k_norm;      ///< [w], or [H·w] and [K·w]: over the whole width
    const float* sinks = nullptr;    ///< [H]

    // latent attention
    Linear q_a;                      ///< [q_rank, d]
    NormWeights q_a_norm;            ///< [q_rank]
    Linear kv_a;                     ///< [kv_rank + rope, d]
    NormWeights kv_a_norm;           ///< [kv_rank]
    Stack k_b;                       ///< H × [kv_rank, nope]
    Stack v_b;                       ///< H × [value, kv_rank]
    Linear kv_b;                     ///< [H·(nope + value), kv_rank] in older files, instead of k_b and v_b

    // gated delta net
    Linear delta_qkv;                ///< [channels, d]
    Linear delta_gate;               ///< [inner, d]
    Linear delta_beta, delta_alpha;  ///< [value heads, d]
    Linear delta_out;                ///< [d, inner]
    const float* delta_conv = nullptr;   ///< [channels, conv_width]
    const float* delta_dt = nullptr;     ///< [value heads]
    const float* delta_a = nullptr;      ///< [value heads], −exp(A)
    NormWeights delta_norm;              ///< [state]

    // feed-forward
    Linear gate;                     ///< [f, d]; absent in models without a gate
    Linear up;                       ///< [f, d]
    Linear down;                     ///< [d, f]
    Linear down_t;                   ///< [f, d]: a row per neuron, instead of down or beside it; its bias is [d]
    cpu::RegroupedWeight down_regrouped;  ///< [f, d] beside down; its bias and scale are down's
    Linear predictor_in, predictor_out;   ///< PowerInfer's fc1 [rank, d] and fc2 [f, rank]

    // experts
    Linear router;                   ///< [E, d]
    const float* router_bias = nullptr;  ///< [E], for the choice only
    Stack expert_gate, expert_up;    ///< E × [width, d]
    Stack expert_down;               ///< E × [d, width]
    Stack expert_down_t;  ///< E × [width, d]: a row per neuron; only for sparse modes, has no bias of its own
    RegroupedStack expert_down_regrouped;  ///< E × [width, d] beside expert_down
    Linear shared_gate, shared_up;  ///< [shared width, d]
    Linear shared_down;  ///< [d, shared width]
    Linear shared_router;  ///< [1, d]: its sigmoid scales the shared expert

    // Gemma 3n (S streams, P = per-layer width)
    NormWeights altup_router_norm;  ///< [d]
    Linear altup_router;  ///< [S, d]
    Linear altup_predict;  ///< [S·S, S]
    Linear altup_correct;  ///< [S, S]
    const float* altup_correct_scale = nullptr;  ///< [d]
    Linear laurel_l, laurel_r;  ///< [rank, d], [d, rank]
    NormWeights laurel_norm;  ///< [d]
    Linear per_layer_gate, per_layer_proj;  ///< [P, d], [d, P]
    NormWeights per_layer_norm;  ///< [d]
};

/// All weights of a model: views into the mapped file, and the few vectors that had to be converted to float32.
class Weights {
public:
    /// Resolves every tensor that the description calls for and checks its shape. Throws Error with the tensor's name.
    /// `mode` says whether down-projections are needed with a row per neuron: where the file has them otherwise and in a
    /// float type, they are transposed (Mode::automatic and Mode::off take them as they are). Those in blocks stay as they
    /// are until useCopies() brings their regrouped copies.
    explicit Weights(const Description& description, sparse::Mode mode = sparse::Mode::automatic);

    /// Gives the layers regrouped copies of their down-projections, for all whose activation has zeros, or for all. Not
    /// during a pass. `copies` are of the same file.
    void useCopies(const Description& description, std::shared_ptr<const sparse::DownCopies> copies);
    bool hasCopies() const { return copies_ != nullptr; }
    /// Throws Error when what the copies are mapped from was damaged.
    void checkCopies() const;

    Linear token_embedding;  ///< [vocabulary, d]
    Linear position_embedding;  ///< [positions, d]
    NormWeights output_norm;  ///< [d]
    Linear output;  ///< [vocabulary, d]; the embedding where the file ties them
    std::vector<LayerWeights> layers;

    const float* rope_factors = nullptr;  ///< [n_rot/2] divide the angles
    const float *rope_long = nullptr, *rope_short = nullptr;  ///< [n_rot/2] LongRoPE

    Stack altup_proj, altup_unembd;  ///< S−1 × [d, d]
    Linear per_layer_embedding;  ///< [vocabulary, layers·P]
    Linear per_layer_model_proj;  ///< [layers·P, d]
    NormWeights per_layer_proj_norm;  ///< [P]

private:
    friend class WeightsReader;
    std::shared_ptr<const gguf::File> file_;
    std::shared_ptr<const sparse::DownCopies> copies_;
    std::deque<std::vector<float>> converted_;
    std::deque<std::vector<std::byte>> transposed_;
};

}  // namespace hearth::model
