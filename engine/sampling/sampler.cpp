#include "engine/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/sampling/grammar_state.h"

namespace hearth::sampling {

Sampler::Sampler(Parameters parameters) : parameters_(std::move(parameters)) {
    parameters_.check();
    penalties_.last_n = parameters_.penalty_last_n;
    penalties_.repeat = parameters_.penalty_repeat;
    penalties_.frequency = parameters_.penalty_frequency;
    penalties_.presence = parameters_.penalty_presence;
    dry_.multiplier = parameters_.dry_multiplier;
    dry_.base = parameters_.dry_base;
    dry_.allowed_length = parameters_.dry_allowed_length;
    dry_.last_n = parameters_.dry_last_n;
    dry_.breakers = parameters_.dry_breakers;
    history_.reserve(4096);
    reset();
}

Sampler::~Sampler() = default;
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;

void Sampler::reset() {
    random_.seed(parameters_.seed);
    history_.clear();
    mu_ = 2 * parameters_.mirostat_tau;
    // The mean starts as if the target had been met for ever.
    const double weight = 1 / (1 - parameters_.adaptive_decay);
    adaptive_weight_ = weight;
    adaptive_sum_ = weight * std::max(parameters_.adaptive_target, 0.0);
    if (grammar_) grammar_->reset();
}

void Sampler::setGrammar(std::unique_ptr<GrammarState> grammar) { grammar_ = std::move(grammar); }

void Sampler::accept(Token token) {
    if (grammar_) grammar_->accept(token);
    history_.push_back(token);
}

void Sampler::acceptPrompt(std::span<const Token> tokens) {
    history_.insert(history_.end(), tokens.begin(), tokens.end());
}

/// Whether the chain can only end with the best token: then nothing but the logits matters.
bool Sampler::isPlainGreedy() const {
    const auto& p = parameters_;
    const bool has_temperature = std::find(p.sequence.begin(), p.sequence.end(), Step::Temperature) != p.sequence.end();
    const bool cuts_best = p.typical_p < 1 || (p.xtc_probability > 0 && p.xtc_threshold <= 0.5);
    const bool penalises_late = !penalties_.isOff() || !dry_.isOff();
    return (has_temperature || p.mirostat != 0) && p.temperature <= 0 && p.dynatemp_range <= 0 &&
           (p.mirostat != 0 || (!cuts_best && !penalises_late));
}

void Sampler::runStep(Step step) {
    const auto& p = parameters_;
    switch (step) {
        case Step::Penalties: return penalties_.apply(candidates_, history_);
        case Step::Dry: return dry_.apply(candidates_, history_);
        case Step::TopNSigma: return topNSigma(candidates_, p.top_n_sigma);
        case Step::TopK: return topK(candidates_, p.top_k);
        case Step::Typical: return typical(candidates_, p.typical_p, p.min_keep);
        case Step::TopP: return topP(candidates_, p.top_p, p.min_keep);
        case Step::MinP: return minP(candidates_, p.min_p, p.min_keep);
        case Step::Xtc: return xtc(candidates_, p.xtc_probability, p.xtc_threshold, p.min_keep, random_);
        case Step::Temperature: return temperature(candidates_, p.temperature, p.dynatemp_range, p.dynatemp_exponent);
        case Step::AdaptiveP: return;   // always last, see runChain()
    }
}

void Sampler::runChain() {
    const auto& p = parameters_;
    if (p.mirostat != 0) {
        temperature(candidates_, p.temperature, p.dynatemp_range, p.dynatemp_exponent);
        if (p.mirostat == 1) mirostat1(candidates_, mu_, p.mirostat_m);
        else mirostat2(candidates_, mu_);
        return;
    }
    for (const Step step : p.sequence) runStep(step);
    if (p.adaptive_target < 0) return;
    candidates_.softmax();
    before_adaptive_ = candidates_.list();
    adaptiveP(candidates_, p.adaptive_target, adaptive_sum_ / adaptive_weight_);
}

/// What mirostat and adaptive-p take from the final choice; p of the candidates must be filled.
void Sampler::learn(Token token) {
    const auto& p = parameters_;
    const auto same = [&](const Candidate& c) { return c.id == token; };
    if (p.mirostat != 0) {
        const auto& list = candidates_.list();
        const double surprise = -std::log2(std::find_if(list.begin(), list.end(), same)->p);
        mu_ -= p.mirostat_eta * (surprise - p.mirostat_tau);
    } else if (p.adaptive_target >= 0 && !before_adaptive_.empty()) {
        const double chosen = std::find_if(before_adaptive_.begin(), before_adaptive_.end(), same)->p;
        adaptive_sum_ = chosen + p.adaptive_decay * adaptive_sum_;
        adaptive_weight_ = 1 + p.adaptive_decay * adaptive_weight_;
    }
}

Token Sampler::sampleFrom(std::span<const float> logits, bool masked) {
    candidates_.reset(logits);
    if (masked) {
        const std::span<const uint64_t> allowed = grammar_->mask();
        const std::span<float> row = candidates_.dense();
        for (size_t i = 0; i < row.size(); ++i)
            if (i / 64 >= allowed.size() || !(allowed[i / 64] >> (i % 64) & 1))
                row[i] = -std::numeric_limits<float>::infinity();
    }
    addLogitBias(candidates_, parameters_.logit_bias);
    if (isPlainGreedy() && parameters_.adaptive_target < 0) {
        candidates_.keepBestOne();
        candidates_.softmax();
        return candidates_.list().front().id;
    }
    runChain();
    candidates_.softmax();
    const auto& list = candidates_.list();
    return list[draw(list, random_)].id;
}

Token Sampler::sample(std::span<const float> logits) {
    Token token = sampleFrom(logits, false);
    // Most choices fit a grammar anyway, and one token is checked much faster than all of them.
    if (grammar_ && !grammar_->allowed(token)) token = sampleFrom(logits, true);
    learn(token);
    return token;
}

}  // namespace hearth::sampling
