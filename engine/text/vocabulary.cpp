#include "engine/text/vocabulary.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "engine/text/bpe_bytes.h"
#include "engine/text/pre_tokenizer.h"
#include "engine/text/unicode.h"

namespace hearth::text {

namespace {

constexpr struct {
    std::string_view model;
    Kind kind;
} kKinds[] = {
    {"llama", Kind::Spm},     {"gpt2", Kind::Bpe},      {"bert", Kind::WordPiece}, {"t5", Kind::Unigram},
    {"gemma4", Kind::Gemma4}, {"no_vocab", Kind::None}, {"none", Kind::None},
};

int hexDigit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

/// The byte that `<0xNN>` stands for.
std::optional<unsigned char> byteOf(std::string_view text) {
    if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
    const int high = hexDigit(text[3]), low = hexDigit(text[4]);
    if (high < 0 || low < 0) return std::nullopt;
    return static_cast<unsigned char>(high * 16 + low);
}

void checkCount(std::string_view what, uint64_t count, size_t n) {
    if (count == n) return;
    throw Error("cannot read the vocabulary",
                "it has " + std::to_string(n) + " tokens but " + std::to_string(count) + " " + std::string(what),
                "download the file again, or ask its publisher");
}

}  // namespace

std::string_view kindName(Kind kind) {
    switch (kind) {
        case Kind::None: return "none";
        case Kind::Spm: return "SentencePiece BPE";
        case Kind::Bpe: return "byte-level BPE";
        case Kind::WordPiece: return "WordPiece";
        case Kind::Unigram: return "Unigram";
        case Kind::Gemma4: return "character BPE";
    }
    return "none";
}

Vocabulary::Vocabulary(std::shared_ptr<const gguf::File> file) : file_(std::move(file)) {
    byte_tokens_.fill(kNoToken);
    readKind();
    const gguf::Value* tokens = file_->value("tokenizer.ggml.tokens");
    if (kind_ == Kind::None || !tokens) {
        kind_ = Kind::None;
        offsets_.assign(1, 0);
        return;
    }
    const std::vector<std::string_view> texts = tokens->strings();
    if (texts.size() > static_cast<size_t>(std::numeric_limits<Token>::max())) {
        throw Error("cannot read the vocabulary", "it has more than 2147483647 tokens");
    }
    readTypes(texts.size());
    readScores(texts.size());
    readPieces(texts);
    readSpecialIds();
    readSwitches();
    readCharsmap();
    readSuppressed();
    findRoles();
    file_->check();
}

void Vocabulary::readKind() {
    const std::string_view model = file_->string("tokenizer.ggml.model").value_or("none");
    const auto known =
        std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto& k) { return k.model == model; });
    if (known == std::end(kKinds)) {
        throw Error("cannot read the vocabulary",
                    "its kind \"" + std::string(model.substr(0, 64)) + "\" is not known to Hearth",
                    "use a model with a SentencePiece, byte-level BPE, WordPiece or Unigram vocabulary");
    }
    kind_ = known->kind;
    pre_ = file_->string("tokenizer.ggml.pre").value_or("");
    // Some byte-level models say by their split rule that they work on characters.
    if (kind_ == Kind::Bpe && PreTokenizer::isCharacterRule(pre_)) kind_ = Kind::Gemma4;
    if (kind_ != Kind::Bpe) return;
    if (pre_.empty() || pre_ == "default") {
        warnings_.push_back(
            "The file does not say how text is split before its tokens are merged. A common rule is used; "
            "answers may be worse than they should be. A newer conversion of the model helps.");
    } else if (!PreTokenizer::isKnown(pre_)) {
        warnings_.push_back("The file asks for the split rule \"" + pre_.substr(0, 64) +
                            "\", which is not known to Hearth. "
                            "A common rule is used; answers may be worse than they should be.");
    }
}

void Vocabulary::readTypes(size_t n) {
    types_.assign(n, TokenType::Normal);
    flags_.assign(n, 0);
    const gguf::Value* value = file_->value("tokenizer.ggml.token_type");
    if (!value) return;
    checkCount("token types", value->count(), n);
    const std::vector<int64_t> types = value->integers();
    size_t odd = 0;
    for (size_t i = 0; i < n; ++i) {
        if (types[i] >= 1 && types[i] <= 6) {
            types_[i] = static_cast<TokenType>(types[i]);
        } else {
            ++odd;
        }
    }
    if (odd)
        warnings_.push_back(std::to_string(odd) +
                            " tokens have a type that is not known; they are taken as normal ones.");
}

