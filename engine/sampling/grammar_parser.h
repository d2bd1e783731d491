#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/sampling/grammar.h"

namespace hearth::sampling {

/// Reads GBNF text into the nodes of a grammar. Rules are not checked against each other here (see GrammarAnalysis).
class GrammarParser {
public:
    GrammarParser(Grammar& grammar, std::string_view text, const VocabularyView* vocabulary)
        : g_(grammar), text_(text), vocabulary_(vocabulary) {}
    void parse();

private:
    /// A piece of the graph under construction: nodes from `begin` to the end of the list, where it starts, and the
    /// node whose way on is still open.
    struct Fragment {
        uint32_t begin, entry, exit;
    };

    Fragment alternatives(int depth);
    Fragment sequence(int depth);
    Fragment element(int depth);
    Fragment literal();
    Fragment characterClass();
    Fragment tokenLiteral();
    Fragment repeated(Fragment once);
    Fragment repeat(Fragment once, uint64_t least, uint64_t most, bool endless);
    std::pair<uint64_t, bool> count();

    uint32_t add(Grammar::Kind kind, uint32_t a, uint32_t b);
    void connect(uint32_t exit, uint32_t target);
    Fragment joined(Fragment first, Fragment second);
    Fragment empty();
    uint32_t classId(CharClass ranges);
    uint32_t ruleId(const std::string& name);

    bool atEnd() const { return at_ >= text_.size(); }
    char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
    bool take(std::string_view expected);
    void skipSpace(bool newlines);
    std::string name();
    uint32_t character();
    uint32_t hex(int digits);
    [[noreturn]] void fail(const std::string& why) const;

    Grammar& g_;
    std::string_view text_;
    const VocabularyView* vocabulary_;
    size_t at_ = 0;
    int parentheses_ = 0;
    std::map<std::string, uint32_t, std::less<>> rule_ids_;
    std::map<CharClass, uint32_t> class_ids_;
};

}  // namespace hearth::sampling
