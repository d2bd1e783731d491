#include "engine/runtime/generation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"

namespace hearth::runtime {

std::string_view endReasonName(EndReason reason) {
    switch (reason) {
        case EndReason::none: return "running";
        case EndReason::end_of_generation: return "end";
        case EndReason::stop_string: return "stop string";
        case EndReason::max_tokens: return "token limit";
        case EndReason::context_full: return "context full";
        case EndReason::stopped: return "stopped";
    }
    return "";
}

namespace {

sampling::Parameters withSuppressed(sampling::Parameters parameters, const text::Vocabulary& vocabulary) {
    for (const Token t : vocabulary.suppressed()) parameters.logit_bias.emplace_back(t, -INFINITY);
    return parameters;
}

}  // namespace

Generation::Generation(Session& session, std::vector<Token> prompt, const GenerationOptions& options, OnText on_text)
    : session_(session),
      answer_(session.model().beginAnswer()),
      options_(options),
      on_text_(std::move(on_text)),
      sampler_(withSuppressed(options.sampling, session.model().vocabulary())),
      decoder_(session.model().sharedTokenizer(), {.control_tokens = false, .at_text_start = false}),
      stops_(options.stop) {
    if (prompt.empty()) throw Error("nothing to answer", "the prompt has no tokens", "Write something");
    const uint32_t context = session.model().context();
    if (prompt.size() >= context && options_.overflow == Overflow::stop)
        throw Error(
            "the prompt is too long",
            "it has " + std::to_string(prompt.size()) + " tokens and the context holds " + std::to_string(context),
            "Shorten it or choose a longer context (--ctx)");
    statistics_.prompt_tokens = static_cast<uint32_t>(prompt.size());
    if (options.grammar)
        sampler_.setGrammar(std::make_unique<sampling::GrammarState>(options.grammar, session.model().tokenTrie()));
    sampler_.acceptPrompt(prompt);
    if (prompt.size() >= context) prompt = keptTail(prompt);
    statistics_.reused_tokens = static_cast<uint32_t>(session_.rewindTo(prompt));
    pending_.assign(prompt.begin() + statistics_.reused_tokens, prompt.end());
    if (options_.max_tokens == 0) end(EndReason::max_tokens);
}

/// What remains of a text that fills the context: its first token where that is the beginning-of-text mark, and the newer half.
std::vector<Token> Generation::keptTail(std::span<const Token> tokens) const {
    const size_t half = std::max<size_t>(1, session_.model().context() / 2);
    std::vector<Token> kept;
    if (tokens.front() == session_.model().vocabulary().special().bos) kept.push_back(tokens.front());
    const auto tail = tokens.last(std::min(tokens.size(), half));
    kept.insert(kept.end(), tail.begin(), tail.end());
    return kept;
}

void Generation::advance(size_t count, double seconds) {
    session_.noteComputed(pending().first(count));
    const bool prompt = generated_.empty();
    (prompt ? statistics_.prefill_s : statistics_.decode_s) += seconds;
    if (prompt) statistics_.first_token_s = statistics_.prefill_s;
    fed_ += count;
    // The end of a prompt is where a later edit returns to; recurrent models cannot go back without a copy.
    if (prompt && pending().empty()) session_.sequence().checkpoint();
}

void Generation::choose(std::span<const float> logits) {
    const text::Vocabulary& vocabulary = session_.model().vocabulary();
    // Models pad their logits: rows beyond the vocabulary have no text and are never chosen.
    if (vocabulary.size() > 0) logits = logits.first(std::min(logits.size(), vocabulary.size()));
    const Token token = sampler_.sample(logits);
    sampler_.accept(token);
    generated_.push_back(token);
    ++statistics_.generated_tokens;
    const bool ends = vocabulary.isEog(token) && !options_.ignore_end;
    if (vocabulary.isControl(token) && std::ranges::find(options_.shown_tokens, token) != options_.shown_tokens.end())
        show(decoder_.finish() + std::string(vocabulary.pieceBytes(token)));
    else if (!ends) show(decoder_.push(token));
    if (ends) return end(EndReason::end_of_generation);
    if (stops_.stopped()) return end(EndReason::stop_string);
    if (options_.max_tokens >= 0 && std::cmp_greater_equal(generated_.size(), options_.max_tokens))
        return end(EndReason::max_tokens);
    pending_.assign(1, token);
    fed_ = 0;
    if (session_.sequence().length() >= session_.model().context()) {
        if (options_.overflow == Overflow::stop) return end(EndReason::context_full);
        shiftContext();
    }
}

/// A cache cannot be shifted without changing what it holds (positions are inside the keys), so the kept part is computed anew.
void Generation::shiftContext() {
    std::vector<Token> all(session_.tokens().begin(), session_.tokens().end());
    all.insert(all.end(), pending_.begin(), pending_.end());
    const std::vector<Token> kept = keptTail(all);
    const size_t reused = session_.rewindTo(kept);
    pending_.assign(kept.begin() + static_cast<std::ptrdiff_t>(reused), kept.end());
}

void Generation::show(std::string_view text) {
    const std::string shown = stops_.push(text);
    if (shown.empty()) return;
    text_ += shown;
    if (on_text_) on_text_(shown);
}

void Generation::end(EndReason reason) {
    if (reason != EndReason::stop_string) {
        show(decoder_.finish());
        const std::string rest = stops_.finish();
        if (!rest.empty()) {
            text_ += rest;
            if (on_text_) on_text_(rest);
        }
    }
    reason_ = reason;
    answer_.reset();
}

void Generation::stop() {
    if (!done()) end(EndReason::stopped);
}

namespace {

/// Parts of one pass: a token of each generation that decodes, and of prompts as much as the batch still holds.
std::vector<model::Part> nextParts(std::span<Generation* const> active, uint32_t batch) {
    size_t room = batch;
    std::vector<model::Part> parts;
    std::vector<size_t> take(active.size());
    for (size_t i = 0; i < active.size() && room > 0; ++i)
        if (active[i]->pending().size() == 1) room -= take[i] = 1;
    for (size_t i = 0; i < active.size() && room > 0; ++i)
        if (take[i] == 0) room -= take[i] = std::min(room, active[i]->pending().size());
    for (size_t i = 0; i < active.size(); ++i) {
        const bool last = take[i] == active[i]->pending().size();
        parts.push_back({&active[i]->session().sequence(), active[i]->pending().first(take[i]),
                         last ? model::Part::Logits::last : model::Part::Logits::none});
    }
    return parts;
}

}  // namespace

namespace {

/// The pool asks `stop` for as long as this lives, however the pass ends.
class StopScope {
public:
    StopScope(ThreadPool& pool, std::stop_token stop) : pool_(pool) { pool_.setStop(std::move(stop)); }
    ~StopScope() { pool_.setStop({}); }
    StopScope(const StopScope&) = delete;
    StopScope& operator=(const StopScope&) = delete;

private:
    ThreadPool& pool_;
};

}  // namespace

bool runPass(Model& model, std::span<Generation* const> generations, Matrix<float>& logits, std::stop_token stop) {
    using Clock = std::chrono::steady_clock;
    std::vector<Generation*> active;
    std::ranges::copy_if(generations, std::back_inserter(active), [](const Generation* g) { return !g->done(); });
    if (active.empty()) return false;
    const std::vector<model::Part> parts = nextParts(active, model.forward().maxBatch());
    const auto wanted = std::ranges::count(parts, model::Part::Logits::last, &model::Part::logits);
    logits.resize(static_cast<size_t>(wanted), model.description().vocabulary);
    const auto begin = Clock::now();
    try {
        const StopScope scope(model.pool(), stop);
        throwIfStopped(stop);
        model.forward().run(parts, logits.view());
    } catch (const Stopped&) {
        for (Generation* g : active) {
            g->session().noteComputed({});
            g->stop();
        }
        return false;
    } catch (...) {  // a recurrent sequence may have gone back to its last checkpoint
        for (Generation* g : active) g->session().noteComputed({});
        throw;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    size_t row = 0;
    for (size_t i = 0; i < active.size(); ++i) {
        active[i]->advance(parts[i].tokens.size(), seconds);
        if (parts[i].logits == model::Part::Logits::last) active[i]->choose(logits.view().rowSpan(row++));
    }
    return true;
}

void runAll(Model& model, std::span<Generation* const> generations, std::stop_token stop) {
    Matrix<float> logits;
    while (runPass(model, generations, logits, stop)) {
    }
}

}  // namespace hearth::runtime
