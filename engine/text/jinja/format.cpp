#include <charconv>
#include <cmath>
#include <cstdio>

#include "engine/text/jinja/library.h"

/// Python's `"%s" % x` and `"{}".format(x)`.
namespace hearth::text::jinja {

namespace {

/// Widths and precisions beyond this are refused.
constexpr size_t kMaxWidth = 1'000'000, kMaxPrecision = 300;

struct Spec {
    std::string fill = " ";
    char align = 0, sign = '-', type = 0;
    bool alternate = false, zero = false;
    char grouping = 0;
    size_t width = 0;
    std::optional<size_t> precision;
};

/// Reads digits at s[at]; throws beyond kMaxWidth.
size_t readNumber(std::string_view s, size_t& at) {
    size_t n = 0;
    for (; at < s.size() && s[at] >= '0' && s[at] <= '9'; ++at) {
        n = n * 10 + static_cast<size_t>(s[at] - '0');
        if (n > kMaxWidth) fail("a format is too wide");
    }
    return n;
}

std::string digitsOf(Int value, int base, bool upper) {
    if (base == 10) {
        const std::string digits = formatInt(value);
        return value < 0 ? digits.substr(1) : digits;
    }
    std::string out;
    __extension__ typedef unsigned __int128 Unsigned;
    auto rest = value < 0 ? Unsigned{0} - static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
    do {
        const int digit = static_cast<int>(rest % static_cast<unsigned>(base));
        out.insert(out.begin(), static_cast<char>(digit < 10 ? '0' + digit : (upper ? 'A' : 'a') + digit - 10));
        rest /= static_cast<unsigned>(base);
    } while (rest != 0);
    return out;
}

/// `magnitude` ≥ 0 in the notation of `type` (one of eEfFgG%).
std::string floatDigits(double magnitude, char type, size_t precision, bool alternate) {
    if (precision > kMaxPrecision) fail("a format is too precise");
    const bool upper = type >= 'A' && type <= 'Z';
    if (std::isnan(magnitude)) return upper ? "NAN" : "nan";
    if (std::isinf(magnitude)) return upper ? "INF" : "inf";
    const char pattern[] = {'%', '#', '.', '*', type == '%' ? 'f' : type, '\0'};
    const char plain[] = {'%', '.', '*', type == '%' ? 'f' : type, '\0'};
    char buffer[1024];
    const double shown = type == '%' ? magnitude * 100 : magnitude;
    const int n = std::snprintf(buffer, sizeof buffer, alternate ? pattern : plain, static_cast<int>(precision), shown);
    return std::string(buffer, static_cast<size_t>(std::min(n, static_cast<int>(sizeof buffer) - 1))) +
           (type == '%' ? "%" : "");
}

std::string group(const std::string& digits, char separator) {
    const size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
    std::string out;
    for (size_t i = 0; i < whole; ++i) {
        if (i > 0 && (whole - i) % 3 == 0) out += separator;
        out += digits[i];
    }
    return out + digits.substr(whole);
}

/// Sign, prefix and digits, padded.
std::string finishNumber(const Spec& spec, bool negative, const std::string& prefix, std::string digits) {
    if (spec.grouping) digits = group(digits, spec.grouping);
    std::string front = negative ? "-" : spec.sign == '+' ? "+" : spec.sign == ' ' ? " " : "";
    front += prefix;
    const size_t length = front.size() + digits.size();
    const size_t gap = spec.width > length ? spec.width - length : 0;
    const char align = spec.align ? spec.align : spec.zero ? '=' : '>';
    const auto repeat = [&](size_t n) {
        std::string out;
        for (size_t i = 0; i < n; ++i) out += spec.zero && !spec.align ? "0" : spec.fill;
        return out;
    };
    if (align == '=') return front + repeat(gap) + digits;
    if (align == '<') return front + digits + repeat(gap);
    if (align == '^') return repeat(gap / 2) + front + digits + repeat(gap - gap / 2);
    return repeat(gap) + front + digits;
}

TextPtr alignText(const Spec& spec, TextPtr text) {
    if (spec.precision && *spec.precision < text->length()) text = subText(text, 0, text->offset(*spec.precision));
    const size_t length = text->length(), gap = spec.width > length ? spec.width - length : 0;
    const TextPtr fill = makeText(spec.fill);
    if (spec.align == '>') return pad(text, gap, 0, *fill);
    if (spec.align == '^') return pad(text, gap / 2, gap - gap / 2, *fill);
    return pad(text, 0, gap, *fill);
}

std::string formatNumber(const Spec& spec, const Value& value) {
    const char type = spec.type;
    if (value.isIntegral() && (type == 0 || std::string_view("dnxXob").find(type) != std::string_view::npos)) {
        const int base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
        std::string prefix;
        if (spec.alternate && base != 10) prefix = std::string("0") + type;
        const Int n = value.integral();
        return finishNumber(spec, n < 0, prefix, digitsOf(n, base, type == 'X'));
    }
    const double d = value.real(), magnitude = std::fabs(d);
    if (type == 0 && !spec.precision) return finishNumber(spec, std::signbit(d), "", formatFloat(magnitude));
    const char notation = type == 0 || type == 'n' ? 'g' : type;
    size_t precision = spec.precision.value_or(6);
    std::string digits = floatDigits(magnitude, notation, precision, spec.alternate);
    return finishNumber(spec, std::signbit(d), "", std::move(digits));
}

/// The format specification mini-language of Python.
Spec parseSpec(std::string_view s) {
    Spec spec;
    size_t at = 0;
    const auto isAlign = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
    if (!s.empty()) {
        const size_t first = charLength(s, 0);
        if (first < s.size() && isAlign(s[first])) {
            spec.fill = s.substr(0, first);
            spec.align = s[first];
            at = first + 1;
        } else if (isAlign(s[0])) {
            spec.align = s[0];
            at = 1;
        }
    }
    const auto skip = [&](char c) { return at < s.size() && s[at] == c ? (++at, true) : false; };
    if (at < s.size() && (s[at] == '+' || s[at] == '-' || s[at] == ' ')) spec.sign = s[at++];
    spec.alternate = skip('#');
    spec.zero = skip('0');
    spec.width = readNumber(s, at);
    if (at < s.size() && (s[at] == ',' || s[at] == '_')) spec.grouping = s[at++];
    if (skip('.')) spec.precision = readNumber(s, at);
    if (at < s.size()) spec.type = s[at++];
    if (at != s.size() || (spec.type && std::string_view("sdnxXobceEfFgG%").find(spec.type) == std::string_view::npos))
        fail("the format '" + std::string(s.substr(0, 40)) + "' is not understood");
    return spec;
}

TextPtr formatOne(const Value& value, const TextPtr& spec_text) {
    const Spec spec = parseSpec(spec_text->bytes());
    if (spec.type == 'c' && value.isIntegral()) {
        const Int code = value.integral();
        if (code < 0 || code > 0x10FFFF) fail("a character does not exist");
        TextBuilder builder;
        builder.append(static_cast<char32_t>(code), Mark::Input);
        return alignText(spec, builder.finish());
    }
    const bool as_number =
        value.isNumber() && spec.type != 's' && !(value.kind() == Kind::Bool && spec_text->size() == 0);
    if (as_number) {
        if (!value.isIntegral() && spec.type && std::string_view("dxXob").find(spec.type) != std::string_view::npos)
            fail("the format '" + spec_text->bytes().substr(0, 40) + "' needs an integer");
        return makeText(formatNumber(spec, value), spec_text->overall());
    }
    if (spec.type && spec.type != 's') fail("the format '" + spec_text->bytes().substr(0, 40) + "' needs a number");
    return alignText(spec, toText(value));
}

/// One replacement field after another of a format string.
class BraceFormatter {
public:
    BraceFormatter(const TextPtr& format, const Arguments& arguments)
        : format_(format), s_(format->bytes()), arguments_(arguments) {}

