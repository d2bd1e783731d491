#include "engine/model/description.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/model/activation.h"
#include "engine/model/keys.h"

namespace hearth::model {
namespace {

constexpr uint32_t max_layers = 512, max_experts = 1024, max_heads = 4096, max_width = 1u << 20, max_neurons = 1u << 24;

[[noreturn]] void refuse(const std::string& why) {
    throw Error("the model file describes an impossible model", why,
                "The file is damaged or was made by a faulty converter; get it again");
}

std::string list(std::span<const Architecture> all) {
    std::string names;
    for (const Architecture& a : all) names += (names.empty() ? "" : ", ") + std::string(a.name);
    return names;
}

/// Fills a Description step by step from the keys of its file.
class DescriptionReader {
public:
    explicit DescriptionReader(std::shared_ptr<const gguf::File> file)
        : file_(std::move(file)), keys_(*file_, file_->string("general.architecture").value_or("")) {
        d_.file = file_;
    }

    Description read() {
        chooseArchitecture();
        readSizes();
        readHeads();
        readActivation();
        readWindows();
        readRope();
        readScales();
        readExperts();
        readLatent();
        readDeltaNet();
        readAltup();
        return std::move(d_);
    }

private:
    bool has(std::string_view tensor) const { return file_->find(tensor) != nullptr; }

    void chooseArchitecture() {
        const auto name = file_->string("general.architecture");
        if (!name) refuse("general.architecture is missing");
        const Architecture* found = findArchitecture(*name);
        if (found == nullptr)
            throw Error("cannot run this model", "Hearth does not know the architecture \"" + std::string(*name) + "\"",
                        "Architectures it knows: " + list(architectures()));
        d_.architecture = *found;
        d_.name = file_->string("general.name").value_or(file_->path().stem().string());
    }

    void readSizes() {
        const uint32_t blocks = keys_.require("block_count", max_layers);
        const uint32_t predicted = keys_.count("nextn_predict_layers", max_layers, 0);
        if (predicted >= blocks) refuse("all layers are for multi-token prediction");
        d_.layers = blocks - predicted;
        d_.width = keys_.require("embedding_length", max_width);
        d_.context = keys_.count("context_length", 1u << 30, 2048);
        if (d_.context == 0) refuse("the context length is 0");
        const gguf::Tensor& embedding = file_->require("token_embd.weight");
        if (embedding.ne[0] != d_.width || embedding.ne[1] == 0 || embedding.ne[1] > 1u << 24)
            refuse("token_embd.weight is not as wide as the model");
        d_.vocabulary = static_cast<uint32_t>(embedding.ne[1]);
        d_.norm_eps = static_cast<float>(keys_.number(
            d_.architecture.norm == Norm::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon",
            1e-5));
        if (!(d_.norm_eps >= 0)) refuse("the epsilon of the norms is negative");
    }

    void readHeads() {
        const uint32_t n = d_.layers;
        const auto heads = keys_.perLayer("attention.head_count", n, max_heads);
        if (!heads) refuse("attention.head_count is missing");
        const auto kv_heads = keys_.perLayer("attention.head_count_kv", n, max_heads).value_or(*heads);
        const auto neurons =
            keys_.perLayer("feed_forward_length", n, max_neurons).value_or(std::vector<uint32_t>(n, 0));
        const auto key = keys_.count("attention.key_length", max_width),
                   value = keys_.count("attention.value_length", max_width);
        d_.shapes.resize(n);
        for (uint32_t i = 0; i < n; ++i) {
            LayerShape& s = d_.shapes[i];
            s.heads = (*heads)[i];
            s.kv_heads = kv_heads[i];
            if (s.heads == 0 || s.kv_heads == 0 || s.heads % s.kv_heads != 0)
                refuse("layer " + std::to_string(i) + " has " + std::to_string(s.heads) + " heads on " +
                       std::to_string(s.kv_heads) + " key/value heads");
            s.key_width = key.value_or(d_.width / s.heads);
            s.value_width = value.value_or(d_.width / s.heads);
            if (s.key_width == 0 || s.value_width == 0) refuse("a head of attention has no width");
            s.feed_forward = neurons[i];
            s.kv_layer = i;
        }
    }

