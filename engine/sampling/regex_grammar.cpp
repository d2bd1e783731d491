#include "engine/sampling/regex_grammar.h"

#include <optional>

#include "engine/base/error.h"
#include "engine/sampling/gbnf_text.h"
#include "engine/sampling/utf8.h"

namespace hearth::sampling::gbnf {
namespace {

constexpr int max_depth = 100;

const CharClass digits{{'0', '9'}};
const CharClass word{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const CharClass space{{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
                      {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
const CharClass line_ends{{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

class RegexReader {
public:
    RegexReader(std::string_view pattern, const std::string& any) : text_(pattern), any_(any) {}

    std::string whole() {
        std::string result = alternatives(0);
        if (!atEnd()) fail("it has a ) too many");
        return result;
    }

private:
    std::string alternatives(int depth) {
        if (depth > max_depth) fail("its parentheses are nested too deep");
        std::string result;
        for (;;) {
            const std::string way = sequence(depth);
            result += (result.empty() ? "" : " | ") + (way.empty() ? std::string("\"\"") : way);
            if (!take('|')) return result;
        }
    }

    std::string sequence(int depth) {
        const bool top = depth == 0;
        const bool from_start = top && take('^');
        bool to_end = false;
        std::string result;
        while (!atEnd() && peek() != '|' && peek() != ')') {
            if (top && peek() == '$' && (at_ + 1 == text_.size() || text_[at_ + 1] == '|')) {
                ++at_;
                to_end = true;
                break;
            }
            const std::string next = quantified(atom(depth));
            result += (result.empty() ? "" : " ") + next;
        }
        if (!top) return result;
        if (!from_start) result = any_ + "* " + result;
        if (!to_end) result += (result.empty() ? "" : " ") + any_ + '*';
        return result;
    }

    std::string atom(int depth) {
        const char c = peek();
        if (take('(')) {
            if (take('?')) {
                if (!take(':')) fail("it uses look-around or named groups");
            }
            const std::string inner = alternatives(depth + 1);
            if (!take(')')) fail("a ) is missing");
            return '(' + inner + ')';
        }
        if (take('[')) return character(bracket());
        if (take('.')) return character(complement(line_ends));
        if (c == '^' || c == '$') fail("^ and $ are only supported at its ends");
        if (c == '*' || c == '+' || c == '?' || c == '{')
            fail(std::string("there is nothing that ") + c + " could repeat");
        if (take('\\')) return character(escape(false));
        const uint32_t code = codePoint();
        return character({{code, code}});
    }

    std::string quantified(std::string element) {
        int64_t least = 1, most = 1;
        if (take('*')) least = 0, most = -1;
        else if (take('+')) most = -1;
        else if (take('?')) least = 0;
        else if (take('{')) {
            least = most = number();
            if (take(',')) most = peek() == '}' ? -1 : number();
            if (!take('}') || (most >= 0 && most < least)) fail("a { } does not hold a range of numbers");
        } else {
            return element;
        }
        take('?');   // lazy or greedy: the same texts match
        if (!atEnd() && (peek() == '*' || peek() == '+' || peek() == '?' || peek() == '{'))
            fail("a repetition is repeated");
        return times(element, least, most);
    }

    CharClass bracket() {
        const bool negated = take('^');
        CharClass ranges;
        while (!take(']')) {
            if (atEnd()) fail("a ] is missing");
            CharClass first = take('\\') ? escape(true) : one(codePoint());
            const bool single = first.size() == 1 && first[0].first == first[0].second;
            if (single && peek() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
                ++at_;
                const CharClass last = take('\\') ? escape(true) : one(codePoint());
                if (last.size() != 1 || last[0].first != last[0].second || last[0].first < first[0].first)
                    fail("a range in [ ] is wrong");
                first[0].second = last[0].first;
            }
            ranges.insert(ranges.end(), first.begin(), first.end());
        }
        ranges = normalised(std::move(ranges));
        return negated ? complement(ranges) : ranges;
    }

    static CharClass one(uint32_t code) { return {{code, code}}; }

    CharClass escape(bool in_bracket) {
        if (atEnd()) fail("it ends in a backslash");
        const char c = text_[at_];
        switch (c) {
            case 'd': ++at_; return digits;
            case 'D': ++at_; return complement(digits);
            case 'w': ++at_; return word;
            case 'W': ++at_; return complement(word);
            case 's': ++at_; return space;
            case 'S': ++at_; return complement(space);
            case 'n': ++at_; return one('\n');
            case 'r': ++at_; return one('\r');
            case 't': ++at_; return one('\t');
            case 'f': ++at_; return one('\f');
            case 'v': ++at_; return one('\v');
            case '0': ++at_; return one(0);
            case 'x': ++at_; return one(hex(2));
            case 'u': ++at_; return one(unicode());
            case 'b':
                if (!in_bracket) fail("it uses a word boundary");
                ++at_;
                return one('\b');
            default: break;
        }
        if ((c >= '1' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
            fail(std::string("it uses \\") + c);
        return one(codePoint());
    }

    uint32_t unicode() {
        if (take('{')) {
            uint32_t code = 0;
            while (!take('}')) {
                code = code << 4 | hex(1);
                if (code > max_code_point) fail("an escape is beyond the last character of Unicode");
            }
            return code;
        }
        const uint32_t high = hex(4);
        if (high < 0xD800 || high > 0xDBFF || text_.substr(at_, 2) != "\\u") return high;
        at_ += 2;
        const uint32_t low = hex(4);
        if (low < 0xDC00 || low > 0xDFFF) fail("an escape is half a character");
        return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
    }

    uint32_t hex(int n) {
        uint32_t value = 0;
        for (int i = 0; i < n; ++i, ++at_) {
            const char c = peek();
            if (c >= '0' && c <= '9') value = value << 4 | static_cast<uint32_t>(c - '0');
            else if (c >= 'a' && c <= 'f') value = value << 4 | static_cast<uint32_t>(c - 'a' + 10);
            else if (c >= 'A' && c <= 'F') value = value << 4 | static_cast<uint32_t>(c - 'A' + 10);
            else fail("an escape lacks hexadecimal digits");
        }
        return value;
    }

    int64_t number() {
        if (peek() < '0' || peek() > '9') fail("a { } does not hold a range of numbers");
        int64_t n = 0;
        while (peek() >= '0' && peek() <= '9') {
            n = n * 10 + (text_[at_++] - '0');
            if (n > 100000) fail("a repetition is too long");
        }
        return n;
    }

    uint32_t codePoint() {
        const std::optional<uint32_t> code = takeCodePoint(text_, at_);
        if (!code) fail("it is not valid UTF-8");
        return *code;
    }

    std::string character(const CharClass& ranges) {
        std::string text = jsonCharacter(ranges);
        return text.empty() ? "[]" : text;
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw Error("cannot use the JSON schema",
                    "the pattern \"" + std::string(text_) + "\" cannot be honoured: " + why,
                    "Write the pattern without it, or leave the keyword pattern out");
    }
    bool atEnd() const { return at_ >= text_.size(); }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool take(char c) {
        if (atEnd() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    std::string_view text_;
    std::string any_;
    size_t at_ = 0;
};

}  // namespace

std::string fromRegex(std::string_view pattern, const std::string& any_character) {
    return RegexReader(pattern, any_character).whole();
}

}  // namespace hearth::sampling::gbnf