    TextPtr run() {
        size_t begin = 0;
        while (at_ < s_.size()) {
            const char c = s_[at_];
            if (c != '{' && c != '}') {
                ++at_;
                continue;
            }
            out_.append(*format_, begin, at_);
            if (at_ + 1 < s_.size() && s_[at_ + 1] == c) {
                out_.append(*format_, at_, at_ + 1);
                at_ += 2;
            } else if (c == '}') {
                fail("a format has a single '}'");
            } else {
                field();
            }
            begin = at_;
        }
        out_.append(*format_, begin, s_.size());
        return out_.finish();
    }

private:
    void field() {
        ++at_;
        const size_t name_begin = at_;
        while (at_ < s_.size() && s_[at_] != '}' && s_[at_] != ':' && s_[at_] != '!') ++at_;
        Value value = lookup(std::string_view(s_).substr(name_begin, at_ - name_begin));
        if (at_ < s_.size() && s_[at_] == '!') {
            const char conversion = at_ + 1 < s_.size() ? s_[at_ + 1] : '\0';
            if (conversion == 'r' || conversion == 'a') value = repr(value);
            else if (conversion == 's') value = toText(value);
            else fail("a format has an unknown conversion");
            at_ += 2;
        }
        TextPtr spec = makeText("");
        if (at_ < s_.size() && s_[at_] == ':') {
            const size_t begin = ++at_;
            while (at_ < s_.size() && s_[at_] != '}' && s_[at_] != '{') ++at_;
            if (at_ < s_.size() && s_[at_] == '{') fail("fields inside the width of a format are not supported");
            spec = subText(format_, begin, at_);
        }
        if (at_ >= s_.size() || s_[at_] != '}') fail("a format has a single '{'");
        ++at_;
        out_.append(*formatOne(value, spec));
    }

