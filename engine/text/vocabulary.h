#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/gguf/file.h"

namespace hearth::text {

using Token = int32_t;
inline constexpr Token kNoToken = -1;

/// How a vocabulary turns text into tokens (`tokenizer.ggml.model`).
enum class Kind {
    None,       ///< the file has no vocabulary; only token ids make sense
    Spm,        ///< `llama`: SentencePiece BPE by score, bytes as a last resort
    Bpe,        ///< `gpt2`: byte-level BPE with merges
    WordPiece,  ///< `bert`
    Unigram,    ///< `t5`: the likeliest segmentation
    Gemma4,     ///< `gemma4`: BPE with merges on the characters, split only at newlines, bytes as a last resort
};
std::string_view kindName(Kind kind);

/// `tokenizer.ggml.token_type`, with the numbers of the file.
enum class TokenType : uint8_t { Normal = 1, Unknown = 2, Control = 3, UserDefined = 4, Unused = 5, Byte = 6 };

/// kNoToken where the vocabulary has none.
struct SpecialTokens {
    Token bos = kNoToken, eos = kNoToken, eot = kNoToken, eom = kNoToken, unk = kNoToken, sep = kNoToken,
          pad = kNoToken, mask = kNoToken;
    Token fim_pre = kNoToken, fim_suf = kNoToken, fim_mid = kNoToken, fim_pad = kNoToken, fim_rep = kNoToken,
          fim_sep = kNoToken;
};

/// The tokens of a model file: their bytes, kinds and roles. Cheap to make (one pass over the token list); the tables
/// that splitting text needs are Tokenizer's.
class Vocabulary {
public:
    /// Throws Error: a kind that Hearth does not know, lists of different lengths, values of wrong types.
    explicit Vocabulary(std::shared_ptr<const gguf::File> file);

    Kind kind() const { return kind_; }
    /// Number of tokens. A model may have more rows of logits than that; ids from here on have no text.
    size_t size() const { return types_.size(); }
    bool contains(Token t) const { return t >= 0 && static_cast<size_t>(t) < size(); }

    /// What the token stands for in text, as bytes (possibly a part of a character); control tokens: their name.
    /// Empty for ids outside the vocabulary. The view lives as long as the vocabulary.
    std::string_view pieceBytes(Token t) const;
    /// The type in the file.
    TokenType type(Token t) const;
    /// Score in the file; 0 where there is none.
    float score(Token t) const;

    /// True for tokens that steer and are not shown: control tokens of the file, and all that end a generation or mark
    /// a gap to fill, whatever their type in the file.
    bool isControl(Token t) const { return has(t, kControl); }
    /// True for tokens after which a generation ends.
    bool isEog(Token t) const { return has(t, kEog); }
    /// True for tokens that the text of a user must never become (control and unknown ones, and gpt-oss' channel marks).
    bool needsTrust(Token t) const { return has(t, kNeedsTrust); }
    /// White space next to the token belongs to it (Phi-3's role marks; `<mask>` of BERT and Jina).
    bool swallowsRight(Token t) const { return has(t, kSwallowsRight); }
    bool swallowsLeft(Token t) const { return has(t, kSwallowsLeft); }

    const SpecialTokens& special() const { return special_; }
    std::span<const Token> eogTokens() const { return eog_; }
    /// The token for a byte of its own (`<0xNN>`), kNoToken where there is none.
    Token byteToken(unsigned char byte) const { return byte_tokens_[byte]; }
    /// A control, unknown or user-defined token by its text.
    std::optional<Token> findSpecial(std::string_view text) const;
    /// All of them, ascending.
    std::span<const Token> specialTokens() const { return marked_; }
    /// `tokenizer.ggml.suppress_tokens`: never to be sampled.
    std::span<const Token> suppressed() const { return suppressed_; }

    bool addBos() const { return add_bos_; }
    bool addEos() const { return add_eos_; }
    bool addSep() const { return add_sep_; }
    /// A space goes before text at the start and after control tokens.
    bool addSpacePrefix() const { return add_space_prefix_; }
    bool removeExtraWhitespaces() const { return remove_extra_whitespaces_; }
    /// The publishers' own decoding takes spaces before punctuation out (a lossy habit of some byte-level vocabularies).
    bool cleansSpaces() const { return cleans_spaces_; }
    bool lowercase() const { return lowercase_; }
    bool stripAccents() const { return strip_accents_; }
    /// `tokenizer.ggml.pre`; empty when the file has none.
    std::string_view pre() const { return pre_; }

    /// "A B" strings in the order of their rank, views into the file.
    std::vector<std::string_view> merges() const;
    /// SentencePiece's compiled normalisation rules; empty when there are none.
    std::string_view charsmap() const { return charsmap_; }

    /// What the user should know: a missing split rule, ids out of range, odd tokens.
    const std::vector<std::string>& warnings() const { return warnings_; }
    const gguf::File& file() const { return *file_; }

private:
    enum Flag : uint8_t { kControl = 1, kEog = 2, kNeedsTrust = 4, kSwallowsRight = 8, kSwallowsLeft = 16 };

    bool has(Token t, Flag flag) const { return contains(t) && (flags_[static_cast<size_t>(t)] & flag) != 0; }
    void set(Token t, int flags) {
        flags_[static_cast<size_t>(t)] = static_cast<uint8_t>(flags_[static_cast<size_t>(t)] | flags);
    }
    void clear(Token t, int flags) {
        flags_[static_cast<size_t>(t)] = static_cast<uint8_t>(flags_[static_cast<size_t>(t)] & ~flags);
    }

    void readKind();
    void readTypes(size_t n);
    void readScores(size_t n);
    void readPieces(std::span<const std::string_view> texts);
    void readSpecialIds();
    void readSwitches();
    void readCharsmap();
    void readSuppressed();
    void findRoles();
    void markSwallowing();
    Token idFromKey(std::string_view key, Token fallback);

    std::shared_ptr<const gguf::File> file_;
    Kind kind_ = Kind::None;
    std::string pre_;
    std::string arena_;  ///< the bytes of all tokens, one after another
    std::vector<uint32_t> offsets_;  ///< size() + 1
    std::vector<TokenType> types_;
    std::vector<uint8_t> flags_;
    std::vector<float> scores_;
    SpecialTokens special_;
    std::array<Token, 256> byte_tokens_{};
    std::vector<Token> eog_, marked_, suppressed_;
    std::unordered_map<std::string_view, Token> by_text_;  ///< of marked_
    bool add_bos_ = false, add_eos_ = false, add_sep_ = false, add_space_prefix_ = false;
    bool remove_extra_whitespaces_ = false, cleans_spaces_ = false, lowercase_ = true, strip_accents_ = true;
    std::string charsmap_;
    std::vector<std::string> warnings_;
};

}  // namespace hearth::text
