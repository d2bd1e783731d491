#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/runtime/model.h"

namespace hearth::runtime {

using text::Token;

/// One text on a model: its tokens and what the model remembers of them. A new prompt that begins like the old text
/// computes only the rest.
class Session {
public:
    explicit Session(std::shared_ptr<Model> model);

    Model& model() { return *model_; }
    model::Sequence& sequence() { return *sequence_; }
    /// Tokens that have been computed.
    std::span<const Token> tokens() const { return tokens_; }

    /// Keeps what the session shares with the beginning of `prompt`, forgets the rest, and returns how many tokens remain
    /// computed: always fewer than the prompt has, so that its last token is computed and gives logits.
    size_t rewindTo(std::span<const Token> prompt);
    /// To be called after each pass of Forward, whether it ended well or not, with the tokens it was given.
    void noteComputed(std::span<const Token> tokens);

private:
    std::shared_ptr<Model> model_;
    std::unique_ptr<model::Sequence> sequence_;
    std::vector<Token> tokens_;
};

}  // namespace hearth::runtime
