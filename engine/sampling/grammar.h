#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/sampling/token.h"

namespace hearth::sampling {

/// A set of code points: sorted ranges that neither touch nor overlap, both ends included.
using CharClass = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr uint32_t max_code_point = 0x10FFFF;

/// Sorts and joins ranges.
CharClass normalised(CharClass ranges);
/// All code points that are not in `ranges` (normalised).
CharClass complement(const CharClass& ranges);

/// A grammar in GBNF, read into a graph: each rule is a little state machine whose steps take a character, take a whole
/// token, branch, or call another rule. Everything that can be wrong with a grammar is found here, before the first
/// token: syntax, unknown rules, left recursion, rules that can never end, and sizes beyond the limits.
class Grammar {
public:
    enum class Kind : uint8_t { Char, Tokens, Split, Call, End };
    struct Node {
        Kind kind = Kind::End;
        uint32_t a = 0;  ///< Char: class; Tokens: token set; Split: one way; Call: rule
        uint32_t b = 0;  ///< where it goes on (Split: the other way)
    };
    struct Rule {
        std::string name;
        uint32_t entry = 0;
        uint32_t order = 0;  ///< a rule that can begin with a call of another stands before it
        bool nullable = false;  ///< matches the empty text
        bool defined = false;
    };
    struct TokenSet {
        Token token = 0;
        bool negated = false;
    };

    /// Reads GBNF text; the start is the rule "root". Token literals by text (`<think>`) need a vocabulary.
    /// Throws Error, with the line where it is known.
    static std::shared_ptr<const Grammar> parse(std::string_view text, const VocabularyView* vocabulary = nullptr);

    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Rule>& rules() const { return rules_; }
    const std::vector<CharClass>& classes() const { return classes_; }
    const std::vector<TokenSet>& tokenSets() const { return token_sets_; }
    uint32_t root() const { return root_; }
    /// Whether the end of its rule can be reached from a node; others are dead ends.
    bool productive(uint32_t node) const { return productive_[node]; }

    /// First code points of the pieces into which all classes together cut the code points: characters of one piece are
    /// all alike to this grammar. Begins with 0.
    const std::vector<uint32_t>& alphabet() const { return alphabet_; }
    uint32_t letter(uint32_t code_point) const;

private:
    friend class GrammarParser;
    friend class GrammarAnalysis;

    std::vector<Node> nodes_;
    std::vector<Rule> rules_;
    std::vector<CharClass> classes_;
    std::vector<TokenSet> token_sets_;
    std::vector<bool> productive_;
    std::vector<uint32_t> alphabet_;
    uint32_t ascii_letters_[128] = {};
    uint32_t root_ = 0;
};

}  // namespace hearth::sampling
