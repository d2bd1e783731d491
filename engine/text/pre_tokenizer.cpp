#include "engine/text/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/text/pre_tokenizer_rules.h"
#include "engine/text/unicode.h"

namespace hearth::text {

namespace {

using Pieces = std::vector<std::string_view>;

template <auto Free>
struct Freed {
    template <typename T>
    void operator()(T* p) const {
        Free(p);
    }
};
using Code = std::unique_ptr<pcre2_code, Freed<pcre2_code_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>>;

/// PCRE2's \s also takes U+180E; the rules mean the property White_Space.
std::string withWhiteSpace(std::string_view pattern) {
    return replaceAll(replaceAll(pattern, "\\s", "\\p{White_Space}"), "\\S", "\\P{White_Space}");
}

Code compile(std::string_view rule) {
    const std::string pattern = withWhiteSpace(rule);
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NO_UTF_CHECK;
    if (pattern.find("&&") != std::string::npos) options |= PCRE2_ALT_EXTENDED_CLASS;
    int code = 0;
    PCRE2_SIZE offset = 0;
    Code compiled(
        pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), options, &code, &offset, nullptr));
    if (!compiled) {
        throw Error("cannot prepare the vocabulary's split rule",
                    "PCRE2 reports " + std::to_string(code) + " at character " + std::to_string(offset) + " of it",
                    "install PCRE2 10.45 or newer");
    }
    pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);  // without JIT the interpreter does the same, more slowly
    return compiled;
}

void cut(std::string_view text, size_t from, size_t to, Pieces& out) {
    if (to > from) out.push_back(text.substr(from, to - from));
}

size_t lengthAt(std::string_view text, size_t at) { return std::max<size_t>(sequenceLength(text.substr(at)), 1); }

/// End of the run of decimal digits at `at`; `digits` gets the start of each of them.
size_t digitRun(std::string_view text, size_t at, std::vector<size_t>& digits) {
    digits.clear();
    while (at < text.size()) {
        const size_t n = lengthAt(text, at);
        if (!isDecimalDigit(codePoint(text.substr(at), n))) break;
        digits.push_back(at);
        at += n;
    }
    return at;
}

/// `\s+$`
void splitTrailingSpace(std::string_view text, Pieces& out) {
    size_t end = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t n = lengthAt(text, at);
        if (!isWhiteSpace(codePoint(text.substr(at), n))) end = at + n;
        at += n;
    }
    cut(text, 0, end, out);
    cut(text, end, text.size(), out);
}

/// `\d{1,3}(?=(?:\d{3})*\b)`, or with `before_anything` only the borders that `(?=(\d{3})+(?!\d))` finds.
void splitDigits(std::string_view text, bool before_anything, Pieces& out) {
    std::vector<size_t> digits;
    size_t done = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t end = digitRun(text, at, digits);
        if (digits.empty()) {
            at += lengthAt(text, at);
            continue;
        }
        const bool border = end == text.size() || !isWordCharacter(codePoint(text.substr(end), lengthAt(text, end)));
        if (before_anything || border) {
            for (size_t i = 0; i < digits.size(); ++i) {
                if ((digits.size() - i) % 3 != 0 && (before_anything || i != 0)) continue;
                cut(text, done, digits[i], out);
                done = digits[i];
            }
            if (!before_anything) {
                cut(text, done, end, out);
                done = end;
            }
        }
        at = end;
    }
    cut(text, done, text.size(), out);
}

}  // namespace

struct PreTokenizer::Pass {
    std::string_view special;  ///< name of a pass that is no expression
    Code code;

    void split(std::string_view text, pcre2_match_data* data, pcre2_match_context* context, Pieces& out) const {
        if (special == kTrailingSpacePass) return splitTrailingSpace(text, out);
        if (special == kDigitGroupsPass) return splitDigits(text, false, out);
        if (special == kDigitBordersPass) return splitDigits(text, true, out);
        const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
        size_t done = 0;
        while (done < text.size()) {
            int rc = pcre2_match(code.get(), subject, text.size(), done, PCRE2_NO_UTF_CHECK, data, context);
            if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
                rc = pcre2_match(code.get(), subject, text.size(), done, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                                 context);
            }
            if (rc == PCRE2_ERROR_NOMATCH) break;
            if (rc < 0)
                throw Error("cannot split the text", "PCRE2 reports " + std::to_string(rc), "use a shorter text");
            const PCRE2_SIZE* at = pcre2_get_ovector_pointer(data);
            cut(text, done, at[0], out);
            cut(text, at[0], at[1], out);
            done = at[1];
        }
        cut(text, done, text.size(), out);
    }
};

PreTokenizer::PreTokenizer(std::string_view pre) {
    const SplitRule* rule = findSplitRule(pre);
    if (!rule) rule = findSplitRule("default");
    for (const std::string& pass : rule->passes) {
        auto made = std::make_unique<Pass>();
        for (std::string_view special : {kTrailingSpacePass, kDigitGroupsPass, kDigitBordersPass}) {
            if (pass == special) made->special = special;
        }
        if (made->special.empty()) made->code = compile(pass);
        passes_.push_back(std::move(made));
    }
}

PreTokenizer::~PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;

std::vector<std::string_view> PreTokenizer::split(std::string_view text) const {
    const MatchData data(pcre2_match_data_create(1, nullptr));
    const MatchContext context(pcre2_match_context_create(nullptr));
    if (!data || !context) throw std::bad_alloc();
    // The rules step back over at most the piece that they match; ten times the text is far more than they need.
    const size_t limit = std::clamp<size_t>(text.size() * 10, 10'000'000, 0xffffffff);
    pcre2_set_match_limit(context.get(), static_cast<uint32_t>(limit));
    Pieces pieces, next;
    if (!text.empty()) pieces.push_back(text);
    for (const auto& pass : passes_) {
        next.clear();
        next.reserve(pieces.size());
        for (std::string_view piece : pieces) pass->split(piece, data.get(), context.get(), next);
        pieces.swap(next);
    }
    return pieces;
}

bool PreTokenizer::isKnown(std::string_view pre) { return findSplitRule(pre) != nullptr; }

bool PreTokenizer::isCharacterRule(std::string_view pre) {
    const SplitRule* rule = findSplitRule(pre);
    return rule && rule == findSplitRule("gemma4");
}

SplitTraits PreTokenizer::traits(std::string_view pre) {
    const SplitRule* rule = findSplitRule(pre);
    return rule ? rule->traits : SplitTraits{};
}

}  // namespace hearth::text
