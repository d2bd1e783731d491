#include "engine/text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

#include "engine/text/jinja/text.h"

namespace hearth::text::jinja {

namespace {

struct Special {
    char32_t code;
    const char32_t *lower, *upper, *title;
};

/// Characters whose lower, upper or title case is longer than one character (Unicode, SpecialCasing), ascending.
constexpr Special kSpecial[] = {
    {0xdf, U"\u00df", U"SS", U"Ss"},
    {0x130, U"i\u0307", U"\u0130", U"\u0130"},
    {0x149, U"\u0149", U"\u02bcN", U"\u02bcN"},
    {0x1f0, U"\u01f0", U"J\u030c", U"J\u030c"},
    {0x390, U"\u0390", U"\u0399\u0308\u0301", U"\u0399\u0308\u0301"},
    {0x3b0, U"\u03b0", U"\u03a5\u0308\u0301", U"\u03a5\u0308\u0301"},
    {0x587, U"\u0587", U"\u0535\u0552", U"\u0535\u0582"},
    {0x1e96, U"\u1e96", U"H\u0331", U"H\u0331"},
    {0x1e97, U"\u1e97", U"T\u0308", U"T\u0308"},
    {0x1e98, U"\u1e98", U"W\u030a", U"W\u030a"},
    {0x1e99, U"\u1e99", U"Y\u030a", U"Y\u030a"},
    {0x1e9a, U"\u1e9a", U"A\u02be", U"A\u02be"},
    {0x1f50, U"\u1f50", U"\u03a5\u0313", U"\u03a5\u0313"},
    {0x1f52, U"\u1f52", U"\u03a5\u0313\u0300", U"\u03a5\u0313\u0300"},
    {0x1f54, U"\u1f54", U"\u03a5\u0313\u0301", U"\u03a5\u0313\u0301"},
    {0x1f56, U"\u1f56", U"\u03a5\u0313\u0342", U"\u03a5\u0313\u0342"},
    {0x1f80, U"\u1f80", U"\u1f08\u0399", U"\u1f88"},
    {0x1f81, U"\u1f81", U"\u1f09\u0399", U"\u1f89"},
    {0x1f82, U"\u1f82", U"\u1f0a\u0399", U"\u1f8a"},
    {0x1f83, U"\u1f83", U"\u1f0b\u0399", U"\u1f8b"},
    {0x1f84, U"\u1f84", U"\u1f0c\u0399", U"\u1f8c"},
    {0x1f85, U"\u1f85", U"\u1f0d\u0399", U"\u1f8d"},
    {0x1f86, U"\u1f86", U"\u1f0e\u0399", U"\u1f8e"},
    {0x1f87, U"\u1f87", U"\u1f0f\u0399", U"\u1f8f"},
    {0x1f88, U"\u1f80", U"\u1f08\u0399", U"\u1f88"},
    {0x1f89, U"\u1f81", U"\u1f09\u0399", U"\u1f89"},
    {0x1f8a, U"\u1f82", U"\u1f0a\u0399", U"\u1f8a"},
    {0x1f8b, U"\u1f83", U"\u1f0b\u0399", U"\u1f8b"},
    {0x1f8c, U"\u1f84", U"\u1f0c\u0399", U"\u1f8c"},
    {0x1f8d, U"\u1f85", U"\u1f0d\u0399", U"\u1f8d"},
    {0x1f8e, U"\u1f86", U"\u1f0e\u0399", U"\u1f8e"},
    {0x1f8f, U"\u1f87", U"\u1f0f\u0399", U"\u1f8f"},
    {0x1f90, U"\u1f90", U"\u1f28\u0399", U"\u1f98"},
    {0x1f91, U"\u1f91", U"\u1f29\u0399", U"\u1f99"},
    {0x1f92, U"\u1f92", U"\u1f2a\u0399", U"\u1f9a"},
    {0x1f93, U"\u1f93", U"\u1f2b\u0399", U"\u1f9b"},
    {0x1f94, U"\u1f94", U"\u1f2c\u0399", U"\u1f9c"},
    {0x1f95, U"\u1f95", U"\u1f2d\u0399", U"\u1f9d"},
    {0x1f96, U"\u1f96", U"\u1f2e\u0399", U"\u1f9e"},
    {0x1f97, U"\u1f97", U"\u1f2f\u0399", U"\u1f9f"},
    {0x1f98, U"\u1f90", U"\u1f28\u0399", U"\u1f98"},
    {0x1f99, U"\u1f91", U"\u1f29\u0399", U"\u1f99"},
    {0x1f9a, U"\u1f92", U"\u1f2a\u0399", U"\u1f9a"},
    {0x1f9b, U"\u1f93", U"\u1f2b\u0399", U"\u1f9b"},
    {0x1f9c, U"\u1f94", U"\u1f2c\u0399", U"\u1f9c"},
    {0x1f9d, U"\u1f95", U"\u1f2d\u0399", U"\u1f9d"},
    {0x1f9e, U"\u1f96", U"\u1f2e\u0399", U"\u1f9e"},
    {0x1f9f, U"\u1f97", U"\u1f2f\u0399", U"\u1f9f"},
    {0x1fa0, U"\u1fa0", U"\u1f68\u0399", U"\u1fa8"},
    {0x1fa1, U"\u1fa1", U"\u1f69\u0399", U"\u1fa9"},
    {0x1fa2, U"\u1fa2", U"\u1f6a\u0399", U"\u1faa"},
    {0x1fa3, U"\u1fa3", U"\u1f6b\u0399", U"\u1fab"},
    {0x1fa4, U"\u1fa4", U"\u1f6c\u0399", U"\u1fac"},
    {0x1fa5, U"\u1fa5", U"\u1f6d\u0399", U"\u1fad"},
    {0x1fa6, U"\u1fa6", U"\u1f6e\u0399", U"\u1fae"},
    {0x1fa7, U"\u1fa7", U"\u1f6f\u0399", U"\u1faf"},
    {0x1fa8, U"\u1fa0", U"\u1f68\u0399", U"\u1fa8"},
    {0x1fa9, U"\u1fa1", U"\u1f69\u0399", U"\u1fa9"},
    {0x1faa, U"\u1fa2", U"\u1f6a\u0399", U"\u1faa"},
    {0x1fab, U"\u1fa3", U"\u1f6b\u0399", U"\u1fab"},
    {0x1fac, U"\u1fa4", U"\u1f6c\u0399", U"\u1fac"},
    {0x1fad, U"\u1fa5", U"\u1f6d\u0399", U"\u1fad"},
    {0x1fae, U"\u1fa6", U"\u1f6e\u0399", U"\u1fae"},
    {0x1faf, U"\u1fa7", U"\u1f6f\u0399", U"\u1faf"},
    {0x1fb2, U"\u1fb2", U"\u1fba\u0399", U"\u1fba\u0345"},
    {0x1fb3, U"\u1fb3", U"\u0391\u0399", U"\u1fbc"},
    {0x1fb4, U"\u1fb4", U"\u0386\u0399", U"\u0386\u0345"},
    {0x1fb6, U"\u1fb6", U"\u0391\u0342", U"\u0391\u0342"},
    {0x1fb7, U"\u1fb7", U"\u0391\u0342\u0399", U"\u0391\u0342\u0345"},
    {0x1fbc, U"\u1fb3", U"\u0391\u0399", U"\u1fbc"},
    {0x1fc2, U"\u1fc2", U"\u1fca\u0399", U"\u1fca\u0345"},
    {0x1fc3, U"\u1fc3", U"\u0397\u0399", U"\u1fcc"},
    {0x1fc4, U"\u1fc4", U"\u0389\u0399", U"\u0389\u0345"},
    {0x1fc6, U"\u1fc6", U"\u0397\u0342", U"\u0397\u0342"},
    {0x1fc7, U"\u1fc7", U"\u0397\u0342\u0399", U"\u0397\u0342\u0345"},
    {0x1fcc, U"\u1fc3", U"\u0397\u0399", U"\u1fcc"},
    {0x1fd2, U"\u1fd2", U"\u0399\u0308\u0300", U"\u0399\u0308\u0300"},
    {0x1fd3, U"\u1fd3", U"\u0399\u0308\u0301", U"\u0399\u0308\u0301"},
    {0x1fd6, U"\u1fd6", U"\u0399\u0342", U"\u0399\u0342"},
    {0x1fd7, U"\u1fd7", U"\u0399\u0308\u0342", U"\u0399\u0308\u0342"},
    {0x1fe2, U"\u1fe2", U"\u03a5\u0308\u0300", U"\u03a5\u0308\u0300"},
    {0x1fe3, U"\u1fe3", U"\u03a5\u0308\u0301", U"\u03a5\u0308\u0301"},
    {0x1fe4, U"\u1fe4", U"\u03a1\u0313", U"\u03a1\u0313"},
    {0x1fe6, U"\u1fe6", U"\u03a5\u0342", U"\u03a5\u0342"},
    {0x1fe7, U"\u1fe7", U"\u03a5\u0308\u0342", U"\u03a5\u0308\u0342"},
    {0x1ff2, U"\u1ff2", U"\u1ffa\u0399", U"\u1ffa\u0345"},
    {0x1ff3, U"\u1ff3", U"\u03a9\u0399", U"\u1ffc"},
    {0x1ff4, U"\u1ff4", U"\u038f\u0399", U"\u038f\u0345"},
    {0x1ff6, U"\u1ff6", U"\u03a9\u0342", U"\u03a9\u0342"},
    {0x1ff7, U"\u1ff7", U"\u03a9\u0342\u0399", U"\u03a9\u0342\u0345"},
    {0x1ffc, U"\u1ff3", U"\u03a9\u0399", U"\u1ffc"},
    {0xfb00, U"\ufb00", U"FF", U"Ff"},
    {0xfb01, U"\ufb01", U"FI", U"Fi"},
    {0xfb02, U"\ufb02", U"FL", U"Fl"},
    {0xfb03, U"\ufb03", U"FFI", U"Ffi"},
    {0xfb04, U"\ufb04", U"FFL", U"Ffl"},
    {0xfb05, U"\ufb05", U"ST", U"St"},
    {0xfb06, U"\ufb06", U"ST", U"St"},
    {0xfb13, U"\ufb13", U"\u0544\u0546", U"\u0544\u0576"},
    {0xfb14, U"\ufb14", U"\u0544\u0535", U"\u0544\u0565"},
    {0xfb15, U"\ufb15", U"\u0544\u053b", U"\u0544\u056b"},
    {0xfb16, U"\ufb16", U"\u054e\u0546", U"\u054e\u0576"},
    {0xfb17, U"\ufb17", U"\u0544\u053d", U"\u0544\u056d"},
};

utf8proc_category_t category(char32_t c) {
    return c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) ? UTF8PROC_CATEGORY_CS
                                                       : utf8proc_category(static_cast<int32_t>(c));
}

bool isCaseIgnorable(char32_t c) {
    switch (category(c)) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_SK: return true;
        default: return c == '\'' || c == '.' || c == ':' || c == 0xB7 || c == 0x2019;
    }
}

}  // namespace