    /// The file's own word first, then PowerInfer's rule (its files are the ReLU members of their families), then names of
    /// families whose files are ordinary llama ones.
    void readActivation() {
        using cpu::Activation;
        Activation& act = d_.architecture.activation;
        if (const auto named = keys_.string("hidden_activation")) {
            const auto known = activationByName(*named);
            if (!known)
                refuse("hidden_activation \"" + std::string(*named) + "\" is none of silu, gelu, relu, relu2, drelu");
            act = *known;
            d_.activation_source = ActivationSource::file;
        } else if (file_->isPowerInfer()) {
            if (act != Activation::drelu) act = Activation::relu;
            d_.activation_source = ActivationSource::file;
        } else if (act == Activation::silu || act == Activation::gelu) {
            const auto by_name = activationHint(d_.name), by_file = activationHint(file_->path().stem().string());
            if (by_name || by_file) {
                act = by_name.value_or(by_file.value_or(act));
                d_.activation_source = ActivationSource::name;
            }
        }
        d_.predictor_threshold = static_cast<float>(file_->number("powerinfer.sparse_threshold").value_or(0));
    }

    void readWindows() {
        const Architecture& a = d_.architecture;
        d_.window = a.windows == Windows::never ? 0 : keys_.count("attention.sliding_window", 1u << 30, 0);
        const gguf::Value* pattern = keys_.value("attention.sliding_window_pattern");
        uint32_t period = a.window_period;
        if (pattern != nullptr && !pattern->isArray())
            period = keys_.count("attention.sliding_window_pattern", max_layers, period);
        if (pattern != nullptr && pattern->isArray() && pattern->count() < d_.layers)
            refuse("the pattern of sliding windows is too short");
        for (uint32_t i = 0; i < d_.layers; ++i) {
            LayerShape& s = d_.shapes[i];
            if (d_.window > 0) {
                if (pattern != nullptr && pattern->isArray()) s.windowed = pattern->integer(i) != 0;
                else if (period > 0)
                    s.windowed = a.windows == Windows::first_full ? i % period != 0 : i % period < period - 1;
            }
            const bool skips = a.rope_skip_period > 0 && (!a.rope_skip_needs_window || d_.window > 0);
            s.rotated =
                !a.learned_positions && !(skips && static_cast<int>(i) % a.rope_skip_period == a.rope_skip_phase);
        }
    }

    void readRope() {
        RopeShape& r = d_.rope;
        r.n_rot = keys_.count("rope.dimension_count", max_width, d_.shapes[0].key_width);
        r.base = keys_.number("rope.freq_base", 10000);
        if (!(r.base > 0)) refuse("rope.freq_base is not positive");
        const std::string_view type = keys_.string("rope.scaling.type").value_or("linear");
        const double factor = keys_.number("rope.scaling.factor", keys_.number("rope.scale_linear", 1));
        const uint32_t original = keys_.count("rope.scaling.original_context_length", 1u << 30, 0);
        const double attn_factor = keys_.number("rope.scaling.attn_factor", 1);
        if (!(factor > 0)) r.scale = 1;
        else if (type == "linear" || type == "yarn") r.scale = 1 / factor;
        else if (type != "none" && type != "longrope")
            refuse("rope.scaling.type \"" + std::string(type) + "\" is unknown");
        r.yarn = type == "yarn" && factor > 0;
        r.magnitude = attn_factor;
        if (r.yarn) {
            r.yarn_original = original > 0 ? original : d_.context;
            r.yarn_beta_fast = keys_.number("rope.scaling.yarn_beta_fast", 32);
            r.yarn_beta_slow = keys_.number("rope.scaling.yarn_beta_slow", 1);
            r.yarn_mix = keys_.number("rope.scaling.yarn_ext_factor", 1);
            if (r.yarn_mix < 0) r.yarn_mix = 1;
            if (!d_.architecture.yarn_in_scale) r.magnitude *= 1 + 0.1 * std::log(factor);
        }
        d_.rope_original_context = original;
        d_.window_rope = r;
        if (d_.architecture.window_rope_base > 0) {
            d_.window_rope = {.n_rot = r.n_rot,
                              .base = keys_.number("rope.freq_base_swa", d_.architecture.window_rope_base)};
        } else if (!d_.architecture.window_yarn && r.yarn) {
            d_.window_rope = {.n_rot = r.n_rot, .base = r.base};
        }
        if (!keys_.boolean("rope.scaling.finetuned").value_or(true) && d_.architecture.name.starts_with("granite"))
            for (LayerShape& s : d_.shapes) s.rotated = false;
        if (r.n_rot % 2 != 0) refuse("an odd number of elements is to be rotated");
    }

