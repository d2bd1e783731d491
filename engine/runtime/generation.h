#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/runtime/session.h"
#include "engine/sampling/grammar.h"
#include "engine/sampling/grammar_state.h"
#include "engine/sampling/sampler.h"
#include "engine/sampling/stop_matcher.h"
#include "engine/text/streaming_decoder.h"

namespace hearth::runtime {

/// What happens when a reply reaches the end of the context.
enum class Overflow : uint8_t {
    stop,    ///< the reply ends, and says so
    shift,   ///< the older half of the text is forgotten and the kept tail computed anew
};

enum class EndReason : uint8_t { none, end_of_generation, stop_string, max_tokens, context_full, stopped };
std::string_view endReasonName(EndReason reason);

struct GenerationOptions {
    sampling::Parameters sampling;
    std::shared_ptr<const sampling::Grammar> grammar;   ///< or nullptr
    int64_t max_tokens = -1;                            ///< −1 = until the end
    std::vector<std::string> stop;
    Overflow overflow = Overflow::stop;
    std::vector<Token> shown_tokens;  ///< control tokens that appear in the text all the same (markers)
    bool ignore_end = false;  ///< goes on after an end-of-generation token (benchmarks)
};

struct GenerationStatistics {
    uint32_t prompt_tokens = 0, reused_tokens = 0, generated_tokens = 0;
    double prefill_s = 0, decode_s = 0,
           first_token_s = 0;  ///< wall time of the passes that this generation took part in
};

/// One prompt and its reply: a state machine that says what to compute next and takes logits. Driven by runAll().
class Generation {
public:
    using OnText = std::function<void(std::string_view)>;

    /// Rewinds the session to what it shares with `prompt` (not empty). `on_text` gets whole characters, never a part of
    /// a stop string. Throws Error when the prompt does not fit in the context or the options make no sense.
    Generation(Session& session, std::vector<Token> prompt, const GenerationOptions& options, OnText on_text);

    bool done() const { return reason_ != EndReason::none; }
    EndReason reason() const { return reason_; }
    const std::string& text() const { return text_; }
    std::span<const Token> tokens() const { return generated_; }  ///< sampled so far, the end token included
    const GenerationStatistics& statistics() const { return statistics_; }
    Session& session() { return session_; }

    /// Tokens still to be computed before the next choice.
    std::span<const Token> pending() const { return std::span(pending_).subspan(fed_); }
    /// `count` of them have been computed, in `seconds`.
    void advance(size_t count, double seconds);
    /// Chooses the next token, once nothing is pending.
    void choose(std::span<const float> logits);
    void stop();

private:
    void show(std::string_view text);
    void end(EndReason reason);
    void shiftContext();
    std::vector<Token> keptTail(std::span<const Token> tokens) const;

    Session& session_;
    std::shared_ptr<void> answer_;   ///< what Model::beginAnswer() gave, until the end
    GenerationOptions options_;
    OnText on_text_;
    sampling::Sampler sampler_;
    text::StreamingDecoder decoder_;
    sampling::StopMatcher stops_;
    std::vector<Token> pending_, generated_;
    size_t fed_ = 0;
    std::string text_;
    EndReason reason_ = EndReason::none;
    GenerationStatistics statistics_;
};

/// One pass over all that have not ended, their tokens together; false when there were none left. When `stop` asks, those
/// that have not ended end as stopped; sessions stay usable. `logits` is working memory, kept from pass to pass.
/// Throws Error when the pass fails.
bool runPass(Model& model, std::span<Generation* const> generations, Matrix<float>& logits, std::stop_token stop = {});
/// Passes until all have ended.
void runAll(Model& model, std::span<Generation* const> generations, std::stop_token stop = {});

}  // namespace hearth::runtime