    Value lookup(std::string_view path) {
        const size_t end = std::min(path.find_first_of(".["), path.size());
        const std::string_view first = path.substr(0, end);
        Value value;
        size_t digits = 0;
        const size_t number = readNumber(first, digits);
        if (first.empty() || digits == first.size()) {
            const size_t index = first.empty() ? next_++ : number;
            if (index >= arguments_.positional.size()) fail("a format needs more values");
            value = arguments_.positional[index];
        } else {
            const auto it = std::find_if(arguments_.named.begin(), arguments_.named.end(),
                                         [&](const auto& a) { return a.first == first; });
            if (it == arguments_.named.end())
                fail("a format needs the value '" + std::string(first.substr(0, 40)) + "'");
            value = it->second;
        }
        for (size_t at = end; at < path.size();) {
            const bool bracket = path[at] == '[';
            const size_t stop = std::min(bracket ? path.find(']', at) : path.find_first_of(".[", at + 1), path.size());
            const std::string_view name = path.substr(at + 1, stop - at - 1);
            size_t read = 0;
            const size_t index = readNumber(name, read);
            if (!bracket) value = getAttribute(value, name);
            else
                value = getItem(value, read == name.size() && !name.empty() ? Value::integer(index)
                                                                            : Value::string(std::string(name)));
            at = stop + (bracket ? 1 : 0);
        }
        return value;
    }

    const TextPtr& format_;
    const std::string& s_;
    const Arguments& arguments_;
    TextBuilder out_;
    size_t at_ = 0, next_ = 0;
};

}  // namespace

TextPtr formatBraces(const TextPtr& format, const Arguments& arguments) {
    return BraceFormatter(format, arguments).run();
}

TextPtr formatPercent(const TextPtr& format, const Value& values) {
    const std::string& s = format->bytes();
    const bool is_tuple = values.isSequence() && values.sequence()->type == Sequence::Type::Tuple;
    size_t used = 0;
    const auto next = [&]() -> Value {
        if (!is_tuple) {
            if (used++ > 0) fail("a format needs more values");
            return values;
        }
        if (used >= values.sequence()->items.size()) fail("a format needs more values");
        return values.sequence()->items[used++];
    };
    TextBuilder out;
    size_t at = 0;
    bool by_name = false;
    while (at < s.size()) {
        const size_t percent = std::min(s.find('%', at), s.size());
        out.append(*format, at, percent);
        if (percent == s.size()) break;
        at = percent + 1;
        std::optional<Value> named;
        if (at < s.size() && s[at] == '(') {
            const size_t close = s.find(')', at);
            if (close == std::string::npos || !values.isDict()) fail("a format names a value, but there is no mapping");
            named = getItem(values, Value::string(s.substr(at + 1, close - at - 1)));
            by_name = true;
            at = close + 1;
        }
        Spec spec;
        for (; at < s.size() && std::string_view("-+ #0").find(s[at]) != std::string_view::npos; ++at) {
            if (s[at] == '-') spec.align = '<';
            else if (s[at] == '#') spec.alternate = true;
            else if (s[at] == '0') spec.zero = true;
            else if (spec.sign != '+') spec.sign = s[at];
        }
        const auto readSize = [&] {
            if (at >= s.size() || s[at] != '*') return readNumber(s, at);
            ++at;
            const size_t n = requireSize(next(), "a format");
            if (n > kMaxWidth) fail("a format is too wide");
            return n;
        };
        spec.width = readSize();
        if (at < s.size() && s[at] == '.') {
            ++at;
            spec.precision = readSize();
        }
        while (at < s.size() && (s[at] == 'l' || s[at] == 'h' || s[at] == 'L')) ++at;
        if (at >= s.size()) fail("a format ends too early");
        const char type = s[at++];
        if (type == '%') {
            out.append("%", format->markAt(at - 1));
            continue;
        }
        const Value value = named ? *named : next();
        if (value.isUndefined() && type != 's' && type != 'r') fail(value.undefinedWhy());
        if (spec.align == 0 && !spec.zero) spec.align = '>';
        if (spec.align == '<') spec.zero = false;
        if (type == 's' || type == 'r' || type == 'a' || (type == 'c' && value.isString())) {
            out.append(*alignText(spec, type == 's' || type == 'c' ? toText(value) : repr(value)));
            continue;
        }
        if (!value.isNumber()) fail(std::string("%") + type + " needs a number, not '" + value.typeName() + "'");
        if (std::string_view("diu").find(type) != std::string_view::npos) {
            spec.type = 'd';
            if (!value.isIntegral() && !(std::fabs(value.real()) < 1e30)) fail("a number is too large");
            out.append(formatNumber(spec, value.isIntegral() ? value : Value(static_cast<Int>(value.real()))),
                       format->overall());
        } else if (std::string_view("xXoeEfFgG").find(type) != std::string_view::npos) {
            if (std::string_view("xXo").find(type) != std::string_view::npos) requireInteger(value, "a format");
            spec.type = type;
            const bool float_type = std::string_view("xXo").find(type) == std::string_view::npos;
            out.append(formatNumber(spec, float_type ? Value(value.real()) : value), format->overall());
        } else {
            fail(std::string("a format has the unknown type '%") + type + "'");
        }
    }
    if (is_tuple && used < values.sequence()->items.size()) fail("a format has too many values");
    if (!is_tuple && !by_name && used == 0 && !values.isDict() && !values.isSequence())
        fail("a format has too many values");
    return out.finish();
}

}  // namespace hearth::text::jinja
