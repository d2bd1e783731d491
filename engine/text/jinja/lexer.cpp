#include "engine/text/jinja/lexer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/text/jinja/text.h"
#include "engine/text/jinja/unicode.h"

namespace hearth::text::jinja {

namespace {

bool isDigitChar(char c) { return c >= '0' && c <= '9'; }

/// Line ends become \n, and one at the very end goes away.
std::string normalizeLines(std::string_view source) {
    std::string out;
    out.reserve(source.size());
    for (size_t i = 0; i < source.size(); ++i) {
        if (source[i] == '\r') {
            out += '\n';
            if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
        } else {
            out += source[i];
        }
    }
    if (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
}

class Lexer {
public:
    explicit Lexer(std::string_view source) : source_(normalizeLines(source)) {}

    std::vector<Token> run() {
        while (at_ < source_.size()) lexData();
        push(TokenType::End, {});
        return std::move(tokens_);
    }

private:
    std::string_view rest() const { return std::string_view(source_).substr(at_); }
    bool startsWith(std::string_view what) const { return rest().starts_with(what); }
    void push(TokenType type, std::string text) { tokens_.push_back({type, std::move(text), line_}); }

    void advance(size_t n) {
        line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                             source_.begin() + static_cast<std::ptrdiff_t>(at_ + n), '\n'));
        at_ += n;
        if (n > 0) line_start_ = source_[at_ - 1] == '\n';
    }
    [[noreturn]] void error(std::string why) const { throw TemplateError(line_, std::move(why)); }

    size_t skipSpace(size_t at) const {
        while (at < source_.size() && isSpace(charAt(source_, at))) at += charLength(source_, at);
        return at;
    }

    /// `text` before a tag that carries `sign` ('-', '+' or 0), stripped as the sign and lstrip_blocks want it.
    std::string_view strippedBefore(std::string_view text, char sign, bool is_variable) const {
        if (sign == '-') {
            size_t keep = 0;
            for (size_t i = 0; i < text.size();) {
                const size_t next = i + charLength(text, i);
                if (!isSpace(charAt(text, i))) keep = next;
                i = next;
            }
            return text.substr(0, keep);
        }
        if (sign == '+' || is_variable) return text;
        const size_t newline = text.rfind('\n');
        const size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
        if (line_begin == 0 && !line_start_) return text;
        for (size_t i = line_begin; i < text.size(); i += charLength(text, i))
            if (!isSpace(charAt(text, i))) return text;
        return text.substr(0, line_begin);
    }

    char signAt(size_t at) const {
        return at < source_.size() && (source_[at] == '-' || source_[at] == '+') ? source_[at] : '\0';
    }

    void pushData(std::string_view text) {
        if (!text.empty()) push(TokenType::Data, std::string(text));
    }

    /// Length of `{% raw %}` at the current place, or 0.
    size_t rawBegin() const {
        size_t at = at_ + 2 + (signAt(at_ + 2) ? 1 : 0);
        at = skipSpace(at);
        if (source_.compare(at, 3, "raw") != 0) return 0;
        at = skipSpace(at + 3);
        if (source_.compare(at, 3, "-%}") == 0) return skipSpace(at + 3) - at_;
        return source_.compare(at, 2, "%}") == 0 ? at + 2 - at_ : 0;
    }

    void lexData() {
        size_t tag = at_;
        for (;; ++tag) {
            tag = source_.find('{', tag);
            if (tag == std::string::npos || tag + 1 >= source_.size()) {
                pushData(rest());
                advance(source_.size() - at_);
                return;
            }
            const char c = source_[tag + 1];
            if (c == '{' || c == '%' || c == '#') break;
        }
        const char kind = source_[tag + 1], sign = signAt(tag + 2);
        pushData(strippedBefore(std::string_view(source_).substr(at_, tag - at_), sign, kind == '{'));
        advance(tag - at_);
        const size_t raw = kind == '%' ? rawBegin() : 0;
        if (raw != 0) {
            advance(raw);
            lexRaw();
        } else if (kind == '#') {
            lexComment();
        } else {
            push(kind == '{' ? TokenType::VariableBegin : TokenType::BlockBegin, {});
            advance(sign ? 3 : 2);
            lexTag(kind == '{');
        }
    }

