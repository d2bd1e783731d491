#include <algorithm>

#include "engine/cpu/matmul.h"
#include "engine/model/forward.h"
#include "engine/model/layers/steps.h"

namespace hearth::model {
namespace {

constexpr uint64_t calibrated_rank = 512;   // the greatest that calibrating tries by itself

/// Memory that is kept when less is needed and grows as std::vector::resize does: at least to twice what it was.
class Grown {
public:
    void need(uint64_t bytes) {
        if (bytes > bytes_) bytes_ = std::max(bytes, 2 * bytes_);
    }
    uint64_t bytes() const { return bytes_; }

private:
    uint64_t bytes_ = 0;
};

/// The working memory of Steps, walked through as a pass of n tokens does it. Names are those of Steps.
class ScratchCount {
public:
    ScratchCount(const Description& d, uint64_t n, sparse::Mode mode) : d_(d), n_(n), mode_(mode) {}

    uint64_t bytes() {
        if (d_.architecture.altup) altupBegin();
        for (uint32_t i = 0; i < d_.layers; ++i) layer(i);
        outputRounds();
        uint64_t sum = (4 * uint64_t{d_.width} + d_.rope.n_rot) * n_ * sizeof(float);
        if (d_.window > 0) sum += uint64_t{d_.window_rope.n_rot} * n_ * sizeof(float);
        for (const Grown* g : {&q_, &k_, &v_, &heads_, &low_, &absorbed_, &gate_, &up_, &delta_, &experts_, &shared_,
                               &altup_, &predictor_, &act_, &act2_, &act3_, &head_acts_})
            sum += g->bytes();
        return sum;
    }

private:
    uint64_t floats(uint64_t columns) const { return n_ * columns * sizeof(float); }

    const gguf::Tensor* find(uint32_t i, const char* name) const {
        return d_.file->find("blk." + std::to_string(i) + "." + name + ".weight");
    }
    static bool rounds(const gguf::Tensor* weight) {
        return weight != nullptr && weight->type != gguf::Type::F32 && weight->type != gguf::Type::F16 &&
               weight->type != gguf::Type::BF16;
    }
    /// `rows` of activations with `columns` values are the input of a product with `weight`.
    static void input(Grown& act, const gguf::Tensor* weight, uint64_t rows, uint64_t columns) {
        if (rounds(weight)) act.need(2 * rows * (columns / cpu::kXBlock) * sizeof(cpu::XBlock));
    }

    void layer(uint32_t i) {
        if (d_.shapes[i].recurrent) deltaNet(i);
        else if (d_.architecture.latent_attention) latentAttention(i);
        else attention(i);
        if (d_.architecture.altup) altupLayer(i);
        if (d_.expertLayer(i)) experts(i);
        else feedForward(i);
    }

    void attention(uint32_t i) {
        const LayerShape& s = d_.shapes[i];
        const gguf::Tensor *all = find(i, "attn_qkv"), *q = all != nullptr ? all : find(i, "attn_q");
        const uint64_t gated = all == nullptr && q != nullptr ? q->ne[1] : uint64_t{s.heads} * s.key_width;
        heads_.need(floats(uint64_t{s.heads} * s.value_width));
        input(act_, q, n_, d_.width);
        q_.need(floats(gated));
        if (s.kv_layer == i) {
            k_.need(floats(uint64_t{s.kv_heads} * s.key_width));
            v_.need(floats(uint64_t{s.kv_heads} * s.value_width));
        }
        input(act2_, find(i, "attn_output"), n_, uint64_t{s.heads} * s.value_width);
    }

    void latentAttention(uint32_t i) {
        const LatentShape& s = d_.latent;
        const uint64_t heads = d_.shapes[i].heads;
        input(act_, find(i, "attn_kv_a_mqa"), n_, d_.width);
        q_.need(floats(heads * (s.nope + s.rope)));
        low_.need(floats(s.kv_rank + s.rope));
        if (s.q_rank > 0) {
            v_.need(floats(s.q_rank));
            input(act2_, find(i, "attn_q_b"), n_, s.q_rank);
        }
        absorbed_.need(floats(heads * (s.kv_rank + s.rope)));
        k_.need(floats(heads * s.kv_rank));
        heads_.need(floats(heads * s.value));
        const gguf::Tensor *k_b = find(i, "attn_k_b"), *v_b = find(i, "attn_v_b"), *kv_b = find(i, "attn_kv_b");
        input(head_acts_, k_b, heads * n_, s.nope);
        input(head_acts_, v_b != nullptr ? v_b : kv_b, heads * n_, s.kv_rank);
        input(act2_, find(i, "attn_output"), n_, heads * s.value);
    }

