/// Unigram: of all ways to cut the normalised text into tokens, the one with the highest sum of scores (Viterbi).
#include <algorithm>
#include <limits>
#include <string>

#include "engine/text/tokenizer_model.h"
#include "engine/text/tokenizer_tables.h"
#include "engine/text/unicode.h"
#include "engine/text/unigram_normalizer.h"

namespace hearth::text {

namespace {

/// SentencePiece's price of an unknown character, below the worst score.
constexpr double kUnknownPenalty = 10.0;
constexpr size_t kSinglePrecisionBytes = 16384;

class UnigramModel : public TokenizerModel {
public:
    UnigramModel(const Vocabulary& v, const std::stop_token& stop) : vocabulary_(v), charsmap_(v.charsmap()) {
        std::vector<std::pair<std::string_view, Token>> entries;
        double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
        for (size_t i = 0; i < v.size(); ++i) {
            const Token t = static_cast<Token>(i);
            if (!isOrdinary(v, t)) continue;
            entries.emplace_back(v.pieceBytes(t), t);
            if (v.type(t) != TokenType::Normal) continue;
            low = std::min<double>(low, v.score(t));
            high = std::max<double>(high, v.score(t));
        }
        trie_ = Trie(std::move(entries), stop);
        unknown_score_ = (low <= high ? low : 0.0) - kUnknownPenalty;
        best_score_ = low <= high ? high : 0.0;
    }

    void encode(const Stretch& stretch, std::vector<Token>& out) const override {
        const std::string text = normalize(stretch);
        // SentencePiece adds scores in single precision, which decides between cuts that are equally good. In long texts
        // its sums grow too large for that to mean anything.
        if (text.size() <= kSinglePrecisionBytes) {
            emit(text, bestSteps<float>(text), out);
        } else {
            emit(text, bestSteps<double>(text), out);
        }
    }

private:
    /// The best way to reach a place in the text: its last token (kNoToken: an unknown character) and where that begins.
    template <typename Score>
    struct Step {
        Score score = 0;
        bool reached = false;
        Token token = kNoToken;
        size_t from = 0;
    };

    template <typename Score>
    void emit(std::string_view text, const std::vector<Step<Score>>& steps, std::vector<Token>& out) const {
        std::vector<std::pair<Token, std::string_view>> path;
        for (size_t end = text.size(); end > 0; end = steps[end].from) {
            path.emplace_back(steps[end].token, text.substr(steps[end].from, end - steps[end].from));
        }
        bool after_unknown = false;
        for (auto it = path.rbegin(); it != path.rend(); ++it) {
            if (it->first != kNoToken) {
                out.push_back(it->first);
            } else {
                emitUnknown(it->second, after_unknown, out);
            }
            after_unknown = it->first == kNoToken;
        }
    }

    std::string normalize(const Stretch& stretch) const {
        const bool squeeze = vocabulary_.removeExtraWhitespaces();
        std::string out;
        bool after_space = squeeze && stretch.starts, started = false;
        for (std::string_view rest = stretch.text; !rest.empty();) {
            const Charsmap::Match match = charsmap_.normalizePrefix(rest);
            rest.remove_prefix(match.length);
            std::string_view piece = match.replacement;
            while (squeeze && after_space && piece.starts_with(' ')) piece.remove_prefix(1);
            if (piece.empty()) continue;
            if (!started && stretch.starts && vocabulary_.addSpacePrefix()) out.push_back(' ');
            started = true;
            out += piece;
            after_space = piece.ends_with(' ');
        }
        if (!started && stretch.needsPrefix() && !stretch.ends && vocabulary_.addSpacePrefix()) out.push_back(' ');
        while (squeeze && stretch.ends && out.ends_with(' ')) out.pop_back();
        return replaceAll(out, kLowerBlock, " ");
    }

    double scoreOf(Token t, size_t length) const {
        // User-defined tokens win against every cut of their text (SentencePiece, EncodeOptimized).
        if (vocabulary_.type(t) == TokenType::UserDefined) return static_cast<double>(length) * best_score_ - 0.1;
        return vocabulary_.score(t);
    }

    template <typename Score>
    std::vector<Step<Score>> bestSteps(std::string_view text) const {
        std::vector<Step<Score>> steps(text.size() + 1);
        for (size_t at = 0; at < text.size();) {
            const Score here = steps[at].score;
            const size_t character = std::max<size_t>(sequenceLength(text.substr(at)), 1);
            bool whole_character = false;
            const auto offer = [&](size_t length, Token token, double score) {
                Step<Score>& step = steps[at + length];
                const Score sum = here + static_cast<Score>(score);
                if (!step.reached || sum > step.score) step = {sum, true, token, at};
            };
            trie_.forEachPrefix(text.substr(at), [&](size_t length, Token token) {
                whole_character |= length == character;
                offer(length, token, scoreOf(token, length));
            });
            if (!whole_character) offer(character, kNoToken, unknown_score_);
            at += character;
        }
        return steps;
    }

    void emitUnknown(std::string_view piece, bool after_unknown, std::vector<Token>& out) const {
        if (vocabulary_.byteToken(0) != kNoToken) {
            for (char c : piece) {
                const Token t = vocabulary_.byteToken(static_cast<unsigned char>(c));
                if (t != kNoToken) out.push_back(t);
            }
        } else if (!after_unknown && vocabulary_.special().unk != kNoToken) {
            out.push_back(vocabulary_.special().unk);  // one for a run of unknown characters
        }
    }

    const Vocabulary& vocabulary_;
    Charsmap charsmap_;
    Trie trie_;
    double unknown_score_ = 0, best_score_ = 0;
};

}  // namespace

std::unique_ptr<const TokenizerModel> makeUnigram(const Vocabulary& v, const std::stop_token& stop) {
    return std::make_unique<UnigramModel>(v, stop);
}

}  // namespace hearth::text