    void lexComment() {
        const size_t end = source_.find("#}", at_ + 2);
        if (end == std::string::npos) error("a comment is not closed");
        const char sign = end > at_ + 2 ? signAt(end - 1) : '\0';
        size_t next = end + 2;
        if (sign == '-') next = skipSpace(next);
        else if (sign != '+' && next < source_.size() && source_[next] == '\n') ++next;
        advance(next - at_);
    }

    void lexRaw() {
        for (size_t tag = source_.find("{%", at_); tag != std::string::npos; tag = source_.find("{%", tag + 1)) {
            const char sign = signAt(tag + 2);
            size_t at = skipSpace(tag + 2 + (sign ? 1 : 0));
            if (source_.compare(at, 6, "endraw") != 0) continue;
            at = skipSpace(at + 6);
            const char end_sign = signAt(at);
            if (source_.compare(at + (end_sign ? 1 : 0), 2, "%}") != 0) continue;
            at += end_sign ? 3 : 2;
            if (end_sign == '-') at = skipSpace(at);
            else if (!end_sign && at < source_.size() && source_[at] == '\n') ++at;
            pushData(strippedBefore(std::string_view(source_).substr(at_, tag - at_), sign, false));
            advance(at - at_);
            return;
        }
        error("a raw block is not closed");
    }

    /// Whether the tag ends here; then its end is consumed with the white space that belongs to it.
    bool lexTagEnd(bool is_variable) {
        const std::string_view close = is_variable ? "}}" : "%}";
        size_t next = at_;
        char sign = '\0';
        if (!startsWith(close)) {
            sign = signAt(at_);
            if (!sign || (sign == '+' && is_variable) || source_.compare(at_ + 1, 2, close) != 0) return false;
            ++next;
        }
        next += 2;
        if (sign == '-') next = skipSpace(next);
        else if (!sign && !is_variable && next < source_.size() && source_[next] == '\n') ++next;
        push(is_variable ? TokenType::VariableEnd : TokenType::BlockEnd, {});
        advance(next - at_);
        return true;
    }

    void lexTag(bool is_variable) {
        std::string brackets;
        for (;;) {
            advance(skipSpace(at_) - at_);
            if (at_ >= source_.size()) error("a tag is not closed");
            if (brackets.empty() && lexTagEnd(is_variable)) return;
            const char c = source_[at_];
            if (isDigitChar(c)) lexNumber();
            else if (c == '"' || c == '\'') lexString();
            else if (isWord(charAt(source_, at_))) lexName();
            else lexOperator(brackets);
        }
    }

    void lexName() {
        size_t end = at_;
        while (end < source_.size() && isWord(charAt(source_, end))) end += charLength(source_, end);
        push(TokenType::Name, source_.substr(at_, end - at_));
        advance(end - at_);
    }

    /// End of digits with single underscores between them, or `at` if there is none.
    template <typename IsDigit>
    size_t digitsEnd(size_t at, IsDigit is_digit) const {
        while (at < source_.size()) {
            if (is_digit(source_[at])) ++at;
            else if (source_[at] == '_' && at + 1 < source_.size() && is_digit(source_[at + 1]) &&
                     is_digit(source_[at - 1]))
                ++at;
            else break;
        }
        return at;
    }

    void lexNumber() {
        const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
        size_t end = digitsEnd(at_, isDigitChar);
        bool is_float = false;
        if (!after_dot) {
            const size_t fraction = end + 1;
            if (end < source_.size() && source_[end] == '.' && fraction < source_.size() &&
                isDigitChar(source_[fraction])) {
                end = digitsEnd(fraction, isDigitChar);
                is_float = true;
            }
            if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
                const size_t digits = end + 1 + (signAt(end + 1) ? 1 : 0);
                if (digits < source_.size() && isDigitChar(source_[digits])) {
                    end = digitsEnd(digits, isDigitChar);
                    is_float = true;
                }
            }
        }
        if (!is_float && source_[at_] == '0' && at_ + 1 < source_.size()) end = prefixedEnd(end);
        std::string digits = source_.substr(at_, end - at_);
        std::erase(digits, '_');
        push(is_float ? TokenType::Float : TokenType::Integer, std::move(digits));
        advance(end - at_);
    }

