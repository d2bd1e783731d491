#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/sampling/candidates.h"
#include "engine/sampling/parameters.h"
#include "engine/sampling/random.h"
#include "engine/sampling/samplers.h"

namespace hearth::sampling {

class GrammarState;

/// Chooses the next token of one conversation. Same parameters, seed, logits and accepted tokens give the same choices,
/// on every machine. Not for use from two threads at once.
class Sampler {
public:
    /// Throws Error when the parameters make no sense.
    explicit Sampler(Parameters parameters);
    ~Sampler();
    Sampler(Sampler&&) noexcept;
    Sampler& operator=(Sampler&&) noexcept;

    /// From now on only tokens that the grammar allows are chosen; accept() moves it on, reset() puts it to its start.
    /// Prompt tokens for the penalties are given to acceptPrompt(), which leaves the grammar alone. nullptr removes it.
    void setGrammar(std::unique_ptr<GrammarState> grammar);
    const GrammarState* grammar() const { return grammar_.get(); }

    /// `logits`: one a token, in vocabulary order; not changed. Throws Error when no token can be chosen.
    Token sample(std::span<const float> logits);
    /// Adds a token to the history (whether it was sampled here or not). Throws Error when the grammar forbids it.
    void accept(Token token);
    void acceptPrompt(std::span<const Token> tokens);
    /// Back to the state after construction: history, random numbers, mirostat, grammar.
    void reset();

    /// The candidates and probabilities of the last sample(), for whoever shows them; for a greedy choice the one
    /// token.
    std::span<Candidate> candidates() { return candidates_.list(); }
    const Parameters& parameters() const { return parameters_; }

private:
    Token sampleFrom(std::span<const float> logits, bool masked);
    void runChain();
    void runStep(Step step);
    bool isPlainGreedy() const;
    void learn(Token token);

    Parameters parameters_;
    Candidates candidates_;
    Penalties penalties_;
    Dry dry_;
    Random random_;
    std::vector<Token> history_;
    std::vector<Candidate> before_adaptive_;
    std::unique_ptr<GrammarState> grammar_;
    double mu_ = 0;  ///< mirostat's limit of surprise, in bits
    double adaptive_sum_ = 0, adaptive_weight_ = 0;  ///< running mean of the chosen probabilities
};

}  // namespace hearth::sampling
