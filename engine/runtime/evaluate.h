#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/runtime/model.h"

/// How well a model predicts a text, and how much of that a sparse mode costs.
namespace hearth::runtime {

/// A mean over scored tokens and its standard error.
struct Estimate {
    double value = 0, error = 0;
};

struct Evaluation {
    size_t tokens = 0, windows = 0;   ///< tokens scored
    uint32_t window = 0;              ///< tokens of a window
    Estimate perplexity;
    /// Where a reference was asked for: its perplexity, the mean over tokens of KL(reference ‖ mode) in nats, and the share of
    /// tokens whose most probable next token is the same.
    struct Against {
        Estimate perplexity, divergence, agreement;
    };
    std::optional<Against> against;
};

/// A text cut into windows, one after another; what is left at its end is not used. Where the model wants a mark at the
/// beginning of a text, each window begins with it. Throws Error: fewer than 8 tokens.
std::vector<std::vector<text::Token>> windowsOf(const Model& model, std::string_view text, uint32_t window);
/// The same of tokens; `bos`: the mark, or kNoToken.
std::vector<std::vector<text::Token>> windowsOf(std::span<const text::Token> tokens, uint32_t window, text::Token bos);

/// In each window the model reads the first half, and the second half is scored. With a `reference`, both modes compute the
/// same tokens in turns on the same weights; a model loaded for `mode` can compute it. The model's mode afterwards is what it
/// was. `progress` is called after each window with what was scored so far. Throws Error, Stopped.
Evaluation evaluate(Model& model, std::span<const std::vector<text::Token>> windows, const sparse::Choice& mode,
                    const std::optional<sparse::Choice>& reference = {},
                    const std::function<void(const Evaluation&)>& progress = {});

/// Most tokens of a pass that asks for the logits of all of them: their rows (a MiB each where the vocabulary has 262,144
/// tokens) are kept to some hundred MiB.
size_t mostWithLogits(Model& model);

}  // namespace hearth::runtime