void Vocabulary::readScores(size_t n) {
    const gguf::Value* value = file_->value("tokenizer.ggml.scores");
    if (!value) {
        if (kind_ == Kind::Spm || kind_ == Kind::Unigram) {
            throw Error("cannot read the vocabulary", "it is a " + std::string(kindName(kind_)) + " one without scores",
                        "use another conversion of the model");
        }
        return;
    }
    checkCount("scores", value->count(), n);
    const std::vector<double> scores = value->numbers();
    scores_.resize(n);
    for (size_t i = 0; i < n; ++i) {
        // A score that is no number loses against every other.
        scores_[i] = scores[i] == scores[i] ? static_cast<float>(scores[i]) : std::numeric_limits<float>::lowest();
    }
}

void Vocabulary::readPieces(std::span<const std::string_view> texts) {
    uint64_t bytes = 0;
    for (std::string_view text : texts) bytes += text.size();
    if (bytes > std::numeric_limits<uint32_t>::max()) {
        throw Error("cannot read the vocabulary", "its tokens take more than 4 GiB");
    }
    arena_.reserve(bytes);
    offsets_.reserve(texts.size() + 1);
    offsets_.push_back(0);
    const bool has_bytes = kind_ == Kind::Spm || kind_ == Kind::Unigram || kind_ == Kind::Gemma4;
    size_t bad_bytes = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
        const std::string_view text = texts[i];
        TokenType& type = types_[i];
        const bool plain = type == TokenType::Normal || type == TokenType::Unused;
        const std::optional<unsigned char> byte =
            has_bytes && (plain || type == TokenType::Byte) ? byteOf(text) : std::nullopt;
        if (byte) {
            type = TokenType::Byte;
            byte_tokens_[*byte] = static_cast<Token>(i);
            arena_.push_back(static_cast<char>(*byte));
        } else if (kind_ == Kind::Bpe) {
            if (plain || type == TokenType::Byte) {
                appendByteLevel(arena_, text);
            } else {
                arena_.append(text);
            }
        } else if (kind_ == Kind::WordPiece && plain && text.starts_with(kLowerBlock) &&
                   text.size() > kLowerBlock.size()) {
            arena_.append(" ").append(text.substr(kLowerBlock.size()));   // the mark of a beginning
        } else if (kind_ != Kind::WordPiece && (plain || type == TokenType::UserDefined)) {
            arena_.append(replaceAll(text, kLowerBlock, " "));
        } else {
            arena_.append(text);
        }
        if (type == TokenType::Byte && !byte && kind_ != Kind::Bpe) {
            type = TokenType::Unused;
            ++bad_bytes;
        }
        offsets_.push_back(static_cast<uint32_t>(arena_.size()));
    }
    if (bad_bytes)
        warnings_.push_back(std::to_string(bad_bytes) +
                            " byte tokens do not name a byte; they are never produced from text.");
}

void Vocabulary::readCharsmap() {
    const gguf::Value* value = file_->value("tokenizer.ggml.precompiled_charsmap");
    if (!value || kind_ != Kind::Unigram) return;
    const std::vector<int64_t> bytes = value->integers();
    charsmap_.reserve(bytes.size());
    for (int64_t b : bytes) charsmap_.push_back(static_cast<char>(b));
}

void Vocabulary::readSuppressed() {
    const gguf::Value* value = file_->value("tokenizer.ggml.suppress_tokens");
    if (!value) return;
    for (int64_t id : value->integers()) {
        if (id >= 0 && static_cast<uint64_t>(id) < size()) suppressed_.push_back(static_cast<Token>(id));
    }
}

std::string_view Vocabulary::pieceBytes(Token t) const {
    if (!contains(t)) return {};
    const size_t i = static_cast<size_t>(t);
    return std::string_view(arena_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
}

TokenType Vocabulary::type(Token t) const { return contains(t) ? types_[static_cast<size_t>(t)] : TokenType::Unused; }

float Vocabulary::score(Token t) const {
    return contains(t) && !scores_.empty() ? scores_[static_cast<size_t>(t)] : 0.0f;
}

std::optional<Token> Vocabulary::findSpecial(std::string_view text) const {
    const auto found = by_text_.find(text);
    return found == by_text_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string_view> Vocabulary::merges() const {
    const gguf::Value* value = file_->value("tokenizer.ggml.merges");
    return value ? value->strings() : std::vector<std::string_view>();
}

}  // namespace hearth::text
