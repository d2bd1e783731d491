#pragma once

#include <memory>
#include <stop_token>
#include <string_view>
#include <vector>

#include "engine/text/vocabulary.h"

namespace hearth::text {

/// A stretch of ordinary text between special tokens.
struct Stretch {
    std::string_view text;
    bool starts = false;   ///< at the start of the text or after a control token
    bool ends = false;     ///< at the end of the text or before a control token

    /// SentencePiece puts its space also before a user-defined token that begins a text.
    bool needsPrefix() const { return starts && (!text.empty() || !ends); }
};

/// How one kind of vocabulary turns ordinary text into tokens. Never gives a token that needsTrust(), but the unknown one.
/// Thread-safe after construction.
class TokenizerModel {
public:
    virtual ~TokenizerModel() = default;
    virtual void encode(const Stretch& stretch, std::vector<Token>& out) const = 0;

    /// Throws Stopped soon after `stop` asks.
    static std::unique_ptr<const TokenizerModel> make(const Vocabulary& vocabulary, const std::stop_token& stop);
};

/// True for tokens that ordinary text may become by merging or look-up.
inline bool isOrdinary(const Vocabulary& v, Token t) {
    const TokenType type = v.type(t);
    return (type == TokenType::Normal || type == TokenType::UserDefined) && !v.needsTrust(t) &&
           !v.pieceBytes(t).empty();
}

std::unique_ptr<const TokenizerModel> makeBpe(const Vocabulary& vocabulary, const std::stop_token& stop);
std::unique_ptr<const TokenizerModel> makeGemma4(const Vocabulary& vocabulary, const std::stop_token& stop);
std::unique_ptr<const TokenizerModel> makeSpm(const Vocabulary& vocabulary, const std::stop_token& stop);
std::unique_ptr<const TokenizerModel> makeUnigram(const Vocabulary& vocabulary, const std::stop_token& stop);
std::unique_ptr<const TokenizerModel> makeWordPiece(const Vocabulary& vocabulary, const std::stop_token& stop);

}  // namespace hearth::text
