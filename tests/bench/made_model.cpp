#include "tests/bench/made_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "tests/bench/made_rows.h"

namespace hearth::bench {
namespace {

using gguf::Type;

constexpr Shape kShapes[] = {
    {"0.1B", "llama", 768, 2048, 12, 12, 4, 64, 32000},
    {"1.1B", "llama", 2048, 5632, 22, 32, 4, 64, 32000},
    {"7B", "llama", 4096, 11008, 32, 32, 32, 128, 32000},
    {"8B", "llama", 4096, 14336, 32, 32, 8, 128, 128256},
    {"13B", "llama", 5120, 13824, 40, 40, 40, 128, 32000},
    {"70B", "llama", 8192, 28672, 80, 64, 8, 128, 32000},
    {"nemotron-4B", "nemotron", 3072, 9216, 32, 24, 8, 128, 256000},
    {"smallthinker-4B", "smallthinker", 1536, 768, 32, 12, 2, 128, 151936, 32, 4},
};

/// Standard deviation of the residual stream as the embedding leaves it. Layers add little to it, so that the share of
/// common() stays what it is and gates do what they were shifted for, in the last layer as in the first.
constexpr float kStream = 8, kBranch = 0.25f;
/// Rows that stand for all others where their number does not matter.
constexpr uint64_t kPlainRows = 1024;

/// The point below which a normal variable lies with probability `share`, by bisection.
double normalQuantile(double share) {
    double low = -8, high = 8;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
    }
    return low;
}

class ModelWriter {
public:
    explicit ModelWriter(const Recipe& recipe) : recipe_(recipe), s_(recipe.shape), pool_(0) {}

    double write(const std::filesystem::path& path) {
        keys();
        vocabulary();
        const float embedding = kStream * kCommonShare;
        add("token_embd.weight", recipe_.types.base, {s_.width, s_.vocabulary},
            {.deviation = embedding, .shift = embedding}, 4096);
        add("output.weight", recipe_.types.mix ? Type::Q6_K : recipe_.types.base, {s_.width, s_.vocabulary}, input());
        norm("output_norm", s_.width);
        for (uint64_t i = 0; i < s_.layers; ++i) layer(i);
        writer_.write(path);
        return recall_;
    }

private:
    bool is(std::string_view architecture) const { return s_.architecture == architecture; }
    bool zeros() const { return recipe_.zeros > 0; }
    void set(const std::string& key, uint64_t value) {
        writer_.set(std::string(s_.architecture) + "." + key, static_cast<uint32_t>(value));
    }

    void keys() {
        writer_.set("general.architecture", s_.architecture);
        writer_.set("general.name", "made to be timed, " + std::string(s_.name));
        writer_.set("general.quantization_version", uint32_t{2});
        set("block_count", s_.layers);
        set("context_length", 8192);
        set("embedding_length", s_.width);
        set("feed_forward_length", s_.neurons);
        set("attention.head_count", s_.heads);
        set("attention.head_count_kv", s_.kv_heads);
        set("attention.key_length", s_.head_width);
        set("attention.value_length", s_.head_width);
        set("vocab_size", s_.vocabulary);
        set("rope.dimension_count", is("nemotron") ? s_.head_width / 2 : s_.head_width);
        writer_.set(std::string(s_.architecture) +
                        (is("nemotron") ? ".attention.layer_norm_epsilon" : ".attention.layer_norm_rms_epsilon"),
                    1e-5f);
        std::string activation = recipe_.activation;
        if (activation.empty() && zeros() && is("llama")) activation = "relu";
        if (!activation.empty()) writer_.set(std::string(s_.architecture) + ".hidden_activation", activation);
        if (s_.experts == 0) return;
        set("expert_count", s_.experts);
        set("expert_used_count", s_.experts_used);
        set("expert_feed_forward_length", s_.neurons);
        set("expert_gating_func", 1);
        set("attention.sliding_window", 4096);
    }

    /// Bytes, so that any text can be written, and words that no text contains.
    void vocabulary() {
        std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
        std::vector<int32_t> types{2, 3, 3};
        for (unsigned byte = 0; byte < 256 && tokens.size() < s_.vocabulary; ++byte) {
            char text[8];
            std::snprintf(text, sizeof text, "<0x%02X>", byte);
            tokens.emplace_back(text);
            types.push_back(6);
        }
        while (tokens.size() < s_.vocabulary) tokens.push_back("\xe2\x96\x81t" + std::to_string(tokens.size()));
        types.resize(s_.vocabulary, 1);
        tokens.resize(s_.vocabulary);
        std::vector<float> scores(s_.vocabulary);
        for (size_t i = 0; i < scores.size(); ++i) scores[i] = -static_cast<float>(i);
        writer_.set("tokenizer.ggml.model", "llama");
        writer_.setArray("tokenizer.ggml.tokens", std::span<const std::string>(tokens));
        writer_.setArray("tokenizer.ggml.scores", std::span<const float>(scores));
        writer_.setArray("tokenizer.ggml.token_type", std::span<const int32_t>(types));
        writer_.set("tokenizer.ggml.bos_token_id", uint32_t{1});
        writer_.set("tokenizer.ggml.eos_token_id", uint32_t{2});
        writer_.set("tokenizer.ggml.unknown_token_id", uint32_t{0});
    }

