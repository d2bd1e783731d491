#include "engine/model/weights.h"

#include <cstring>

#include "engine/base/error.h"
#include "engine/quant/quant.h"

namespace hearth::model {

/// Finds the tensors of a file and checks their shapes against the description.
class WeightsReader {
public:
    WeightsReader(Weights& weights, const Description& d, sparse::Mode mode)
        : w_(weights), d_(d), file_(*d.file), by_neuron_(mode != sparse::Mode::automatic && mode != sparse::Mode::off),
          any_activation_(mode == sparse::Mode::threshold) {
        w_.file_ = d.file;
    }

    void read() {
        refuseUnknownForms();
        w_.token_embedding = linear("token_embd", d_.vocabulary, d_.width);
        if (d_.architecture.learned_positions) w_.position_embedding = linear("position_embd", 0, d_.width);
        w_.output_norm = norm("output_norm", d_.width);
        w_.output = optional("output", d_.vocabulary, d_.width);
        if (!w_.output) w_.output = w_.token_embedding;
        const uint64_t half = d_.rope.n_rot / 2;
        w_.rope_factors = optionalVector("rope_freqs.weight", half);
        w_.rope_long = optionalVector("rope_factors_long.weight", half);
        w_.rope_short = optionalVector("rope_factors_short.weight", half);
        if (d_.architecture.altup) readStreams();
        w_.layers.resize(d_.layers);
        for (uint32_t i = 0; i < d_.layers; ++i) readLayer(i, w_.layers[i]);
    }

private:
    [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
        throw Error("the model file lacks a part", "tensor " + name + " " + why,
                    "The file is damaged, incomplete or made for another program; get it again");
    }

    /// Forms that exist in the wild but are not read, each with a sentence of its own.
    void refuseUnknownForms() const {
        if (d_.experts.count > 0 && file_.find("blk.0.ffn_gate.0.weight") != nullptr)
            throw Error("cannot run this model",
                        "it keeps each expert in a tensor of its own, a form that was given up in April 2024",
                        "Get a newer conversion of the model");
    }

    const gguf::Tensor* find(const std::string& name) const { return file_.find(name); }

    const gguf::Tensor& shaped(const std::string& name, uint64_t rows, uint64_t cols, uint64_t count = 1) const {
        const gguf::Tensor* t = find(name);
        if (t == nullptr) refuse(name, "is missing");
        const uint64_t have_rows = count > 1 ? t->ne[1] : t->rows(), have_count = count > 1 ? t->ne[2] * t->ne[3] : 1;
        if (t->ne[0] != cols || (rows != 0 && have_rows != rows) || have_count != count)
            refuse(name, "has the shape [" + std::to_string(t->ne[0]) + ", " + std::to_string(t->ne[1]) + ", " +
                             std::to_string(t->ne[2]) + "], not [" + std::to_string(cols) + ", " +
                             std::to_string(rows) + (count > 1 ? ", " + std::to_string(count) : std::string()) + "]");
        switch (t->type) {
            case gguf::Type::I8:
            case gguf::Type::I16:
            case gguf::Type::I32:
            case gguf::Type::I64:
            case gguf::Type::F64: refuse(name, "is of a type that weights do not have");
            default: break;
        }
        if (t->data == nullptr) refuse(name, "has no data");
        return *t;
    }

    /// `n` float32 values: in place where the file has them so, else converted once.
    const float* vector(const std::string& name, uint64_t n) {
        const gguf::Tensor* t = find(name);
        if (t == nullptr) refuse(name, "is missing");
        if (t->ne[0] * t->rows() != n)
            refuse(name, "has " + std::to_string(t->ne[0] * t->rows()) + " values, not " + std::to_string(n));
        shaped(name, t->rows(), t->ne[0]);
        if (t->type == gguf::Type::F32 && reinterpret_cast<uintptr_t>(t->data) % alignof(float) == 0)
            return reinterpret_cast<const float*>(t->data);
        std::vector<float>& values = w_.converted_.emplace_back(n);
        quant::decode(t->type, {t->data, t->bytes}, values);
        return values.data();
    }
    const float* optionalVector(const std::string& name, uint64_t n) {
        return find(name) != nullptr ? vector(name, n) : nullptr;
    }

    NormWeights norm(const std::string& name, uint64_t n) {
        return {vector(name + ".weight", n),
                d_.architecture.norm == Norm::layer ? optionalVector(name + ".bias", n) : nullptr, n};
    }
    NormWeights optionalNorm(const std::string& name, uint64_t n) {
        return find(name + ".weight") != nullptr ? norm(name, n) : NormWeights{};
    }