    void readScales() {
        const Architecture& a = d_.architecture;
        d_.embedding_scale = static_cast<float>(a.embedding_sqrt ? std::sqrt(static_cast<double>(d_.width))
                                                                 : keys_.number("embedding_scale", 1));
        d_.residual_scale = static_cast<float>(keys_.number("residual_scale", 1));
        d_.logit_divisor = static_cast<float>(keys_.number("logit_scale", 1));
        if (d_.logit_divisor == 0) refuse("logit_scale is 0");
        double scale =
            a.attention_scale > 0 ? a.attention_scale : 1 / std::sqrt(static_cast<double>(d_.shapes[0].key_width));
        if (a.plain_scale_27b && (d_.layers == 46 || d_.layers == 62))
            scale = 1 / std::sqrt(static_cast<double>(d_.width) / d_.shapes[0].heads);
        const double own = keys_.number("attention.scale", 0);
        d_.attention_scale = static_cast<float>(own != 0 ? own : scale);
        d_.attention_softcap = static_cast<float>(keys_.number("attn_logit_softcapping", a.attention_softcap));
        d_.final_softcap = static_cast<float>(keys_.number("final_logit_softcapping", a.final_softcap));
        d_.q_temperature = static_cast<float>(keys_.number("attention.temperature_scale", 0));
        d_.q_temperature_original = d_.rope_original_context;
        if (d_.q_temperature != 0 && d_.q_temperature_original == 0)
            refuse("a query temperature without an original context length");
    }

    void readExperts() {
        ExpertShape& e = d_.experts;
        e.count = keys_.count("expert_count", max_experts, 0);
        if (e.count == 0) return;
        e.used = keys_.require("expert_used_count", max_experts);
        if (e.used > e.count) refuse("more experts are used than there are");
        e.width = keys_.count("expert_feed_forward_length", max_neurons, 0);
        if (e.width == 0) e.width = d_.shapes[0].feed_forward;
        e.leading_dense = keys_.count("leading_dense_block_count", max_layers, 0);
        e.groups = keys_.count("expert_group_count", max_experts, 0);
        e.groups_used = keys_.count("expert_group_used_count", max_experts, 0);
        if (e.groups <= 1 || e.groups_used == 0 || e.groups_used >= e.groups) e.groups = e.groups_used = 0;
        if (e.groups > 0 &&
            (e.count % e.groups != 0 || e.count / e.groups < 2 || e.used > e.groups_used * (e.count / e.groups)))
            refuse("the groups of experts do not fit their number");
        e.router = d_.architecture.router;
        switch (keys_.count("expert_gating_func", 16, 0)) {
            case 0: break;
            case 1: e.router = Router::softmax; break;
            case 2: e.router = Router::sigmoid; break;
            case 3: e.router = Router::late_softmax; break;
            default: refuse("expert_gating_func is none of softmax, sigmoid, late softmax");
        }
        e.normalise = keys_.boolean("expert_weights_norm").value_or(d_.architecture.normalise_experts);
        e.scale = static_cast<float>(keys_.number("expert_weights_scale", 1));
        if (e.scale == 0) e.scale = 1;
        for (uint32_t i = e.leading_dense; i < d_.layers; ++i) d_.shapes[i].feed_forward = 0;
        const gguf::Tensor* shared = file_->find("blk." + std::to_string(e.leading_dense) + ".ffn_up_shexp.weight");
        if (shared != nullptr) e.shared_width = static_cast<uint32_t>(std::min<uint64_t>(shared->ne[1], max_neurons));
    }

