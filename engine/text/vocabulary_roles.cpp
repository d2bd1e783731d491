/// Which token plays which part: ids from the file, and what the texts of the tokens say.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "engine/text/pre_tokenizer.h"
#include "engine/text/vocabulary.h"

namespace hearth::text {

namespace {

/// Texts that end a generation (research: formats §3.3).
constexpr std::string_view kEndTexts[] = {
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "</s>",
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    "<|tool_response>",
    "<｜end▁of▁sentence｜>",
    "[e~[",
};

struct Role {
    Token SpecialTokens::* token;
    std::string_view texts[8];   ///< the first one that exists is taken; empty ones end the list
};

/// Parts that a file may leave unnamed, by the texts that models use for them.
constexpr Role kRoles[] = {
    {&SpecialTokens::eot,
     {"<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<turn|>", "<|endoftext|>", "<EOT>",
      "<｜end▁of▁sentence｜>"}},
    {&SpecialTokens::eom, {"<|eom_id|>"}},
    {&SpecialTokens::fim_pre,
     {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<PRE>", "▁<PRE>", "<|code_prefix|>", "<｜fim▁begin｜>"}},
    {&SpecialTokens::fim_suf,
     {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<SUF>", "▁<SUF>", "<|code_suffix|>", "<｜fim▁hole｜>"}},
    {&SpecialTokens::fim_mid,
     {"<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<MID>", "▁<MID>", "<|code_middle|>", "<｜fim▁end｜>"}},
    {&SpecialTokens::fim_pad, {"<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>"}},
    {&SpecialTokens::fim_rep, {"<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"}},
    {&SpecialTokens::fim_sep, {"<|file_sep|>"}},
};

constexpr Token SpecialTokens::* kAllRoles[] = {
    &SpecialTokens::bos,     &SpecialTokens::eos,     &SpecialTokens::eot,     &SpecialTokens::eom,
    &SpecialTokens::unk,     &SpecialTokens::sep,     &SpecialTokens::pad,     &SpecialTokens::mask,
    &SpecialTokens::fim_pre, &SpecialTokens::fim_suf, &SpecialTokens::fim_mid, &SpecialTokens::fim_pad,
    &SpecialTokens::fim_rep, &SpecialTokens::fim_sep,
};

SpecialTokens defaultsOf(Kind kind) {
    SpecialTokens s;
    switch (kind) {
        case Kind::Spm:
        case Kind::Gemma4: s.bos = 1, s.eos = 2, s.unk = 0; break;
        case Kind::Bpe: s.bos = 11, s.eos = 11; break;
        case Kind::WordPiece: s.bos = 101, s.unk = 100, s.sep = 102, s.pad = 0, s.mask = 103; break;
        case Kind::Unigram: s.eos = 1, s.unk = 2, s.pad = 0; break;
        case Kind::None: break;
    }
    return s;
}

std::string lowered(std::string_view s) {
    std::string out(s);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

/// The texts that name roles, with the tokens that carry them. One pass over the vocabulary, without a table of it all.
class Named {
public:
    Named() {
        for (std::string_view text : kEndTexts) tokens_.emplace(text, kNoToken);
        for (const Role& role : kRoles) {
            for (std::string_view text : role.texts) {
                if (!text.empty()) tokens_.emplace(text, kNoToken);
            }
        }
        for (std::string_view text : {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"})
            tokens_.emplace(text, kNoToken);
        for (const auto& [text, token] : tokens_) first_bytes_[static_cast<unsigned char>(text[0])] = true;
    }
    void offer(std::string_view text, Token token) {
        if (text.size() < 4 || text.size() > 40 || !first_bytes_[static_cast<unsigned char>(text[0])]) return;
        const auto found = tokens_.find(text);
        if (found != tokens_.end() && found->second == kNoToken) found->second = token;
    }
    Token find(std::string_view text) const {
        const auto found = tokens_.find(text);
        return found == tokens_.end() ? kNoToken : found->second;
    }

private:
    std::unordered_map<std::string_view, Token> tokens_;
    std::array<bool, 256> first_bytes_{};
};

}  // namespace

Token Vocabulary::idFromKey(std::string_view key, Token fallback) {
    const std::optional<int64_t> id = file_->integer("tokenizer.ggml." + std::string(key));
    if (!id) return contains(fallback) ? fallback : kNoToken;
    if (*id >= 0 && static_cast<uint64_t>(*id) < size()) return static_cast<Token>(*id);
    if (*id != -1 && *id != 0xffffffff) {
        warnings_.push_back("The file says " + std::string(key) + " = " + std::to_string(*id) +
                            ", which is no token; it is ignored.");
    }
    return kNoToken;
}

void Vocabulary::readSpecialIds() {
    const SpecialTokens d = defaultsOf(kind_);
    SpecialTokens& s = special_;
    s.bos = idFromKey("bos_token_id", d.bos);
    s.eos = idFromKey("eos_token_id", d.eos);
    s.eot = idFromKey("eot_token_id", d.eot);
    s.eom = idFromKey("eom_token_id", d.eom);
    s.unk = idFromKey("unknown_token_id", d.unk);
    s.sep = idFromKey(file_->value("tokenizer.ggml.seperator_token_id") ? "seperator_token_id" : "separator_token_id",
                      d.sep);
    s.pad = idFromKey("padding_token_id", d.pad);
    s.mask = idFromKey("mask_token_id", d.mask);
    s.fim_pre = idFromKey("fim_pre_token_id", d.fim_pre);
    s.fim_suf = idFromKey("fim_suf_token_id", d.fim_suf);
    s.fim_mid = idFromKey("fim_mid_token_id", d.fim_mid);
    s.fim_pad = idFromKey("fim_pad_token_id", d.fim_pad);
    s.fim_rep = idFromKey("fim_rep_token_id", d.fim_rep);
    s.fim_sep = idFromKey("fim_sep_token_id", d.fim_sep);
    // BERT files often name their [CLS] only as cls_token_id.
    if (kind_ == Kind::WordPiece && !file_->value("tokenizer.ggml.bos_token_id"))
        s.bos = idFromKey("cls_token_id", s.bos);
}

void Vocabulary::readSwitches() {
    const SplitTraits traits = PreTokenizer::traits(pre_);
    const auto flag = [this](const char* key, bool fallback) {
        return file_->boolean(std::string("tokenizer.ggml.") + key).value_or(fallback);
    };
    const bool bpe = kind_ == Kind::Bpe;
    add_bos_ = flag("add_bos_token", kind_ == Kind::Spm || kind_ == Kind::WordPiece || (bpe && traits.add_bos));
    if (kind_ == Kind::Gemma4) add_bos_ = true;
    add_eos_ = flag("add_eos_token", kind_ == Kind::Unigram);
    add_sep_ = flag("add_sep_token", kind_ == Kind::WordPiece || (bpe && traits.add_sep));
    add_space_prefix_ = flag("add_space_prefix", kind_ == Kind::Spm || kind_ == Kind::Unigram);
    remove_extra_whitespaces_ = flag("remove_extra_whitespaces", kind_ == Kind::Unigram);
    cleans_spaces_ = bpe && traits.cleans_spaces;
    lowercase_ = flag("normalizer.lowercase", true);
    strip_accents_ = flag("normalizer.strip_accents", lowercase_);
}

void Vocabulary::findRoles() {
    Named named;
    for (size_t i = 0; i < size(); ++i) {
        const Token t = static_cast<Token>(i);
        named.offer(pieceBytes(t), t);
        if (types_[i] == TokenType::Control) set(t, kControl | kNeedsTrust);
        if (types_[i] == TokenType::Unknown) set(t, kNeedsTrust);
    }
    for (const Role& role : kRoles) {
        Token& token = special_.*role.token;
        for (std::string_view text : role.texts) {
            if (token == kNoToken && !text.empty()) token = named.find(text);
        }
    }
    for (std::string_view text : kEndTexts) {
        if (const Token t = named.find(text); t != kNoToken) set(t, kEog);
    }
    for (Token t : {special_.eos, special_.eot, special_.eom, special_.fim_pad, special_.fim_rep, special_.fim_sep}) {
        if (t != kNoToken) set(t, kEog);
    }
    // gpt-oss goes on after <|end|> with the next channel, and shows its marks to whoever splits the channels.
    if (named.find("<|return|>") != kNoToken && named.find("<|call|>") != kNoToken &&
        named.find("<|end|>") != kNoToken) {
        const Token end = named.find("<|end|>");
        clear(end, kEog);
        set(end, kControl | kNeedsTrust);
        if (special_.eot == end) special_.eot = kNoToken;
        for (std::string_view text : {"<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"}) {
            if (const Token t = named.find(text); t != kNoToken) {
                clear(t, kControl);
                set(t, kNeedsTrust);
            }
        }
    }
    // In a Gemma 4 vocabulary </s> is a piece of HTML.
    if (const Token t = named.find("</s>"); kind_ == Kind::Gemma4 && t != kNoToken && t != special_.eos) clear(t, kEog);

    for (Token t : {special_.fim_pre, special_.fim_suf, special_.fim_mid}) {
        if (t != kNoToken) set(t, kControl | kNeedsTrust);
    }
    for (size_t i = 0; i < size(); ++i) {
        const Token t = static_cast<Token>(i);
        if (isEog(t)) {
            set(t, kControl | kNeedsTrust);
            eog_.push_back(t);
        }
        if (isControl(t) || needsTrust(t) || types_[i] == TokenType::UserDefined) {
            marked_.push_back(t);
            if (!pieceBytes(t).empty()) by_text_.emplace(pieceBytes(t), t);
        }
    }
    markSwallowing();
}

void Vocabulary::markSwallowing() {
    const std::string name = lowered(file_->string("general.name").value_or(""));
    const bool phi3 =
        kind_ == Kind::Spm && (name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos);
    if (phi3) {
        for (Token t : marked_) {
            const std::string_view text = pieceBytes(t);
            if (text != "<unk>" && text != "<s>" && text != "<|endoftext|>") set(t, kSwallowsRight);
        }
    }
    const bool masked =
        kind_ == Kind::WordPiece || pre_.starts_with("jina") || pre_ == "roberta-bpe" || pre_ == "modern-bert";
    if (masked) {
        for (std::string_view text : {"<mask>", "[MASK]"}) {
            const std::optional<Token> t = findSpecial(text);
            if (t && (text == "<mask>" || pre_ == "modern-bert")) set(*t, kSwallowsLeft);
        }
    }
}

}  // namespace hearth::text