    /// End of a number like 0x1f, 0b1, 0o7 at the current place, else `decimal_end`.
    size_t prefixedEnd(size_t decimal_end) const {
        const char prefix = static_cast<char>(source_[at_ + 1] | 0x20);
        const auto end = [&](auto is_digit) {
            return at_ + 2 < source_.size() && is_digit(source_[at_ + 2]) ? digitsEnd(at_ + 2, is_digit) : decimal_end;
        };
        if (prefix == 'x')
            return end([](char c) { return isDigitChar(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); });
        if (prefix == 'o') return end([](char c) { return c >= '0' && c <= '7'; });
        if (prefix == 'b') return end([](char c) { return c == '0' || c == '1'; });
        return decimal_end;
    }

    void lexString() {
        const char quote = source_[at_];
        size_t end = at_ + 1;
        while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
        if (end >= source_.size()) error("a string is not closed");
        push(TokenType::String, unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1)));
        advance(end + 1 - at_);
    }

    std::string unescape(std::string_view s) const {
        std::string out;
        for (size_t i = 0; i < s.size();) {
            if (s[i] != '\\') {
                out += s[i++];
                continue;
            }
            i = unescapeOne(s, i + 1, out);
        }
        return out;
    }

    /// s[i] follows a backslash; returns where reading goes on.
    size_t unescapeOne(std::string_view s, size_t i, std::string& out) const {
        constexpr std::string_view kFrom = "\\'\"abfnrtv", kTo = "\\'\"\a\b\f\n\r\t\v";
        const char c = s[i];
        if (c == '\n') return i + 1;
        if (const size_t k = kFrom.find(c); k != std::string_view::npos) {
            out += kTo[k];
            return i + 1;
        }
        if (c >= '0' && c <= '7') {
            char32_t code = 0;
            const size_t end = std::min(i + 3, s.size());
            for (; i < end && s[i] >= '0' && s[i] <= '7'; ++i) code = code * 8 + static_cast<char32_t>(s[i] - '0');
            appendUtf8(out, code);
            return i;
        }
        const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
        if (digits == 0) {
            if (c == 'N') error("a string has a named character, which is not supported");
            out += '\\';
            return i;
        }
        char32_t code = hexCode(s, i + 1, digits);
        i += 1 + digits;
        if (code >= 0xD800 && code < 0xDC00 && s.substr(i).starts_with("\\u")) {  // a pair of surrogates
            const char32_t low = hexCode(s, i + 2, 4);
            if (low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                i += 6;
            }
        }
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) error("a string has a character that does not exist");
        appendUtf8(out, code);
        return i;
    }

    char32_t hexCode(std::string_view s, size_t at, size_t digits) const {
        char32_t code = 0;
        for (size_t i = at; i < at + digits; ++i) {
            const char c = i < s.size() ? s[i] : ' ', low = static_cast<char>(c | 0x20);
            if (isDigitChar(c)) code = code * 16 + static_cast<char32_t>(c - '0');
            else if (low >= 'a' && low <= 'f') code = code * 16 + static_cast<char32_t>(low - 'a' + 10);
            else error("a string has an escape that is cut short");
        }
        return code;
    }

    void lexOperator(std::string& brackets) {
        static constexpr std::array<std::string_view, 6> kLong = {"//", "**", "==", "!=", ">=", "<="};
        for (const auto op : kLong) {
            if (!startsWith(op)) continue;
            push(TokenType::Operator, std::string(op));
            advance(2);
            return;
        }
        const char c = source_[at_];
        if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos)
            error("'" + source_.substr(at_, charLength(source_, at_)) + "' does not belong here");
        if (c == '(' || c == '[' || c == '{') {
            brackets += c == '(' ? ')' : c == '[' ? ']' : '}';
        } else if (c == ')' || c == ']' || c == '}') {
            if (brackets.empty() || brackets.back() != c) error(std::string("'") + c + "' closes nothing");
            brackets.pop_back();
        }
        push(TokenType::Operator, std::string(1, c));
        advance(1);
    }

    std::string source_;
    size_t at_ = 0;
    int line_ = 1;
    bool line_start_ = true;
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace hearth::text::jinja
