#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/sampling/token.h"

namespace hearth::sampling {

/// The text tokens of a vocabulary as one tree over their bytes, so that a grammar checks a common beginning once. Made
/// once for a vocabulary, then shared by all grammars. Tokens that end a generation and control tokens are known but
/// not in the tree: they are never text. Nor are tokens without any bytes.
class TokenTrie {
public:
    explicit TokenTrie(const VocabularyView& vocabulary);

    /// Depth first, children by rising byte.
    struct Node {
        uint32_t behind;  ///< index of the first node that is not below this one
        uint32_t first_token;  ///< tokens that end here: tokens()[first_token … next node's first_token)
        uint32_t depth;  ///< bytes from the root to here; the root is not stored, its children have 1
        uint8_t byte;
    };
    /// With one more node at the end that closes the token ranges.
    std::span<const Node> nodes() const { return nodes_; }
    std::span<const Token> tokens() const { return tokens_; }
    uint32_t depth() const { return depth_; }

    size_t vocabularySize() const { return kinds_.size(); }
    std::string_view bytes(Token token) const;
    bool isEnd(Token token) const { return kind(token) == Kind::End; }
    bool isText(Token token) const { return kind(token) == Kind::Text; }
    /// All tokens that end a generation.
    std::span<const Token> ends() const { return ends_; }
    /// One bit a token: those that are text.
    std::span<const uint64_t> textMask() const { return text_mask_; }

private:
    enum class Kind : uint8_t { Text, End, Control };
    Kind kind(Token token) const {
        return token >= 0 && static_cast<size_t>(token) < kinds_.size() ? kinds_[static_cast<size_t>(token)]
                                                                        : Kind::Control;
    }

    std::vector<Node> nodes_;
    std::vector<Token> tokens_, ends_;
    std::vector<Kind> kinds_;
    std::vector<uint64_t> text_mask_;
    std::vector<char> bytes_;
    std::vector<size_t> offsets_;
    uint32_t depth_ = 0;
};

}  // namespace hearth::sampling