    float factor(const std::string& name) {
        const float* scale = optionalVector(name + ".scale", 1);
        return scale != nullptr ? *scale : 1.0f;
    }

    /// rows == 0: as many as there are.
    Linear linear(const std::string& name, uint64_t rows, uint64_t cols) {
        const gguf::Tensor& t = shaped(name + ".weight", rows, cols);
        return {{t.type, t.data, t.rows(), cols, t.rowBytes()}, optionalVector(name + ".bias", t.rows()), factor(name)};
    }
    Linear optional(const std::string& name, uint64_t rows, uint64_t cols) {
        return find(name + ".weight") != nullptr ? linear(name, rows, cols) : Linear{};
    }

    Stack stack(const std::string& name, uint64_t count, uint64_t rows, uint64_t cols) {
        const gguf::Tensor& t = shaped(name + ".weight", rows, cols, count);
        return {{t.type, t.data, rows, cols, t.rowBytes()},
                count,
                t.rowBytes() * rows,
                optionalVector(name + ".bias", count * rows),
                optionalVector(name + ".scale", count)};
    }

    static Linear part(const Linear& whole, uint64_t first, uint64_t n) {
        return {whole.weight.slice(first, n), whole.bias != nullptr ? whole.bias + first : nullptr, whole.scale};
    }

    void readLayer(uint32_t i, LayerWeights& l) {
        const std::string p = "blk." + std::to_string(i) + ".";
        const Architecture& a = d_.architecture;
        if (a.pre_norms) {
            l.attn_norm = norm(p + "attn_norm", d_.width);
            if (!a.parallel) l.ffn_norm = norm(p + std::string(a.ffn_norm), d_.width);
            l.attn_norm_2 = optionalNorm(p + "attn_norm_2", d_.width);
        }
        if (a.post_norms) {
            l.attn_post_norm = norm(p + "post_attention_norm", d_.width);
            l.ffn_post_norm = norm(p + "post_ffw_norm", d_.width);
        }
        if (d_.shapes[i].recurrent) readDeltaNet(p, l);
        else if (a.latent_attention) readLatent(p, i, l);
        else readAttention(p, i, l);
        if (d_.expertLayer(i)) readExperts(p, l);
        else readFeedForward(p, i, l);
        if (a.altup) readAltup(p, l);
    }

    void readAttention(const std::string& p, uint32_t i, LayerWeights& l) {
        const LayerShape& s = d_.shapes[i];
        const uint64_t q = uint64_t{s.heads} * s.key_width, k = uint64_t{s.kv_heads} * s.key_width,
                       v = uint64_t{s.kv_heads} * s.value_width;
        if (const Linear all = optional(p + "attn_qkv", q + k + v, d_.width)) {
            l.q = part(all, 0, q);
            l.k = part(all, q, k);
            l.v = part(all, q + k, v);
        } else {
            l.q = linear(p + "attn_q", a_gated() ? 2 * q : q, d_.width);
            if (s.kv_layer == i) {
                l.k = linear(p + "attn_k", k, d_.width);
                l.v = linear(p + "attn_v", v, d_.width);
            }
        }
        l.attn_output = linear(p + "attn_output", d_.width, uint64_t{s.heads} * s.value_width);
        l.q_norm = headNorm(p + "attn_q_norm", s.key_width, q);
        if (s.kv_layer == i) l.k_norm = headNorm(p + "attn_k_norm", s.key_width, k);
        l.sinks = optionalVector(p + "attn_sinks.weight", s.heads);
    }
    bool a_gated() const { return d_.architecture.delta_net; }

    /// A norm over each head, or over the whole projected width: the file's size tells.
    NormWeights headNorm(const std::string& name, uint64_t head, uint64_t whole) {
        const gguf::Tensor* t = find(name + ".weight");
        return t == nullptr ? NormWeights{} : norm(name, t->ne[0] * t->rows() == head ? head : whole);
    }

    void readLatent(const std::string& p, uint32_t i, LayerWeights& l) {
        const LatentShape& s = d_.latent;
        const uint64_t heads = d_.shapes[i].heads, q = heads * (s.nope + s.rope);
        if (find(p + "attn_q.weight") != nullptr) {
            l.q = linear(p + "attn_q", q, d_.width);
        } else {
            l.q_a = linear(p + "attn_q_a", s.q_rank, d_.width);
            l.q_a_norm = norm(p + "attn_q_a_norm", l.q_a.weight.rows);
            l.q = linear(p + "attn_q_b", q, l.q_a.weight.rows);
        }
        l.kv_a = linear(p + "attn_kv_a_mqa", s.kv_rank + s.rope, d_.width);
        l.kv_a_norm = norm(p + "attn_kv_a_norm", s.kv_rank);
        if (find(p + "attn_k_b.weight") != nullptr) {
            l.k_b = stack(p + "attn_k_b", heads, s.kv_rank, s.nope);
            l.v_b = stack(p + "attn_v_b", heads, s.value, s.kv_rank);
        } else {
            l.kv_b = linear(p + "attn_kv_b", heads * (s.nope + s.value), s.kv_rank);
        }
        l.attn_output = linear(p + "attn_output", d_.width, heads * s.value);
    }

