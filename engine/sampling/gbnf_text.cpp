#include "engine/sampling/gbnf_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace hearth::sampling::gbnf {
namespace {

std::string escaped(uint32_t code) {
    if (code >= 0x21 && code < 0x7F && code != '"' && code != '\\' && code != '[' && code != ']' && code != '-' &&
        code != '^')
        return std::string(1, static_cast<char>(code));
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), code < 0x100 ? "\\x%02X" : code < 0x10000 ? "\\u%04X" : "\\U%08X", code);
    return text.data();
}

struct Escape {
    uint32_t code;
    char letter;
};
constexpr std::array<Escape, 7> short_escapes{
    {{'"', '"'}, {'\\', '\\'}, {'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}};

constexpr uint64_t max_listed = 64;   ///< characters in a class whose control characters are listed one by one

bool contains(const CharClass& ranges, uint32_t code) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const auto& r) { return r.first <= code && code <= r.second; });
}

}  // namespace

std::string literal(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (static_cast<unsigned char>(c) < 0x20) result += escaped(static_cast<unsigned char>(c));
        else result += c;
    }
    return result + '"';
}

std::string characterClass(const CharClass& ranges) {
    std::string result = "[";
    for (const auto& [first, last] : ranges) {
        result += escaped(first);
        if (last > first) result += '-' + escaped(last);
    }
    return result + ']';
}

CharClass difference(const CharClass& ranges, const CharClass& without) {
    // a \ b = not (not a or b)
    CharClass all = complement(ranges);
    all.insert(all.end(), without.begin(), without.end());
    return complement(normalised(std::move(all)));
}

std::string jsonCharacter(const CharClass& ranges) {
    const CharClass must_escape{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}};
    const CharClass plain = difference(ranges, must_escape);
    std::string result = plain.empty() ? "" : characterClass(plain);
    size_t escapes = 0;
    const auto add = [&](const std::string& way) {
        result += (result.empty() ? "" : " | ") + way;
        ++escapes;
    };
    std::string letters;
    for (const Escape& e : short_escapes)
        if (contains(ranges, e.code))
            letters += e.letter == '"' || e.letter == '\\' ? std::string("\\") + e.letter : std::string(1, e.letter);
    if (!letters.empty()) add("\"\\\\\" [" + letters + "]");
    uint64_t size = 0;
    for (const auto& [first, last] : ranges) size += last - first + 1;
    for (uint32_t code = 0; code < 0x20 && size <= max_listed; ++code) {
        const bool is_short =
            std::any_of(short_escapes.begin(), short_escapes.end(), [&](const Escape& e) { return e.code == code; });
        if (is_short || !contains(ranges, code)) continue;
        std::array<char, 8> hex{};
        std::snprintf(hex.data(), hex.size(), "%04x", code);
        add("\"\\\\u" + std::string(hex.data()) + '"');
    }
    return escapes == 0 ? result : '(' + result + ')';
}

std::string times(const std::string& element, int64_t least, int64_t most) {
    if (most < 0) {
        if (least == 0) return element + '*';
        if (least == 1) return element + '+';
        return element + '{' + std::to_string(least) + ",}";
    }
    if (most == 0) return "\"\"";
    if (least == 1 && most == 1) return element;
    if (least == 0 && most == 1) return element + '?';
    if (least == most) return element + '{' + std::to_string(least) + '}';
    return element + '{' + std::to_string(least) + ',' + std::to_string(most) + '}';
}

}  // namespace hearth::sampling::gbnf
