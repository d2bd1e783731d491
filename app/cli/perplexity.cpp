#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/interrupt.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    std::string text_file;
    bool json = false;
};

/// −ln of the probabilities that the model gave, and their mean as a perplexity with its standard error.
class Surprise {
public:
    void add(std::span<const float> logits, int32_t token) {
        const double most = *std::ranges::max_element(logits);
        double sum = 0;
        for (const float l : logits) sum += std::exp(l - most);
        const double nll = std::log(sum) + most - logits[static_cast<size_t>(token)];
        ++count_;
        sum_ += nll;
        squares_ += nll * nll;
    }
    size_t count() const { return count_; }
    double perplexity() const { return std::exp(sum_ / static_cast<double>(count_)); }
    /// Of the mean, carried over to the perplexity: d exp(m) = exp(m) dm.
    double error() const {
        if (count_ < 2) return 0;
        const double n = static_cast<double>(count_), mean = sum_ / n;
        return perplexity() * std::sqrt(std::max(0.0, squares_ / n - mean * mean) / (n - 1));
    }

private:
    size_t count_ = 0;
    double sum_ = 0, squares_ = 0;
};

/// Scores the second half of a window; the first half is what the model has read before.
void scoreWindow(runtime::Model& model, std::span<const int32_t> window, Surprise& surprise) {
    const auto sequence = model.newSequence();
    const size_t first = window.size() / 2, most = mostWithLogits(model);
    Matrix<float> logits;
    for (size_t at = 0; at < window.size() - 1;) {
        const bool scored = at >= first;
        const size_t n = std::min(most, (scored ? window.size() - 1 : first) - at);
        const model::Part part{sequence.get(), window.subspan(at, n),
                               scored ? model::Part::Logits::all : model::Part::Logits::none};
        logits.resize(scored ? n : 0, model.description().vocabulary);
        model.forward().run({&part, 1}, logits.view());
        for (size_t i = 0; scored && i < n; ++i) surprise.add(logits.view().rowSpan(i), window[at + i + 1]);
        at += n;
    }
}

void report(const Surprise& surprise, const Arguments& arguments, size_t windows, uint32_t window) {
    if (arguments.json) {
        const nlohmann::ordered_json json{{"perplexity", surprise.perplexity()},
                                          {"error", surprise.error()},
                                          {"tokens", surprise.count()},
                                          {"windows", windows},
                                          {"ctx", window}};
        return print(json.dump() + "\n");
    }
    char text[128];
    std::snprintf(text, sizeof text, "%.4f ± %.4f  (%zu tokens scored in %zu windows of %u)\n", surprise.perplexity(),
                  surprise.error(), surprise.count(), windows, window);
    print(text);
}

void perplexity(const Arguments& arguments) {
    const std::string text = readFile(arguments.text_file);
    ModelArguments with_context = arguments.model;
    if (with_context.load.ctx == 0) with_context.load.ctx = 512;
    with_context.load.batch = std::min(with_context.load.batch, with_context.load.ctx);
    const auto model = loadModel(with_context);
    printWarnings(*model);
    const text::Token bos = model->vocabulary().addBos() ? model->vocabulary().special().bos : text::kNoToken;
    const std::vector<int32_t> tokens = model->tokenizer().encode(text, {.add_special = false});
    if (tokens.size() < 8)
        throw Error("cannot measure on this text", "it has only " + std::to_string(tokens.size()) + " tokens");
    // Every window begins like a text; the mark takes the place of a token of text.
    const size_t marks = bos == text::kNoToken ? 0 : 1;
    const size_t each = std::min<size_t>(with_context.load.ctx - marks, tokens.size());
    const size_t windows = tokens.size() / each;
    const InterruptibleWork work;
    model->pool().setStop(work.token());
    Progress progress("perplexity");
    Surprise surprise;
    std::vector<int32_t> window;
    for (size_t w = 0; w < windows; ++w) {
        window.clear();
        if (marks > 0) window.push_back(bos);
        window.insert(window.end(), tokens.begin() + static_cast<std::ptrdiff_t>(w * each),
                      tokens.begin() + static_cast<std::ptrdiff_t>((w + 1) * each));
        scoreWindow(*model, window, surprise);
        char so_far[48];
        std::snprintf(so_far, sizeof so_far, "%.3f ± %.3f", surprise.perplexity(), surprise.error());
        progress.show(static_cast<double>(w + 1) / static_cast<double>(windows), so_far);
    }
    progress.clear();
    report(surprise, arguments, windows, static_cast<uint32_t>(window.size()));
}

}  // namespace

void addPerplexity(CLI::App& app) {
    auto* command = app.add_subcommand("perplexity", "Measure how well a model predicts a text");
    auto arguments = std::make_shared<Arguments>();
    addModelArguments(*command, arguments->model);
    command->add_option("--text-file", arguments->text_file, "The text")->required()->type_name("FILE");
    addJson(*command, arguments->json);
    command->footer(
        "The text is cut into windows of --ctx tokens (default 512), one after another; what is left at its end is "
        "not\n"
        "used. In each window the model reads the first half, and the second half is scored.");
    command->callback([arguments] { perplexity(*arguments); });
}

}  // namespace hearth::cli
