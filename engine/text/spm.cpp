/// SentencePiece BPE: the pair whose union has the best score merges first; what is left over becomes bytes.
#include <algorithm>
#include <string>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/text/bpe.h"
#include "engine/text/splits.h"
#include "engine/text/tokenizer_model.h"
#include "engine/text/tokenizer_tables.h"
#include "engine/text/unicode.h"

namespace hearth::text {

namespace {

/// Bytes that a character takes by its first byte alone. Where text is no UTF-8, the bytes that follow go with it and
/// become byte tokens together, even where they are characters of their own.
size_t announcedLength(char first) {
    const auto b = static_cast<unsigned char>(first);
    return b < 0xc0 ? 1 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
}

/// Lengths of the characters of `s`; a byte that belongs to none counts as one.
void characterLengths(std::string_view s, std::vector<uint32_t>& lengths) {
    lengths.clear();
    while (!s.empty()) {
        const size_t n = std::max<size_t>(sequenceLength(s), 1);
        lengths.push_back(static_cast<uint32_t>(n));
        s.remove_prefix(n);
    }
}

class SpmModel : public TokenizerModel {
public:
    SpmModel(const Vocabulary& v, const std::stop_token& stop) : vocabulary_(v), size_(static_cast<Symbol>(v.size())) {
        std::vector<std::string_view> texts;
        std::vector<Symbol> symbols;
        for (Symbol s = 0; s < size_; ++s) {
            throwIfStopped(stop);
            const Token t = static_cast<Token>(s);
            const bool unused = v.type(t) == TokenType::Unused && !v.needsTrust(t) && !v.pieceBytes(t).empty();
            has_unused_ |= unused;
            if (!unused && !isOrdinary(v, t)) continue;
            const std::string_view text = v.pieceBytes(t);
            word_by_word_ &= !hasInnerSpace(text);
            if (isCharacter(text)) characters_.add(text, s);
            texts.push_back(text);
            symbols.push_back(s);
        }
        addCharacters(texts, symbols, stop);
        addMerges(texts, symbols, stop);
    }

    void encode(const Stretch& stretch, std::vector<Token>& out) const override {
        if (stretch.text.empty() && !stretch.needsPrefix()) return;
        std::string text;
        text.reserve(stretch.text.size() + 1);
        if (stretch.starts && vocabulary_.addSpacePrefix()) text += kLowerBlock;
        text += replaceAll(stretch.text, " ", kLowerBlock);
        Work work;
        const bool by_word = word_by_word_ && isWellFormed(text);
        for (std::string_view rest = text; !rest.empty();) {
            const std::string_view word = rest.substr(0, by_word ? wordLength(rest) : rest.size());
            rest.remove_prefix(word.size());
            encodeWord(word, work, out);
        }
    }

private:
    using Origins = std::unordered_map<Symbol, std::pair<Symbol, Symbol>>;

    struct Work {
        Merger merger;
        std::vector<Part> parts;
        Origins origins;
        std::unordered_map<std::string_view, std::pair<size_t, size_t>>
            seen;   ///< short words: where their tokens stand
    };

    /// True for what one character of a text may be.
    static bool isCharacter(std::string_view piece) {
        return piece.size() == std::max<size_t>(sequenceLength(piece), 1) || piece.size() == announcedLength(piece[0]);
    }

    /// No merge crosses the start of a word, where no token has a space after something else.
    static bool hasInnerSpace(std::string_view piece) {
        const size_t word = piece.find_first_not_of(' ');
        return word != std::string_view::npos && piece.find(' ', word) != std::string_view::npos;
    }

    /// Bytes up to the next start of a word; `text` has ▁ for spaces.
    static size_t wordLength(std::string_view text) {
        size_t at = 0;
        while (text.substr(at).starts_with(kLowerBlock)) at += kLowerBlock.size();
        return std::min(text.find(kLowerBlock, at), text.size());
    }

    void encodeWord(std::string_view word, Work& work, std::vector<Token>& out) const {
        // What a word becomes depends on the word alone, where unknown characters become bytes.
        const bool remember = word.size() <= 48 && vocabulary_.byteToken(0) != kNoToken;
        if (remember) {
            const auto [found, is_new] = work.seen.try_emplace(word, out.size(), 0);
            if (!is_new) {
                for (size_t i = 0; i < found->second.second; ++i) out.push_back(out[found->second.first + i]);
                return;
            }
        }
        const size_t before = out.size();
        work.parts.clear();
        for (size_t at = 0; at < word.size();) {
            const std::string_view rest = word.substr(at);
            const std::string_view character = rest.substr(0, announcedLength(rest[0]));
            const Symbol symbol = characters_.find(character == kLowerBlock ? " " : character);
            work.parts.push_back({symbol, static_cast<uint32_t>(at), static_cast<uint32_t>(character.size())});
            at += character.size();
        }
        work.origins.clear();
        const auto note = [&work, this](Symbol left, Symbol right, Symbol merged) {
            if (isUnused(merged)) work.origins[merged] = {left, right};
        };
        work.merger.run(merges_, work.parts, has_unused_ ? Merger::Observer(note) : Merger::Observer());
        for (const Part& part : work.parts) emit(part.symbol, word.substr(part.begin, part.length), work.origins, out);
        if (remember) work.seen[word].second = out.size() - before;
    }

