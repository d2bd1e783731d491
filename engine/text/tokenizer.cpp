#include "engine/text/tokenizer.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/text/unicode.h"

namespace hearth::text {

namespace {

/// Places in a text are counted in 32 bits, after every byte may have become three.
constexpr size_t kLongestText = size_t{1} << 30;

/// Longer names are not looked for in text, so that a hostile list of them cannot make the search slow.
constexpr size_t kLongestName = 1024;

/// What clean_up_tokenization_spaces does in the byte-level vocabularies that have it on.
std::string cleanedUp(std::string_view text) {
    std::string out(text);
    for (const char* mark : {"?", "!", ".", ","}) out = replaceAll(out, std::string(" ") + mark, mark);
    out = replaceAll(out, " ' ", "'");
    for (const char* suffix : {"'m", "'s", "'ve", "'re"}) out = replaceAll(out, std::string(" ") + suffix, suffix);
    return out;
}

bool isAsciiSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::unique_ptr<const TokenizerModel> TokenizerModel::make(const Vocabulary& v, const std::stop_token& stop) {
    switch (v.kind()) {
        case Kind::Spm: return makeSpm(v, stop);
        case Kind::Bpe: return makeBpe(v, stop);
        case Kind::Gemma4: return makeGemma4(v, stop);
        case Kind::WordPiece: return makeWordPiece(v, stop);
        case Kind::Unigram: return makeUnigram(v, stop);
        case Kind::None: break;
    }
    return nullptr;
}

struct Tokenizer::Text {
    std::string_view bytes;
    std::vector<std::pair<size_t, size_t>> trusted;   ///< stretches, ascending, neither touching nor empty
};

Tokenizer::Tokenizer(std::shared_ptr<const Vocabulary> vocabulary, const std::stop_token& stop)
    : vocabulary_(std::move(vocabulary)), model_(TokenizerModel::make(*vocabulary_, stop)) {
    std::vector<std::pair<std::string_view, Token>> entries;
    for (Token t : vocabulary_->specialTokens()) {
        const std::string_view name = vocabulary_->pieceBytes(t);
        if (name.empty() || name.size() > kLongestName) continue;
        entries.emplace_back(name, t);
        special_first_[static_cast<unsigned char>(name[0])] = true;
    }
    specials_ = Trie(std::move(entries));
    vocabulary_->file().check();
}

std::vector<Token> Tokenizer::encode(std::string_view text, const EncodeOptions& options, EncodeNotes* notes) const {
    Text whole{text, {}};
    if (options.parse_special && !text.empty()) whole.trusted.emplace_back(0, text.size());
    return encodeText(whole, options.add_special, false, notes);
}

std::vector<Token> Tokenizer::encode(std::span<const Segment> segments, bool add_special, EncodeNotes* notes) const {
    std::string joined;
    Text whole;
    for (const Segment& segment : segments) {
        const size_t from = joined.size();
        joined += segment.text;
        if (!segment.trusted || segment.text.empty()) continue;
        if (!whole.trusted.empty() && whole.trusted.back().second == from) {
            whole.trusted.back().second = joined.size();
        } else {
            whole.trusted.emplace_back(from, joined.size());
        }
    }
    whole.bytes = joined;
    return encodeText(whole, add_special, true, notes);
}

std::vector<Token> Tokenizer::encodeText(const Text& text, bool add_special, bool one_bos, EncodeNotes* notes) const {
    if (!model_) {
        throw Error("cannot turn text into tokens", "the model file has no vocabulary",
                    "use a file that has one, or give token ids");
    }
    if (text.bytes.size() > kLongestText) {
        throw Error("cannot turn text into tokens", "the text is longer than 1 GiB", "use a shorter text");
    }
    const Vocabulary& v = *vocabulary_;
    const SpecialTokens& special = v.special();
    std::vector<Token> out;
    const bool wants_bos = add_special && v.addBos() && special.bos != kNoToken;
    if (wants_bos) out.push_back(special.bos);
    encodeBody(text, out);
    if (wants_bos && out.size() > 1 && out[1] == special.bos) {
        if (one_bos) out.erase(out.begin());
        if (notes) notes->bos_already_there = true;
    }
    if (add_special && v.addEos() && special.eos != kNoToken) {
        out.push_back(special.eos);
    } else if (add_special && v.addSep() && special.sep != kNoToken) {
        out.push_back(special.sep);
    }
    return out;
}

void Tokenizer::encodeBody(const Text& text, std::vector<Token>& out) const {
    const Vocabulary& v = *vocabulary_;
    const std::string_view bytes = text.bytes;
    auto trusted = text.trusted.begin();
    size_t begin = 0;         // of the stretch of ordinary text that is being collected
    bool after_mark = true;   // the stretch is at the start or follows a control token
    const auto flush = [&](size_t end, bool before_mark) {
        const Stretch stretch{bytes.substr(begin, end - begin), after_mark, before_mark};
        if (!stretch.text.empty() || stretch.needsPrefix()) model_->encode(stretch, out);
    };
    for (size_t at = 0; at < bytes.size();) {
        if (!special_first_[static_cast<unsigned char>(bytes[at])]) {
            ++at;
            continue;
        }
        while (trusted != text.trusted.end() && trusted->second <= at) ++trusted;
        const size_t trusted_end = trusted != text.trusted.end() && trusted->first <= at ? trusted->second : at;
        size_t length = 0;
        Token token = kNoToken;
        specials_.forEachPrefix(bytes.substr(at), [&](size_t n, Token t) {
            if (v.needsTrust(t) && at + n > trusted_end) return;
            length = n;
            token = t;
        });
        if (token == kNoToken) {
            ++at;
            continue;
        }
        const bool mark = v.needsTrust(token);
        size_t end = at;
        while (v.swallowsLeft(token) && end > begin && isAsciiSpace(bytes[end - 1])) --end;
        flush(end, mark);
        out.push_back(token);
        at += length;
        while (v.swallowsRight(token) && at < bytes.size() && isAsciiSpace(bytes[at])) ++at;
        begin = at;
        after_mark = mark;
    }
    flush(bytes.size(), true);
}

bool Tokenizer::dropsLeadingSpace() const {
    const Kind kind = vocabulary_->kind();
    return kind == Kind::WordPiece || ((kind == Kind::Spm || kind == Kind::Unigram) && vocabulary_->addSpacePrefix());
}

std::string_view Tokenizer::decodeOne(Token token, bool control_tokens) const {
    const bool hidden = vocabulary_->isControl(token) || vocabulary_->type(token) == TokenType::Unknown;
    if (hidden && !control_tokens) return {};
    return vocabulary_->pieceBytes(token);
}

std::string Tokenizer::decode(std::span<const Token> tokens, const DecodeOptions& options) const {
    std::string out;
    bool first = options.at_text_start && dropsLeadingSpace();
    for (Token t : tokens) {
        std::string_view piece = decodeOne(t, options.control_tokens);
        if (first && piece.starts_with(' ') && !vocabulary_->isControl(t)) piece.remove_prefix(1);
        first = false;
        out += piece;
    }
    return options.clean_up && vocabulary_->cleansSpaces() ? cleanedUp(out) : out;
}

}  // namespace hearth::text