    void deltaNet(uint32_t i) {
        const DeltaNetShape& s = d_.delta_net;
        input(act_, find(i, "attn_qkv"), n_, d_.width);
        delta_.need(floats(2 * uint64_t{s.channels()} + s.inner + 2 * uint64_t{s.value_heads}));
        heads_.need(floats(s.inner));
        input(act2_, find(i, "ssm_out"), n_, s.inner);
    }

    void feedForward(uint32_t i) {
        const gguf::Tensor *gate = find(i, "ffn_gate"), *up = find(i, "ffn_up"), *down = find(i, "ffn_down");
        const uint64_t neurons = d_.shapes[i].feed_forward;
        const bool fused = gate == nullptr && up != nullptr && up->ne[1] == 2 * neurons;
        if (const gguf::Tensor* rank = find(i, "fc1"); rank != nullptr && mode_ == sparse::Mode::predict) {
            predictor_.need(floats(rank->ne[1] + neurons));
            input(act3_, rank, n_, d_.width);
            input(act3_, find(i, "fc2"), n_, rank->ne[1]);
        } else if (mode_ == sparse::Mode::predict && d_.hasZeros(i)) {
            // Calibrated: scores of this layer and the next one, and products of a rank that is not known yet.
            predictor_.need(floats(2 * neurons + calibrated_rank));
            act3_.need(2 * n_ * (calibrated_rank / cpu::kXBlock) * sizeof(cpu::XBlock));
        } else if (mode_ == sparse::Mode::threshold) {
            predictor_.need(floats(neurons));
        }
        input(act_, up, n_, d_.width);
        up_.need(floats(neurons));
        if (gate != nullptr || fused || down == nullptr) gate_.need(floats(neurons));
        input(act2_, down, n_, neurons);
    }

    void experts(uint32_t i) {
        const ExpertShape& e = d_.experts;
        const uint64_t all = n_ * e.used;
        input(act3_, find(i, "ffn_gate_inp"), n_, d_.width);
        // Logits and weights of the choice, its ids and orders (32 bits each), inputs and outputs, gates and ups.
        experts_.need(floats(e.count + e.used) + (3 * all + 2 * (e.count + 1)) * sizeof(uint32_t) +
                      all * 2 * (uint64_t{d_.width} + e.width) * sizeof(float));
        input(act_, find(i, "ffn_up_exps"), all, d_.width);
        input(act2_, find(i, "ffn_down_exps"), all, e.width);
        if (e.shared_width == 0) return;
        input(act_, find(i, "ffn_up_shexp"), n_, d_.width);
        shared_.need(floats(2 * uint64_t{e.shared_width} + 1 + d_.width));
        input(act2_, find(i, "ffn_down_shexp"), n_, e.shared_width);
    }

    void altupBegin() {
        const AltupShape& a = d_.altup;
        altup_.need(floats(2 * uint64_t{a.streams} * d_.width + uint64_t{a.per_layer} * (d_.layers + 1) + a.streams +
                           uint64_t{a.streams} * a.streams));
        input(act_, d_.file->find("per_layer_model_proj.weight"), n_, d_.width);
    }

    void altupLayer(uint32_t i) {
        const gguf::Tensor* side = find(i, "laurel_l");
        if (side != nullptr) shared_.need(floats(side->ne[1]));
        input(act_, side, n_, d_.width);
        if (side != nullptr) input(act2_, find(i, "laurel_r"), n_, side->ne[1]);
        input(act2_, find(i, "proj"), n_, d_.altup.per_layer);
    }

    void outputRounds() {
        const gguf::Tensor* output = d_.file->find("output.weight");
        input(act_, output != nullptr ? output : d_.file->find("token_embd.weight"), 1, d_.width);
    }

    const Description& d_;
    uint64_t n_;
    sparse::Mode mode_;
    Grown q_, k_, v_, heads_, low_, absorbed_, gate_, up_, delta_, experts_, shared_, altup_, predictor_;
    Grown act_, act2_, act3_, head_acts_;
};

}  // namespace

uint64_t Forward::scratchBytes(const Description& d, uint32_t batch, sparse::Mode mode) {
    return ScratchCount(d, std::max(1u, batch), mode).bytes();
}

}  // namespace hearth::model