bool isSpace(char32_t c) {
    if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F);
    return c == 0x85 || category(c) == UTF8PROC_CATEGORY_ZS || c == 0x2028 || c == 0x2029;
}

bool isPrintable(char32_t c) {
    if (c == ' ') return true;
    switch (category(c)) {
        case UTF8PROC_CATEGORY_CN:
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_CS:
        case UTF8PROC_CATEGORY_CO:
        case UTF8PROC_CATEGORY_ZS:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP: return false;
        default: return true;
    }
}

bool isAlpha(char32_t c) {
    const auto k = category(c);
    return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool isDecimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }

bool isDigit(char32_t c) {
    const bool superscript = c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079);
    return isDecimal(c) || superscript || (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468);
}

bool isNumeric(char32_t c) {
    const auto k = category(c);
    return k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_NO;
}

bool isLower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || c == 0xAA || c == 0xBA; }
bool isUpper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU; }
bool isTitle(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }
bool isCased(char32_t c) { return isLower(c) || isUpper(c) || isTitle(c); }

bool isWord(char32_t c) {
    if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    return isAlpha(c) || isNumeric(c) || category(c) == UTF8PROC_CATEGORY_MN || category(c) == UTF8PROC_CATEGORY_MC;
}

std::u32string toCase(char32_t c, Case form) {
    if (c < 0x80) {
        if (form == Case::Upper || form == Case::Title) return {c >= 'a' && c <= 'z' ? c - 32 : c};
        return {c >= 'A' && c <= 'Z' ? c + 32 : c};
    }
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return {c};
    const auto code = static_cast<int32_t>(c);
    if (form == Case::Fold) {
        int32_t folded[8];
        int boundary = 0;
        const auto n = utf8proc_decompose_char(code, folded, 8, UTF8PROC_CASEFOLD, &boundary);
        if (n < 1 || n > 8) return {c};
        return std::u32string(folded, folded + n);
    }
    const auto* special = std::lower_bound(std::begin(kSpecial), std::end(kSpecial), c,
                                           [](const Special& s, char32_t x) { return s.code < x; });
    if (special != std::end(kSpecial) && special->code == c)
        return form == Case::Lower ? special->lower : form == Case::Upper ? special->upper : special->title;
    return {static_cast<char32_t>(form == Case::Lower   ? utf8proc_tolower(code)
                                  : form == Case::Upper ? utf8proc_toupper(code)
                                                        : utf8proc_totitle(code))};
}

bool isFinalSigma(std::string_view s, size_t at) {
    constexpr size_t kLook = 64;  // bytes looked at on each side, so that a row of marks costs no square
    bool after_cased = false;
    const size_t begin = at < kLook ? 0 : at - kLook;
    for (size_t i = at; i > begin;) {
        do --i;
        while (i > begin && (static_cast<unsigned char>(s[i]) & 0xC0) == 0x80);
        const char32_t c = charAt(s, i);
        if (isCaseIgnorable(c)) continue;
        after_cased = isCased(c);
        break;
    }
    if (!after_cased) return false;
    for (size_t i = at + charLength(s, at); i < s.size() && i < at + kLook; i += charLength(s, i)) {
        const char32_t c = charAt(s, i);
        if (!isCaseIgnorable(c)) return !isCased(c);
    }
    return true;
}

}  // namespace hearth::text::jinja