    void layer(uint64_t i) {
        const std::string p = "blk." + std::to_string(i) + ".";
        const uint64_t q = s_.heads * s_.head_width, kv = s_.kv_heads * s_.head_width;
        const Type base = recipe_.types.base, more = recipe_.types.mix && hasMoreBits(i) ? Type::Q6_K : base;
        norm(p + "attn_norm", s_.width);
        norm(p + "ffn_norm", s_.width);
        add(p + "attn_q.weight", base, {s_.width, q}, input());
        add(p + "attn_k.weight", base, {s_.width, kv}, input());
        add(p + "attn_v.weight", more, {s_.width, kv}, input());
        add(p + "attn_output.weight", base, {q, s_.width}, {.deviation = kBranch / std::sqrt(static_cast<float>(q))});
        if (s_.experts > 0) {
            // The stream is no normalised input, and its common part must not decide for the same experts every time.
            add(p + "ffn_gate_inp.weight", Type::F32, {s_.width, s_.experts},
                {.deviation = 2 / (kStream * std::sqrt(static_cast<float>(s_.width))), .balanced = true},
                s_.experts * s_.layers);
            feedForward(p, "_exps", more, s_.experts);
        } else {
            feedForward(p, "", more, 1);
        }
    }

    bool hasMoreBits(uint64_t i) const {
        const uint64_t eighth = s_.layers / 8;
        return i < eighth || i >= 7 * s_.layers / 8 || (i - eighth) % 3 == 2;
    }

    void feedForward(const std::string& p, const std::string& suffix, Type down_type, uint64_t count) {
        const bool gated = !is("nemotron");
        // Half of the neurons of a normal gate fire, so that is what the scale of the down-projection is made for.
        const Values down{.deviation = kBranch / std::sqrt(0.5f * static_cast<float>(s_.neurons))};
        const Type base = recipe_.types.base;
        const std::string decides = gated ? "ffn_gate" : "ffn_up";
        const Rows& gates =
            add(p + decides + suffix + ".weight", base, {s_.width, s_.neurons, count}, gate(), s_.neurons);
        if (recipe_.rank > 0 && recall_ == 1) recall_ = gates.recall(zeros() ? 1 - recipe_.zeros : 0.5);
        if (gated) add(p + "ffn_up" + suffix + ".weight", base, {s_.width, s_.neurons, count}, input());
        if (recipe_.down_transposed)
            add(p + "ffn_down_t" + suffix + ".weight", down_type, {s_.width, s_.neurons, count}, down);
        else add(p + "ffn_down" + suffix + ".weight", down_type, {s_.neurons, s_.width, count}, down);
    }

    /// Values that give outputs of variance 1 for a normalised input.
    Values input() const { return {.deviation = 1 / std::sqrt(static_cast<float>(s_.width))}; }

    /// The same, with common() shifting the outputs so far below zero that the wanted share is negative.
    Values gate() const {
        Values v = input();
        v.rank = recipe_.rank;
        v.noise = static_cast<float>(recipe_.noise);
        if (zeros())
            v.shift =
                static_cast<float>(-normalQuantile(recipe_.zeros)) / (kCommonShare * static_cast<float>(s_.width));
        return v;
    }

    void norm(const std::string& name, uint64_t n) {
        static const std::vector<float> ones(1 << 16, 1.0f), noughts(1 << 16, 0.0f);
        writer_.addTensor(name + ".weight", Type::F32, std::vector<uint64_t>{n},
                          std::as_bytes(std::span(ones).first(n)));
        if (is("nemotron"))
            writer_.addTensor(name + ".bias", Type::F32, std::vector<uint64_t>{n},
                              std::as_bytes(std::span(noughts).first(n)));
    }

    const Rows& add(const std::string& name, Type type, const std::vector<uint64_t>& ne, const Values& values,
                    uint64_t pool_rows = kPlainRows) {
        uint64_t rows = 1;
        for (size_t d = 1; d < ne.size(); ++d) rows *= ne[d];
        const auto key = std::tuple(type, ne[0], pool_rows, values.deviation, values.shift, values.rank);
        std::unique_ptr<Rows>& drawn = rows_[key];
        if (!drawn)
            drawn = std::make_unique<Rows>(pool_, type, pool_rows, ne[0], values, recipe_.seed * 1000 + rows_.size());
        writer_.addTensor(name, type, ne, drawn->source(rows, recipe_.seed * 1000003 + ++tensors_));
        return *drawn;
    }

    const Recipe& recipe_;
    const Shape& s_;
    ThreadPool pool_;
    gguf::Writer writer_;
    std::map<std::tuple<Type, uint64_t, uint64_t, float, float, uint32_t>, std::unique_ptr<Rows>> rows_;
    uint64_t tensors_ = 0;
    double recall_ = 1;
};

}  // namespace

std::span<const Shape> shapes() { return kShapes; }

double writeModel(const Recipe& recipe, const std::filesystem::path& path) { return ModelWriter(recipe).write(path); }

}  // namespace hearth::bench
