/// WordPiece as BERT has it: clean, lower-case, split at white space and punctuation, then the longest token first.
#include <utf8proc.h>

#include <algorithm>
#include <string>

#include "engine/text/tokenizer_model.h"
#include "engine/text/tokenizer_tables.h"
#include "engine/text/unicode.h"

namespace hearth::text {

namespace {

/// Longer words are unknown as a whole, in characters (BERT's max_input_chars_per_word).
constexpr size_t kLongestWord = 100;

utf8proc_category_t categoryOf(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

bool isDropped(char32_t c) {
    if (c == 0 || c == 0xfffd) return true;
    if (c == '\t' || c == '\n' || c == '\r') return false;
    const utf8proc_category_t k = categoryOf(c);
    return k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF || k == UTF8PROC_CATEGORY_CN ||
           k == UTF8PROC_CATEGORY_CO || k == UTF8PROC_CATEGORY_CS;
}

bool isMark(char32_t c) {
    if (c < 0x80)
        return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
    const utf8proc_category_t k = categoryOf(c);
    return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}

/// The blocks of ideographs that BERT makes words of their own.
bool isIdeograph(char32_t c) {
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
           (c >= 0x2a700 && c <= 0x2b73f) || (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
           (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

class WordPieceModel : public TokenizerModel {
public:
    WordPieceModel(const Vocabulary& v, const std::stop_token& stop) : vocabulary_(v) {
        std::vector<std::pair<std::string_view, Token>> entries;
        for (size_t i = 0; i < v.size(); ++i) {
            const Token t = static_cast<Token>(i);
            if (isOrdinary(v, t)) entries.emplace_back(v.pieceBytes(t), t);
        }
        trie_ = Trie(std::move(entries), stop);
    }

    void encode(const Stretch& stretch, std::vector<Token>& out) const override {
        std::string word;
        size_t characters = 0;
        const auto flush = [&] {
            if (characters > 0) encodeWord(word, characters, out);
            word.clear();
            characters = 0;
        };
        const auto add = [&](char32_t c) {
            if (word.empty()) word.push_back(' ');   // begins a word, as the file writes it
            appendUtf8(word, c);
            ++characters;
        };
        for (std::string_view rest = stretch.text; !rest.empty();) {
            const size_t n = sequenceLength(rest);
            const char32_t c = n == 0 ? 0xfffdu : codePoint(rest, n);
            rest.remove_prefix(std::max<size_t>(n, 1));
            if (isWhiteSpace(c)) {
                if (!isDropped(c)) flush();
                continue;
            }
            if (isDropped(c)) continue;
            normalized(c, [&](char32_t d) {
                const bool alone = isMark(d) || isIdeograph(c);
                if (alone) flush();
                add(d);
                if (alone) flush();
            });
        }
        flush();
    }

private:
    /// The characters that `c` becomes.
    template <typename Take>
    void normalized(char32_t c, Take&& take) const {
        utf8proc_int32_t parts[32] = {static_cast<utf8proc_int32_t>(c)};
        utf8proc_ssize_t n = 1;
        if (vocabulary_.stripAccents()) {
            int boundary = 0;
            n = utf8proc_decompose_char(parts[0], parts, 32, UTF8PROC_DECOMPOSE, &boundary);
            if (n < 0 || n > 32) parts[0] = static_cast<utf8proc_int32_t>(c), n = 1;
        }
        for (utf8proc_ssize_t i = 0; i < n; ++i) {
            const auto d = static_cast<char32_t>(parts[i]);
            if (vocabulary_.stripAccents() && categoryOf(d) == UTF8PROC_CATEGORY_MN) continue;
            if (!vocabulary_.lowercase()) {
                take(d);
            } else if (d == 0x130) {   // the one character whose lower case is two
                take('i'), take(0x307);
            } else {
                take(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(d))));
            }
        }
    }

    void encodeWord(std::string_view word, size_t characters, std::vector<Token>& out) const {
        const size_t before = out.size();
        bool known = characters <= kLongestWord;
        for (std::string_view rest = word; known && !rest.empty();) {
            size_t length = 0;
            Token token = kNoToken;
            trie_.forEachPrefix(rest, [&](size_t n, Token t) {
                if (rest.size() == word.size() && n == 1) return;   // the mark of a beginning is no piece
                length = n;
                token = t;
            });
            known = token != kNoToken;
            out.push_back(token);
            rest.remove_prefix(length);
        }
        if (known) return;
        out.resize(before);
        if (vocabulary_.special().unk != kNoToken) out.push_back(vocabulary_.special().unk);
    }

    const Vocabulary& vocabulary_;
    Trie trie_;
};

}  // namespace

std::unique_ptr<const TokenizerModel> makeWordPiece(const Vocabulary& v, const std::stop_token& stop) {
    return std::make_unique<WordPieceModel>(v, stop);
}

}  // namespace hearth::text