    void readLatent() {
        if (!d_.architecture.latent_attention) return;
        LatentShape& l = d_.latent;
        l.kv_rank = keys_.require("attention.kv_lora_rank", max_width);
        l.q_rank = keys_.count("attention.q_lora_rank", max_width, 0);
        l.rope = d_.rope.n_rot;
        const uint32_t key = keys_.count("attention.key_length_mla", max_width, d_.shapes[0].key_width);
        l.value = keys_.count("attention.value_length_mla", max_width, d_.shapes[0].value_width);
        if (key <= l.rope || l.value == 0) refuse("the heads of its latent attention have no width");
        l.nope = key - l.rope;
        // The cache holds one row a token, the compressed one: keys are all of it, values its first part.
        for (LayerShape& s : d_.shapes) {
            s.kv_heads = 1;
            s.key_width = l.kv_rank + l.rope;
            s.value_width = l.kv_rank;
        }
        // The file stores 0.1 · mscale_all_dim (formats §2.3).
        const double factor = 1 / d_.rope.scale,
                     mscale = 1 + keys_.number("rope.scaling.yarn_log_multiplier", 0) * std::log(factor);
        d_.attention_scale =
            static_cast<float>((d_.rope.yarn ? mscale * mscale : 1) / std::sqrt(static_cast<double>(key)));
    }

    void readDeltaNet() {
        if (!d_.architecture.delta_net) return;
        DeltaNetShape& n = d_.delta_net;
        n.conv_width = keys_.require("ssm.conv_kernel", 64);
        n.inner = keys_.require("ssm.inner_size", max_width);
        n.state = keys_.require("ssm.state_size", 4096);
        n.value_heads = keys_.require("ssm.time_step_rank", max_heads);
        n.key_heads = keys_.require("ssm.group_count", max_heads);
        if (n.inner != n.value_heads * n.state || n.value_heads % n.key_heads != 0)
            refuse("the sizes of its delta net do not fit together");
        const uint32_t interval = keys_.count("full_attention_interval", max_layers, 4);
        if (interval == 0) refuse("full_attention_interval is 0");
        for (uint32_t i = 0; i < d_.layers; ++i) d_.shapes[i].recurrent = (i + 1) % interval != 0;
    }

    void readAltup() {
        if (!d_.architecture.altup) return;
        AltupShape& a = d_.altup;
        a.streams = keys_.require("altup.num_inputs", 16);
        a.active = keys_.count("altup.active_idx", 15, 0);
        a.per_layer = keys_.require("embedding_length_per_layer_input", max_width);
        if (a.active >= a.streams) refuse("altup.active_idx names no stream");
        const uint32_t shared = keys_.count("attention.shared_kv_layers", max_layers, 0);
        if (shared + 2 > d_.layers) refuse("too many layers share keys and values");
        const uint32_t own = d_.layers - shared;
        for (uint32_t i = own; i < d_.layers; ++i) d_.shapes[i].kv_layer = own - (d_.shapes[i].windowed ? 2 : 1);
        if (const gguf::Value* cut = keys_.value("activation_sparsity_scale")) {
            if (cut->count() < d_.layers) refuse("activation_sparsity_scale is too short");
            for (uint32_t i = 0; i < d_.layers; ++i) {
                const double v = cut->number(i);
                d_.shapes[i].gate_cut = std::isfinite(v) && v > 0 ? static_cast<float>(v) : 0.0f;
            }
        }
    }

    std::shared_ptr<const gguf::File> file_;
    Keys keys_;
    Description d_;
};

}  // namespace

Description Description::read(std::shared_ptr<const gguf::File> file) {
    return DescriptionReader(std::move(file)).read();
}

bool Description::activationHasZeros() const {
    using cpu::Activation;
    const Activation a = architecture.activation;
    return a == Activation::relu || a == Activation::relu2 || a == Activation::drelu;
}

uint64_t Description::parameters() const {
    uint64_t n = 0;
    for (const gguf::Tensor& t : file->tensors()) n += t.ne[0] * t.rows();
    return n;
}

}  // namespace hearth::model