    void readDeltaNet(const std::string& p, LayerWeights& l) {
        const DeltaNetShape& n = d_.delta_net;
        l.delta_qkv = linear(p + "attn_qkv", n.channels(), d_.width);
        l.delta_gate = linear(p + "attn_gate", n.inner, d_.width);
        l.delta_beta = linear(p + "ssm_beta", n.value_heads, d_.width);
        l.delta_alpha = linear(p + "ssm_alpha", n.value_heads, d_.width);
        l.delta_out = linear(p + "ssm_out", d_.width, n.inner);
        l.delta_conv = vector(p + "ssm_conv1d.weight", uint64_t{n.channels()} * n.conv_width);
        l.delta_dt = vector(p + "ssm_dt.bias", n.value_heads);
        l.delta_a = vector(p + "ssm_a", n.value_heads);
        l.delta_norm = {vector(p + "ssm_norm.weight", n.state), nullptr, n.state};
    }

    void readFeedForward(const std::string& p, uint32_t i, LayerWeights& l) {
        const uint64_t f = d_.shapes[i].feed_forward;
        if (f == 0) refuse(p + "ffn_up.weight", "belongs to a layer whose feed_forward_length is 0");
        l.gate = optional(p + "ffn_gate", f, d_.width);
        const gguf::Tensor* up = find(p + "ffn_up.weight");
        if (!l.gate && up != nullptr && up->rows() == 2 * f) {     // phi3: gate rows, then up rows
            const Linear both = linear(p + "ffn_up", 2 * f, d_.width);
            l.gate = part(both, 0, f);
            l.up = part(both, f, f);
        } else {
            l.up = linear(p + "ffn_up", f, d_.width);
        }
        if (find(p + "ffn_down_t.weight") != nullptr) {
            const gguf::Tensor& t = shaped(p + "ffn_down_t.weight", f, d_.width);
            l.down_t = {{t.type, t.data, f, d_.width, t.rowBytes()},
                        optionalVector(p + "ffn_down_t.bias", d_.width),
                        factor(p + "ffn_down_t")};
        } else {
            l.down = linear(p + "ffn_down", d_.width, f);
            if (by_neuron_ && (d_.hasZeros(i) || any_activation_) && isFloat(l.down.weight.type)) {
                l.down_t = l.down;
                l.down_t.weight = transposed(l.down.weight, 1);
            }
        }
        l.predictor_in = optional(p + "fc1", 0, d_.width);
        if (l.predictor_in) l.predictor_out = linear(p + "fc2", f, l.predictor_in.weight.rows);
    }

    static bool isFloat(gguf::Type type) { return gguf::typeInfo(type).block_elements == 1; }

    /// The same values with rows and columns exchanged, for each of `count` matrices. Only for types whose blocks are single
    /// values.
    cpu::Weight transposed(const cpu::Weight& from, uint64_t count) {
        const uint64_t size = gguf::typeInfo(from.type).block_bytes;
        std::vector<std::byte>& to = w_.transposed_.emplace_back(count * from.rows * from.cols * size);
        for (uint64_t e = 0; e < count; ++e)
            for (uint64_t r = 0; r < from.rows; ++r)
                for (uint64_t c = 0; c < from.cols; ++c)
                    std::memcpy(to.data() + ((e * from.cols + c) * from.rows + r) * size,
                                from.data + (e * from.rows + r) * from.row_bytes + c * size, size);
        return {from.type, to.data(), from.cols, from.rows, from.rows * size};
    }

