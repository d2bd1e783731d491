#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/library.h"

namespace hearth::text::jinja {

namespace {

/// Python's int(text, base); nullopt if it is none.
std::optional<Int> parseInt(const TextPtr& text, Int base) {
    const TextPtr stripped = strip(text, nullptr, Strip::Both);
    std::string_view s = stripped->bytes();
    if (base < 2 || base > 36) return std::nullopt;
    const bool negative = s.starts_with('-');
    if (negative || s.starts_with('+')) s.remove_prefix(1);
    const char prefix = base == 16 ? 'x' : base == 8 ? 'o' : base == 2 ? 'b' : '\0';
    if (prefix && s.size() > 2 && s[0] == '0' && (s[1] | 0x20) == prefix) s.remove_prefix(2);
    Int value = 0;
    bool after_digit = false;
    for (const char c : s) {
        if (c == '_' && after_digit) {
            after_digit = false;
            continue;
        }
        const char low = static_cast<char>(c | 0x20);
        const int digit = c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'z' ? low - 'a' + 10 : 99;
        if (digit >= base) return std::nullopt;
        if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, Int{digit}, &value))
            fail("a number is too large");
        after_digit = true;
    }
    if (!after_digit) return std::nullopt;
    return negative ? -value : value;
}

/// Python's float(text); nullopt if it is none.
std::optional<double> parseFloat(const TextPtr& text) {
    const TextPtr stripped = strip(text, nullptr, Strip::Both);
    std::string s = stripped->bytes();
    if (s.size() > 400) return std::nullopt;
    std::string_view rest = s;
    const bool negative = rest.starts_with('-');
    if (negative || rest.starts_with('+')) rest.remove_prefix(1);
    if (rest.empty() || rest.front() == '-' || rest.front() == '+') return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (end != rest.data() + rest.size() || error == std::errc::invalid_argument) return std::nullopt;
    if (error == std::errc::result_out_of_range) value = std::strtod(std::string(rest).c_str(), nullptr);
    return negative ? -value : value;
}

std::optional<Int> truncated(double d) {
    if (!std::isfinite(d)) return std::nullopt;
    if (std::fabs(d) > 1e37) fail("a number is too large");
    return static_cast<Int>(d);
}

Value intFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "int", {"default", "base"}, 0);
    if (input.isUndefined()) fail(input.undefinedWhy());
    std::optional<Int> value;
    if (input.isIntegral()) {
        value = input.integral();
    } else if (input.isNumber()) {
        value = truncated(input.real());
    } else if (input.isString()) {
        value = parseInt(input.text(), bound.integer(1, 10));
        if (!value)
            if (const auto d = parseFloat(input.text())) value = truncated(*d);
    }
    if (value) return Value(*value);
    return bound.has(0) ? bound[0] : Value(Int{0});
}

Value floatFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "float", {"default"}, 0);
    if (input.isUndefined()) fail(input.undefinedWhy());
    if (input.isNumber()) return Value(input.real());
    if (input.isString())
        if (const auto d = parseFloat(input.text())) return Value(*d);
    return bound.has(0) ? bound[0] : Value(0.0);
}

/// Nearest decimal with `precision` digits, ties to even, of the exact binary value.
double roundDecimal(double value, int precision) {
    if (precision < 0) {
        const double unit = std::pow(10.0, -precision);
        return std::nearbyint(value / unit) * unit;
    }
    char buffer[400 + 32];
    std::snprintf(buffer, sizeof buffer, "%.*f", precision, value);
    return std::strtod(buffer, nullptr);
}

Value roundFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "round", {"precision", "method"}, 0);
    const std::string method = bound.text(1, makeText("common"))->bytes();
    if (method != "common" && method != "ceil" && method != "floor") fail("'round' knows 'common', 'ceil' and 'floor'");
    if (!input.isNumber()) fail("'round' needs a number, not '" + input.typeName() + "'");
    const Int wanted = bound.integer(0, 0);
    const int precision = static_cast<int>(wanted > 50 ? Int{50} : wanted < -50 ? Int{-50} : wanted);
    if (method == "common") {
        if (input.isIntegral() && precision >= 0) return Value(input.integral());
        if (input.isIntegral()) return Value(truncated(roundDecimal(input.real(), precision)).value_or(0));
        return Value(std::isfinite(input.real()) ? roundDecimal(input.real(), precision) : input.real());
    }
    const double unit = std::pow(10.0, precision), scaled = input.real() * unit;
    return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit);
}

Value absFilter(Runtime&, const Value& input, Arguments&) {
    if (input.isIntegral()) return input.integral() < 0 ? negate(input, false) : Value(input.integral());
    if (!input.isNumber()) fail("'abs' needs a number, not '" + input.typeName() + "'");
    return Value(std::fabs(input.real()));
}

Value fileSizeFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "filesizeformat", {"binary"}, 0);
    Arguments none;
    const double bytes = input.isNumber() ? input.real() : parseFloat(toText(input)).value_or(std::nan(""));
    if (!(std::fabs(bytes) < 1e300)) fail("'filesizeformat' needs a number");
    const bool binary = bound.truth(0, false);
    const double base = binary ? 1024 : 1000;
    if (bytes == 1) return Value::string("1 Byte");
    if (bytes < base) return Value::string(formatInt(*truncated(bytes)) + " Bytes");
    constexpr char kPrefixes[] = "kMGTPEZY";
    double unit = base * base;
    size_t i = 0;
    while (i + 1 < sizeof kPrefixes - 1 && bytes >= unit) {
        unit *= base;
        ++i;
    }
    char number[400];
    std::snprintf(number, sizeof number, "%.1f", base * bytes / unit);
    const char prefix = binary && i == 0 ? 'K' : kPrefixes[i];
    return Value::string(std::string(number) + ' ' + prefix + (binary ? "iB" : "B"));
}

constexpr NamedFilter kFilters[] = {{"int", intFilter},
                                    {"float", floatFilter},
                                    {"round", roundFilter},
                                    {"abs", absFilter},
                                    {"filesizeformat", fileSizeFilter}};

}  // namespace

std::span<const NamedFilter> numberFilters() { return kFilters; }

}  // namespace hearth::text::jinja
