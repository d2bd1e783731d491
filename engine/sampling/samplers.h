#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/sampling/candidates.h"
#include "engine/sampling/random.h"
#include "engine/sampling/token.h"

/// One function a sampler, each a step on the candidates. Rules: research, formats §4.1. p is always the softmax of the
/// logits of the candidates that are left when the step begins.
namespace hearth::sampling {

void addLogitBias(Candidates& candidates, std::span<const std::pair<Token, float>> bias);

/// Over the last `last_n` tokens of the history (-1 = all): logit ≤ 0 is multiplied by `repeat`, others are divided
/// by it; then − count·frequency − presence. Keeps its scratch memory.
class Penalties {
public:
    int32_t last_n = 64;
    double repeat = 1, frequency = 0, presence = 0;
    bool isOff() const { return last_n == 0 || (repeat == 1 && frequency == 0 && presence == 0); }
    void apply(Candidates& candidates, std::span<const Token> history);

private:
    std::vector<Token> recent_;
};

/// "Don't repeat yourself" (p-e-w, 2024): a token that would extend a repetition of length L ≥ allowed_length of the
/// end of the history loses multiplier·base^(L − allowed_length). No repetition reaches over the last breaker, and a
/// token that is a breaker by itself is never punished. Linear in last_n (Z-algorithm).
class Dry {
public:
    double multiplier = 0, base = 1.75;
    int32_t allowed_length = 2, last_n = 64;
    std::vector<std::vector<Token>> breakers;
    bool isOff() const { return multiplier == 0 || base < 1 || last_n == 0; }
    void apply(Candidates& candidates, std::span<const Token> history);

private:
    size_t freeTail(std::span<const Token> recent) const;
    std::vector<size_t> z_;
    std::vector<std::pair<Token, size_t>> repeats_;  ///< token, longest repetition that it would extend
};

/// Keeps logit ≥ max − n·σ, σ the population deviation of the logits ("Top-nσ", arXiv 2411.07641). n ≤ 0 = off.
void topNSigma(Candidates& candidates, double n);
void topK(Candidates& candidates, int32_t k);
/// Locally typical (arXiv 2202.00666): by rising |−ln p − H| until Σp > p. p ≥ 1 = off.
void typical(Candidates& candidates, double p, int32_t min_keep);
/// Nucleus (arXiv 1904.09751): the shortest best-first prefix with Σp ≥ p. p ≥ 1 = off.
void topP(Candidates& candidates, double p, int32_t min_keep);
/// logit ≥ max + ln p (arXiv 2407.01082). p ≤ 0 = off.
void minP(Candidates& candidates, double p, int32_t min_keep);
/// Exclude top choices (p-e-w, 2024): with `probability`, of the tokens with p ≥ threshold only the least likely stays.
/// Draws a number only where the probability is neither 0 nor 1.
void xtc(Candidates& candidates, double probability, double threshold, int32_t min_keep, Random& random);
/// Divides by t; t ≤ 0 leaves the best token. With a range: T between max(0, t − range) and t + range by
/// (H / ln n)^exponent, H the entropy.
void temperature(Candidates& candidates, double t, double range = 0, double exponent = 1);
/// "Adaptive p": pulls the running mean of the chosen probabilities towards a target. `average` is that mean so far.
void adaptiveP(Candidates& candidates, double target, double average);

/// Truncation of mirostat 2 (arXiv 2007.14966): keeps −log2 p ≤ mu, at least one token.
void mirostat2(Candidates& candidates, double mu);
/// Truncation of mirostat 1: k from the Zipf exponent s of the best m tokens, s = Σ t·b / Σ t².
void mirostat1(Candidates& candidates, double mu, int32_t m);

/// Draws an index into the list by p, which must be filled.
size_t draw(std::span<const Candidate> list, Random& random);

}  // namespace hearth::sampling
