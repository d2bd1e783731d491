#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/sampling/automaton.h"
#include "engine/sampling/grammar.h"
#include "engine/sampling/token_trie.h"
#include "engine/sampling/utf8.h"

namespace hearth::sampling {

/// Where one text stands in a grammar. Characters may be cut anywhere between tokens. Not for use from two threads.
class GrammarState {
public:
    /// `trie` may be null when only text is checked. Throws Error when the grammar allows no first token.
    explicit GrammarState(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTrie> trie = nullptr);

    /// Whether the token may come next. Tokens that end a generation: exactly when the text may end (or a token literal
    /// asks for it). Control tokens: only where a token literal asks for one.
    bool allowed(Token token);
    /// Whether bytes may come next as text, perhaps in the middle of a character.
    bool allowedText(std::string_view bytes);
    /// One bit a token, lowest first: those that may come next. Valid until the next call. Throws Error when there is
    /// none.
    std::span<const uint64_t> mask();
    /// Goes on; throws Error when the token is not allowed (the state is then as before).
    void accept(Token token);
    /// Goes on by text; false (and unchanged) when it is not allowed.
    bool acceptText(std::string_view bytes);

    /// Whether the text fulfils the grammar as it is.
    bool mayEnd() const;
    /// An end token was accepted: nothing may follow.
    bool finished() const { return finished_; }
    void reset();

private:
    /// Where the text stands; more than one only while a token literal and text say different things about a half
    /// character.
    struct Place {
        Automaton::State state;
        Utf8Partial partial;
    };

    std::vector<Place> afterText(std::string_view bytes);
    std::vector<Place> afterToken(Token token);
    void addTextMask(const Place& place, std::span<uint64_t> bits);
    void addTokenMask(Automaton::State state, std::span<uint64_t> bits) const;
    /// The cached bits of the text tokens that may follow a state between characters.
    const std::vector<uint64_t>& textMask(Automaton::State state);
    void limitMemory();

    Automaton automaton_;
    std::shared_ptr<const TokenTrie> trie_;
    std::vector<Place> places_;
    bool finished_ = false;
    std::vector<uint64_t> mask_;
    std::unordered_map<Automaton::State, std::vector<uint64_t>> text_masks_;
    std::vector<Place> path_;  ///< scratch: by depth in the trie
};

}  // namespace hearth::sampling
