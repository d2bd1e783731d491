#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/sampling/token.h"

namespace hearth::gguf {
class File;
}

namespace hearth::sampling {

enum class Step { Penalties, Dry, TopNSigma, TopK, Typical, TopP, MinP, Xtc, Temperature, AdaptiveP };

/// Settings of the sampler chain; the defaults are those that users of GGUF files know (research: formats §4.1).
struct Parameters {
    uint64_t seed = 0;

    /// The order of the chain. A step whose parameters say "off" costs nothing.
    std::vector<Step> sequence{Step::Penalties, Step::Dry,  Step::TopNSigma, Step::TopK,       Step::Typical,
                               Step::TopP,      Step::MinP, Step::Xtc,       Step::Temperature};

    int32_t penalty_last_n = 64;         ///< tokens looked back; 0 = off, -1 = all
    double penalty_repeat = 1.0;         ///< 1 = off
    double penalty_frequency = 0.0;
    double penalty_presence = 0.0;

    double dry_multiplier = 0.0;         ///< 0 = off
    double dry_base = 1.75;              ///< below 1 = off
    int32_t dry_allowed_length = 2;
    int32_t dry_last_n = 64;             ///< 0 = off, -1 = all
    std::vector<std::vector<Token>> dry_breakers;   ///< token sequences; see dryBreakers()

    double top_n_sigma = -1.0;           ///< ≤ 0 = off
    int32_t top_k = 40;                  ///< ≤ 0 = off
    double typical_p = 1.0;              ///< ≥ 1 = off
    double top_p = 0.95;                 ///< ≥ 1 = off
    double min_p = 0.05;                 ///< ≤ 0 = off
    int32_t min_keep = 1;                ///< candidates that typical, top-p, min-p and XTC leave at least
    double xtc_probability = 0.0;        ///< 0 = off
    double xtc_threshold = 0.10;         ///< > 0.5 = off
    double temperature = 0.8;            ///< ≤ 0 = the best token
    double dynatemp_range = 0.0;         ///< 0 = fixed temperature
    double dynatemp_exponent = 1.0;

    int32_t mirostat = 0;                ///< 1 or 2: temperature and mirostat instead of the chain
    double mirostat_tau = 5.0;
    double mirostat_eta = 0.1;
    int32_t mirostat_m = 100;            ///< tokens from which mirostat 1 estimates the exponent

    double adaptive_target = -1.0;       ///< < 0 = off; otherwise the last step, whatever the sequence says
    double adaptive_decay = 0.9;

    std::vector<std::pair<Token, float>> logit_bias;   ///< added before everything; -infinity bans a token

    /// Throws Error naming the first value that makes no sense (NaN, negative counts, a step named twice …).
    void check() const;
};

/// A chain order as people write it: names separated by ; or , ("top_k;top_p;temperature") or the short form of one
/// letter a step ("edskypmxt"). Throws Error naming what is unknown.
std::vector<Step> parseSequence(std::string_view text);
std::string_view stepName(Step step);

/// `defaults` with the values that the file recommends in `general.sampling.*`, except for the names in `set_by_user`
/// (names of the fields above, "sequence" for the order). A recommendation that makes no sense is an Error.
Parameters fromGguf(const gguf::File& file, Parameters defaults, const std::set<std::string>& set_by_user = {});

/// Token sequences for Parameters::dry_breakers: every token of the vocabulary whose text holds one of `texts`, and
/// `tokenize(text)` where given, so that a breaker of several tokens is seen too.
std::vector<std::vector<Token>> dryBreakers(const std::vector<std::string>& texts, const VocabularyView& vocabulary,
                                            const std::function<std::vector<Token>(std::string_view)>& tokenize = {});

/// The texts that break a repetition where the user names none: line end, colon, quote, asterisk.
std::vector<std::string> defaultDryBreakers();

}  // namespace hearth::sampling
