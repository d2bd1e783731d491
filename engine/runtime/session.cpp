#include "engine/runtime/session.h"

#include <algorithm>

namespace hearth::runtime {

Session::Session(std::shared_ptr<Model> model) : model_(std::move(model)), sequence_(model_->newSequence()) {}

size_t Session::rewindTo(std::span<const Token> prompt) {
    const auto differs = std::mismatch(tokens_.begin(), tokens_.end(), prompt.begin(), prompt.end());
    size_t shared = static_cast<size_t>(differs.first - tokens_.begin());
    if (!prompt.empty()) shared = std::min(shared, prompt.size() - 1);
    tokens_.resize(sequence_->truncate(static_cast<uint32_t>(shared)));
    return tokens_.size();
}

void Session::noteComputed(std::span<const Token> tokens) {
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    tokens_.resize(std::min<size_t>(tokens_.size(), sequence_->length()));   // shorter after a pass that was stopped
}

}  // namespace hearth::runtime