    bool isUnused(Symbol s) const { return s < size_ && vocabulary_.type(static_cast<Token>(s)) == TokenType::Unused; }

    /// Characters that are no tokens but stand in some get symbols of their own.
    void addCharacters(std::vector<std::string_view>& texts, std::vector<Symbol>& symbols,
                       const std::stop_token& stop) {
        Symbol next = size_;
        std::vector<uint32_t> lengths;
        for (size_t i = 0, n = texts.size(); i < n; ++i) {
            throwIfStopped(stop);
            std::string_view rest = texts[i];
            characterLengths(rest, lengths);
            for (const uint32_t length : lengths) {
                const std::string_view character = rest.substr(0, length);
                rest.remove_prefix(length);
                if (characters_.find(character) != kNoSymbol) continue;
                characters_.add(character, next);
                texts.push_back(character);
                symbols.push_back(next++);
            }
        }
    }

    /// Every way in which a token is two symbols, between characters, ranked by the token's score.
    void addMerges(const std::vector<std::string_view>& texts, const std::vector<Symbol>& symbols,
                   const std::stop_token& stop) {
        const std::vector<uint32_t> ranks = ranksOf(symbols);
        constexpr size_t kBlock = 128;
        std::vector<NewMerge> merges;
        merges_ = MergeTable(texts.size() * 2);
        // The table is larger than the caches: what all of a block want is asked for before any waits.
        const auto addBlock = [&] {
            throwIfStopped(stop);
            for (const NewMerge& m : merges) merges_.prefetch(m.left, m.right);
            for (const NewMerge& m : merges) merges_.add(m.left, m.right, m.merge);
            merges.clear();
        };
        Boundaries boundaries;
        Splits(texts, stop).forEach([&](uint32_t whole, size_t at, uint32_t left, uint32_t right) {
            if (!boundaries.has(whole, texts[whole], at)) return;
            merges.push_back({symbols[left], symbols[right], {ranks[whole], symbols[whole]}});
            if (merges.size() == kBlock) addBlock();
        });
        addBlock();
    }

    /// Where one character of a text ends and the next begins, asked for in ascending order.
    struct Boundaries {
        uint32_t text = 0xffffffff;
        size_t end = 0;

        bool has(uint32_t number, std::string_view content, size_t at) {
            if (number != text) text = number, end = 0;
            while (end < at) end += std::max<size_t>(sequenceLength(content.substr(end)), 1);
            return end == at;
        }
    };

    struct NewMerge {
        Symbol left, right;
        MergeTable::Merge merge;
    };

    /// How many better scores there are than that of each token; `symbols` begins with tokens.
    std::vector<uint32_t> ranksOf(const std::vector<Symbol>& symbols) const {
        std::vector<std::pair<float, uint32_t>> order;
        for (size_t i = 0; i < symbols.size() && symbols[i] < size_; ++i)
            order.emplace_back(vocabulary_.score(static_cast<Token>(symbols[i])), static_cast<uint32_t>(i));
        std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<float, uint32_t>::first);
        std::vector<uint32_t> ranks(order.size());
        uint32_t rank = 0;
        for (size_t i = 0; i < order.size(); ++i) {
            if (i > 0 && order[i].first != order[i - 1].first) ++rank;
            ranks[order[i].second] = rank;
        }
        return ranks;
    }

    void emit(Symbol symbol, std::string_view text, const Origins& origins, std::vector<Token>& out) const {
        std::vector<std::pair<Symbol, std::string_view>> stack{{symbol, text}};
        while (!stack.empty()) {
            const auto [s, piece] = stack.back();
            stack.pop_back();
            const auto origin = isUnused(s) ? origins.find(s) : origins.end();
            if (origin != origins.end()) {   // an unused token is taken apart again
                const auto [left, right] = origin->second;
                const size_t middle = lengthOf(left, piece);
                stack.emplace_back(right, piece.substr(middle));
                stack.emplace_back(left, piece.substr(0, middle));
            } else if (s < size_ && !isUnused(s)) {
                out.push_back(static_cast<Token>(s));
            } else {
                emitBytes(piece, out);
            }
        }
    }

    size_t lengthOf(Symbol left, std::string_view whole) const {
        if (left >= size_) return std::min(announcedLength(whole[0]), whole.size());
        return replaceAll(vocabulary_.pieceBytes(static_cast<Token>(left)), " ", kLowerBlock).size();
    }

    void emitBytes(std::string_view piece, std::vector<Token>& out) const {
        const Token unknown = vocabulary_.special().unk;
        for (char c : piece) {
            if (const Token t = vocabulary_.byteToken(static_cast<unsigned char>(c)); t != kNoToken) {
                out.push_back(t);
            } else if (unknown != kNoToken && (out.empty() || out.back() != unknown)) {
                out.push_back(unknown);   // SentencePiece makes one of several in a row
            }
        }
    }

    const Vocabulary& vocabulary_;
    Symbol size_;
    TextTable characters_;
    MergeTable merges_;
    bool has_unused_ = false, word_by_word_ = true;
};

}  // namespace

std::unique_ptr<const TokenizerModel> makeSpm(const Vocabulary& v, const std::stop_token& stop) {
    return std::make_unique<SpmModel>(v, stop);
}

}  // namespace hearth::text
