#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/segment.h"
#include "engine/text/tokenizer_model.h"
#include "engine/text/tokenizer_tables.h"
#include "engine/text/vocabulary.h"

namespace hearth::text {

struct EncodeOptions {
    bool add_special = true;     ///< add the BOS (and EOS, SEP) that the vocabulary asks for
    bool parse_special = false;  ///< may text become control tokens? Never for what a user typed
};

/// What encode() did that the caller may want to tell.
struct EncodeNotes {
    bool bos_already_there = false;   ///< the text began with the BOS that was to be added
};

struct DecodeOptions {
    bool control_tokens = false;   ///< write out control tokens by their names, instead of leaving them out
    bool at_text_start = true;     ///< drop the space that the tokenizer put before the text
    bool clean_up = false;         ///< take out spaces before punctuation, where the vocabulary's publishers do so
};

/// Text to tokens and back. Building the tables takes a moment (some 100 ms for large vocabularies): keep it off the
/// path that shows a model. Thread-safe after construction.
class Tokenizer {
public:
    /// Throws Stopped soon after `stop` asks.
    explicit Tokenizer(std::shared_ptr<const Vocabulary> vocabulary, const std::stop_token& stop = {});

    const Vocabulary& vocabulary() const { return *vocabulary_; }

    /// Any bytes are accepted; those that are no UTF-8 become U+FFFD, or byte tokens where the vocabulary has them.
    /// Throws Error for texts of more than 1 GiB, and for a file without a vocabulary. A BOS that the text begins with
    /// does not keep the one asked for from being added (see EncodeNotes).
    std::vector<Token> encode(std::string_view text, const EncodeOptions& options = {},
                              EncodeNotes* notes = nullptr) const;
    /// The tokens of all segments as one text, such as a rendered template. Control tokens come only from text that is
    /// trusted from their first byte to their last. A BOS that both the text begins with and the vocabulary asks for
    /// comes once (see EncodeNotes).
    std::vector<Token> encode(std::span<const Segment> segments, bool add_special, EncodeNotes* notes = nullptr) const;

    /// The bytes that the tokens stand for. Ids outside the vocabulary stand for nothing.
    std::string decode(std::span<const Token> tokens, const DecodeOptions& options = {}) const;
    /// The bytes of one token as decode() writes them, without the rule for the start.
    std::string_view decodeOne(Token token, bool control_tokens = false) const;
    /// True when decode() drops a space at the start of the text.
    bool dropsLeadingSpace() const;

private:
    struct Text;  ///< the text of a call and which of it is trusted

    std::vector<Token> encodeText(const Text& text, bool add_special, bool one_bos, EncodeNotes* notes) const;
    void encodeBody(const Text& text, std::vector<Token>& out) const;

    std::shared_ptr<const Vocabulary> vocabulary_;
    std::unique_ptr<const TokenizerModel> model_;
    Trie specials_;  ///< control, unknown and user-defined tokens
    std::array<bool, 256> special_first_{};  ///< bytes that such tokens begin with
};

}  // namespace hearth::text
