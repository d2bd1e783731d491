#include "engine/runtime/evaluate.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace hearth::runtime {
namespace {

/// Mean and standard error of numbers, one by one.
class Mean {
public:
    void add(double value) {
        ++count_;
        sum_ += value;
        squares_ += value * value;
    }
    size_t count() const { return count_; }
    Estimate estimate() const {
        const double n = static_cast<double>(count_), mean = count_ > 0 ? sum_ / n : 0;
        return {mean, count_ < 2 ? 0 : std::sqrt(std::max(0.0, squares_ / n - mean * mean) / (n - 1))};
    }

private:
    size_t count_ = 0;
    double sum_ = 0, squares_ = 0;
};

/// Of −ln p; the error is carried over: d exp(m) = exp(m) dm.
Estimate perplexityOf(const Mean& surprise) {
    const Estimate mean = surprise.estimate();
    return {std::exp(mean.value), std::exp(mean.value) * mean.error};
}

/// ln Σ exp(logits)
double logSum(std::span<const float> logits) {
    const double most = *std::ranges::max_element(logits);
    double sum = 0;
    for (const float l : logits) sum += std::exp(l - most);
    return std::log(sum) + most;
}

class Scores {
public:
    void add(std::span<const float> logits, text::Token token) {
        surprise_.add(logSum(logits) - logits[static_cast<size_t>(token)]);
    }
    void compare(std::span<const float> reference, std::span<const float> logits, text::Token token) {
        const double reference_sum = logSum(reference), sum = logSum(logits);
        surprise_.add(sum - logits[static_cast<size_t>(token)]);
        reference_.add(reference_sum - reference[static_cast<size_t>(token)]);
        double divergence = 0;
        for (size_t t = 0; t < logits.size(); ++t) {
            const double ln_p = reference[t] - reference_sum;
            divergence += std::exp(ln_p) * (ln_p - (logits[t] - sum));
        }
        divergence_.add(std::max(0.0, divergence));
        const auto top = [](std::span<const float> l) { return std::ranges::max_element(l) - l.begin(); };
        agreement_.add(top(reference) == top(logits) ? 1 : 0);
    }

    Evaluation evaluation(size_t windows, uint32_t window) const {
        Evaluation e{surprise_.count(), windows, window, perplexityOf(surprise_), {}};
        if (reference_.count() > 0)
            e.against = {perplexityOf(reference_), divergence_.estimate(), agreement_.estimate()};
        return e;
    }

private:
    Mean surprise_, reference_, divergence_, agreement_;
};

/// Gives the model its mode back.
class ModeScope {
public:
    explicit ModeScope(model::Forward& forward) : forward_(forward), before_(forward.choice()) {}
    ~ModeScope() { forward_.setChoice(before_); }
    ModeScope(const ModeScope&) = delete;
    ModeScope& operator=(const ModeScope&) = delete;

private:
    model::Forward& forward_;
    sparse::Choice before_;
};

/// One of the two that are compared: its mode, what it remembers, its logits.
struct Reader {
    sparse::Choice mode;
    std::unique_ptr<model::Sequence> sequence;
    Matrix<float> logits;

    void read(Model& model, std::span<const text::Token> tokens, bool scored) {
        const model::Part part{sequence.get(), tokens,
                               scored ? model::Part::Logits::all : model::Part::Logits::none};
        logits.resize(scored ? tokens.size() : 0, model.description().vocabulary);
        model.forward().setChoice(mode);
        model.forward().run({&part, 1}, logits.view());
    }
};

void scoreWindow(Model& model, std::span<const text::Token> window, Reader& reader, Reader* reference,
                 Scores& scores) {
    const size_t first = window.size() / 2, most = mostWithLogits(model);
    for (Reader* r : {&reader, reference})
        if (r != nullptr) r->sequence = model.newSequence();
    for (size_t at = 0; at < window.size() - 1;) {
        const bool scored = at >= first;
        const size_t n = std::min(most, (scored ? window.size() - 1 : first) - at);
        reader.read(model, window.subspan(at, n), scored);
        if (reference != nullptr) reference->read(model, window.subspan(at, n), scored);
        for (size_t i = 0; scored && i < n; ++i) {
            const text::Token next = window[at + i + 1];
            const std::span<const float> row = reader.logits.view().rowSpan(i);
            if (reference != nullptr) scores.compare(reference->logits.view().rowSpan(i), row, next);
            else scores.add(row, next);
        }
        at += n;
    }
}

}  // namespace

std::vector<std::vector<text::Token>> windowsOf(const Model& model, std::string_view text, uint32_t window) {
    const text::Token bos = model.vocabulary().addBos() ? model.vocabulary().special().bos : text::kNoToken;
    return windowsOf(model.tokenizer().encode(text, {.add_special = false}), window, bos);
}

std::vector<std::vector<text::Token>> windowsOf(std::span<const text::Token> tokens, uint32_t window, text::Token bos) {
    if (tokens.size() < 8)
        throw Error("cannot measure on this text", "it has only " + std::to_string(tokens.size()) + " tokens");
    // The mark takes the place of a token of text.
    const size_t marks = bos == text::kNoToken ? 0 : 1, each = std::min<size_t>(window - marks, tokens.size());
    std::vector<std::vector<text::Token>> windows(tokens.size() / each);
    for (size_t w = 0; w < windows.size(); ++w) {
        if (marks > 0) windows[w].push_back(bos);
        const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(w * each);
        windows[w].insert(windows[w].end(), first, first + static_cast<std::ptrdiff_t>(each));
    }
    return windows;
}

Evaluation evaluate(Model& model, std::span<const std::vector<text::Token>> windows, const sparse::Choice& mode,
                    const std::optional<sparse::Choice>& reference,
                    const std::function<void(const Evaluation&)>& progress) {
    const ModeScope scope(model.forward());
    Reader reader{mode, nullptr, {}}, other{reference.value_or(mode), nullptr, {}};
    Scores scores;
    Evaluation evaluation;
    for (size_t w = 0; w < windows.size(); ++w) {
        scoreWindow(model, windows[w], reader, reference ? &other : nullptr, scores);
        evaluation = scores.evaluation(w + 1, static_cast<uint32_t>(windows[w].size()));
        if (progress) progress(evaluation);
    }
    return evaluation;
}

size_t mostWithLogits(Model& model) {
    const size_t fitting = (size_t{256} << 20) / (model.description().vocabulary * sizeof(float));
    return std::clamp<size_t>(fitting, 1, model.forward().maxBatch());
}

}  // namespace hearth::runtime
