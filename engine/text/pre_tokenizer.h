#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::text {

/// What a split rule's name says beyond how to split.
struct SplitTraits {
    bool ignore_merges = false;   ///< a piece that is a token is taken whole, whatever the merges say
    bool add_bos = false, add_sep = false;
    bool cleans_spaces = false;   ///< the publishers' decoding takes spaces before punctuation out
};

/// Splits text before merging, by the rule that `tokenizer.ggml.pre` names (research: formats §3.2). A rule is a list of
/// passes; each splits the pieces that the one before left, and what it does not match stays as pieces too.
class PreTokenizer {
public:
    /// The rule of that name; the `default` one for names that isKnown() denies.
    explicit PreTokenizer(std::string_view pre);
    ~PreTokenizer();
    PreTokenizer(PreTokenizer&&) noexcept;
    PreTokenizer& operator=(PreTokenizer&&) noexcept;

    /// `text` must be well-formed UTF-8. The pieces are views into it and, one after another, make it up.
    /// Linear in the length of the text. May be called from several threads.
    std::vector<std::string_view> split(std::string_view text) const;

    static bool isKnown(std::string_view pre);
    /// True for rules of vocabularies that merge characters, not bytes (split at newlines, ▁ for space).
    static bool isCharacterRule(std::string_view pre);
    static SplitTraits traits(std::string_view pre);

private:
    struct Pass;
    std::vector<std::unique_ptr<Pass>> passes_;
};

}  // namespace hearth::text
