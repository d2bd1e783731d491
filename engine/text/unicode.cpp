#include "engine/text/unicode.h"

#include <utf8proc.h>

namespace hearth::text {

namespace {

unsigned char byteAt(std::string_view s, size_t i) { return static_cast<unsigned char>(s[i]); }

struct Lead {
    size_t length = 0;                          ///< 0: no character starts with this byte
    unsigned char low = 0x80, high = 0xbf;      ///< what the second byte may be
};

Lead leadOf(unsigned char b) {
    if (b < 0x80) return {1};
    if (b < 0xc2) return {};
    if (b < 0xe0) return {2};
    if (b == 0xe0) return {3, 0xa0, 0xbf};
    if (b == 0xed) return {3, 0x80, 0x9f};
    if (b < 0xf0) return {3};
    if (b == 0xf0) return {4, 0x90, 0xbf};
    if (b < 0xf4) return {4};
    if (b == 0xf4) return {4, 0x80, 0x8f};
    return {};
}

/// How many of the bytes at the start of `s` fit the character that its first byte announces.
size_t fittingBytes(std::string_view s, const Lead& lead) {
    if (lead.length == 0) return 0;
    size_t n = 1;
    while (n < lead.length && n < s.size()) {
        const unsigned char b = byteAt(s, n), low = n == 1 ? lead.low : 0x80, high = n == 1 ? lead.high : 0xbf;
        if (b < low || b > high) break;
        ++n;
    }
    return n;
}

/// Circled and squared letters have the property Alphabetic, though their category is So.
bool isLetterInFrame(char32_t c) {
    return c < 0x1f130 || c <= 0x1f149 || (c >= 0x1f150 && c <= 0x1f169) || c >= 0x1f170;
}

}  // namespace

size_t sequenceLength(std::string_view s) {
    if (s.empty()) return 0;
    if (byteAt(s, 0) < 0x80) return 1;
    const Lead lead = leadOf(byteAt(s, 0));
    return lead.length != 0 && fittingBytes(s, lead) == lead.length ? lead.length : 0;
}

char32_t codePoint(std::string_view s, size_t length) {
    if (length == 1) return byteAt(s, 0);
    char32_t c = byteAt(s, 0) & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; ++i) c = c << 6 | (byteAt(s, i) & 0x3fu);
    return c;
}

bool isWellFormed(std::string_view s) {
    while (!s.empty()) {
        const size_t n = sequenceLength(s);
        if (n == 0) return false;
        s.remove_prefix(n);
    }
    return true;
}

std::string replaceIllFormed(std::string_view s) {
    std::string out;
    out.reserve(s.size());
    while (!s.empty()) {
        const size_t n = sequenceLength(s);
        out.append(n == 0 ? kReplacement : s.substr(0, n));
        s.remove_prefix(n == 0 ? 1 : n);
    }
    return out;
}

size_t incompleteTail(std::string_view s) {
    for (size_t back = 1; back <= 3 && back <= s.size(); ++back) {
        const std::string_view tail = s.substr(s.size() - back);
        const Lead lead = leadOf(byteAt(tail, 0));
        if (lead.length > back && fittingBytes(tail, lead) == back) return back;
        if (lead.length != 0) return 0;
    }
    return 0;
}

void appendUtf8(std::string& out, char32_t c) {
    const auto add = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (c < 0x80) {
        add(c);
    } else if (c < 0x800) {
        add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
    } else {
        add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
    }
}

std::string replaceAll(std::string_view s, std::string_view from, std::string_view to) {
    std::string out;
    out.reserve(s.size());
    for (size_t at; (at = s.find(from)) != std::string_view::npos; s.remove_prefix(at + from.size())) {
        out.append(s.substr(0, at)).append(to);
    }
    return out.append(s);
}

bool isWhiteSpace(char32_t c) {
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool isDecimalDigit(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND; }

bool isWordCharacter(char32_t c) {
    if (c == 0x200c || c == 0x200d) return true;
    if ((c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f189)) return isLetterInFrame(c);
    switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
        case UTF8PROC_CATEGORY_LU:
        case UTF8PROC_CATEGORY_LL:
        case UTF8PROC_CATEGORY_LT:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_LO:
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_MC:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_ND:
        case UTF8PROC_CATEGORY_NL:
        case UTF8PROC_CATEGORY_PC: return true;
        default: return false;
    }
}

}  // namespace hearth::text