    void readExperts(const std::string& p, LayerWeights& l) {
        const ExpertShape& e = d_.experts;
        if (e.width == 0) refuse(p + "ffn_up_exps.weight", "has experts of unknown width");
        l.router = linear(p + "ffn_gate_inp", e.count, d_.width);
        l.router_bias = optionalVector(p + "exp_probs_b.bias", e.count);
        if (find(p + "ffn_gate_up_exps.weight") != nullptr) {
            const Stack both = stack(p + "ffn_gate_up_exps", e.count, 2 * uint64_t{e.width}, d_.width);
            if (both.bias != nullptr) refuse(p + "ffn_gate_up_exps.bias", "is a fused bias, which is not read");
            l.expert_gate = l.expert_up = both;
            l.expert_gate.first = both.first.slice(0, e.width);
            l.expert_up.first = both.first.slice(e.width, e.width);
        } else {
            l.expert_gate = stack(p + "ffn_gate_exps", e.count, e.width, d_.width);
            l.expert_up = stack(p + "ffn_up_exps", e.count, e.width, d_.width);
        }
        l.expert_down = stack(p + "ffn_down_exps", e.count, d_.width, e.width);
        if (by_neuron_ && d_.activationHasZeros() && isFloat(l.expert_down.first.type)) {
            l.expert_down_t = l.expert_down;
            l.expert_down_t.first = transposed(l.expert_down.first, e.count);
            l.expert_down_t.stride = l.expert_down_t.first.row_bytes * e.width;
        }
        if (e.shared_width > 0) {
            l.shared_gate = linear(p + "ffn_gate_shexp", e.shared_width, d_.width);
            l.shared_up = linear(p + "ffn_up_shexp", e.shared_width, d_.width);
            l.shared_down = linear(p + "ffn_down_shexp", d_.width, e.shared_width);
            l.shared_router = optional(p + "ffn_gate_inp_shexp", 1, d_.width);
        }
    }

    void readStreams() {
        const AltupShape& a = d_.altup;
        w_.altup_proj = stack("altup_proj", a.streams - 1, d_.width, d_.width);
        w_.altup_unembd = stack("altup_unembd_proj", a.streams - 1, d_.width, d_.width);
        w_.per_layer_embedding = linear("per_layer_token_embd", d_.vocabulary, uint64_t{a.per_layer} * d_.layers);
        w_.per_layer_model_proj = linear("per_layer_model_proj", uint64_t{a.per_layer} * d_.layers, d_.width);
        w_.per_layer_proj_norm = norm("per_layer_proj_norm", a.per_layer);
    }

    void readAltup(const std::string& p, LayerWeights& l) {
        const uint64_t s = d_.altup.streams, per = d_.altup.per_layer;
        l.altup_router_norm = norm(p + "altup_router_norm", d_.width);
        l.altup_router = linear(p + "altup_router", s, d_.width);
        l.altup_predict = linear(p + "altup_predict_coef", s * s, s);
        l.altup_correct = linear(p + "altup_correct_coef", s, s);
        l.altup_correct_scale = vector(p + "altup_correct_scale.weight", d_.width);
        l.laurel_l = linear(p + "laurel_l", 0, d_.width);
        l.laurel_r = linear(p + "laurel_r", d_.width, l.laurel_l.weight.rows);
        l.laurel_norm = norm(p + "laurel_post_norm", d_.width);
        l.per_layer_gate = linear(p + "inp_gate", per, d_.width);
        l.per_layer_proj = linear(p + "proj", d_.width, per);
        l.per_layer_norm = norm(p + "post_norm", d_.width);
    }

    Weights& w_;
    const Description& d_;
    const gguf::File& file_;
    const bool by_neuron_, any_activation_;
};

Weights::Weights(const Description& description, sparse::Mode mode) { WeightsReader(*this, description, mode).read(); }

namespace {

cpu::RegroupedWeight regroupedWeight(const sparse::DownCopy& copy) {
    const sparse::Regrouped& l = copy.layout;
    const std::byte* data = copy.bytes.data();
    return {l.type,     data,    data + l.scales_at, data + l.common_at, l.neurons,          l.outputs,
            l.group,    l.common_group, l.code_row_bytes,   l.scale_row_bytes,  l.common_row_bytes};
}

}  // namespace

cpu::RegroupedWeight RegroupedStack::operator[](uint64_t e) const {
    cpu::RegroupedWeight one = first;
    for (const std::byte** part : {&one.codes, &one.scales, &one.common}) *part += e * stride;
    return one;
}

void Weights::useCopies(const Description& d, std::shared_ptr<const sparse::DownCopies> copies) {
    copies_ = std::move(copies);
    for (uint32_t i = 0; i < d.layers; ++i) {
        const std::string p = "blk." + std::to_string(i) + ".";
        LayerWeights& l = layers[i];
        if (const sparse::DownCopy* copy = copies_->find(p + "ffn_down.weight"); copy != nullptr && l.down)
            l.down_regrouped = regroupedWeight(*copy);
        if (const sparse::DownCopy* copy = copies_->find(p + "ffn_down_exps.weight"); copy != nullptr && l.expert_down)
            l.expert_down_regrouped = {regroupedWeight(*copy), copy->layout.bytes};
    }
}

void Weights::checkCopies() const {
    if (copies_) copies_->check();
}

}  // namespace hearth::model
