#include <array>
#include <charconv>
#include <cmath>

#include "engine/text/jinja/unicode.h"
#include "engine/text/jinja/value.h"

/// Python's str() and repr().
namespace hearth::text::jinja {

namespace {

/// "\x01", "\u200b" or "\U000e0001", as Python writes what cannot be printed.
std::string escapeCode(char32_t c) {
    constexpr char kHex[] = "0123456789abcdef";
    const int digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
    std::string out = digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
    for (int i = digits - 1; i >= 0; --i) out += kHex[(c >> (4 * i)) & 15];
    return out;
}

void writeString(std::string& out, const std::string& s) {
    spendBytes(s.size());
    const bool double_quotes = s.find('\'') != std::string::npos && s.find('"') == std::string::npos;
    const char quote = double_quotes ? '"' : '\'';
    out += quote;
    for (size_t at = 0; at < s.size(); at += charLength(s, at)) {
        const char32_t c = charAt(s, at);
        if (c == static_cast<char32_t>(quote) || c == '\\') {
            out += '\\';
            out += static_cast<char>(c);
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\r') {
            out += "\\r";
        } else if (c == '\t') {
            out += "\\t";
        } else if (isPrintable(c)) {
            out.append(s, at, charLength(s, at));
        } else {
            out += escapeCode(c);
        }
    }
    out += quote;
    checkStringSize(out.size());
}

void write(std::string& out, const Value& value);

void writeItems(std::string& out, const std::vector<Value>& items) {
    bool first = true;
    for (const Value& item : items) {
        if (!first) out += ", ";
        first = false;
        write(out, item);
    }
}

void writeSequence(std::string& out, const Sequence& sequence) {
    using Type = Sequence::Type;
    if (sequence.type == Type::Range) {
        out += "range(" + formatInt(sequence.range_start) + ", " + formatInt(sequence.range_stop);
        if (sequence.range_step != 1) out += ", " + formatInt(sequence.range_step);
        out += ')';
        return;
    }
    const bool tuple = sequence.type == Type::Tuple;
    if (!tuple && !sequence.isList()) {
        out += sequence.type == Type::Keys     ? "dict_keys("
               : sequence.type == Type::Values ? "dict_values("
                                               : "dict_items(";
    }
    out += tuple ? '(' : '[';
    writeItems(out, sequence.items);
    if (tuple && sequence.items.size() == 1) out += ',';
    out += tuple ? ')' : ']';
    if (!tuple && !sequence.isList()) out += ')';
}

void write(std::string& out, const Value& value) {
    checkStack();
    spend(1);
    checkStringSize(out.size());
    switch (value.kind()) {
        case Kind::Undefined: out += "Undefined"; break;
        case Kind::None: out += "None"; break;
        case Kind::Bool: out += value.boolean() ? "True" : "False"; break;
        case Kind::Int: out += formatInt(value.integral()); break;
        case Kind::Float: out += formatFloat(value.real()); break;
        case Kind::String: writeString(out, value.text()->bytes()); break;
        case Kind::Sequence: writeSequence(out, *value.sequence()); break;
        case Kind::Dict: {
            out += '{';
            bool first = true;
            for (const auto& [key, item] : value.dict()->entries()) {
                if (!first) out += ", ";
                first = false;
                write(out, key);
                out += ": ";
                write(out, item);
            }
            out += '}';
            break;
        }
        case Kind::Object: out += '<' + value.typeName() + '>'; break;
    }
}

}  // namespace

std::string formatInt(Int value) {
    __extension__ typedef unsigned __int128 Unsigned;
    Unsigned rest = value < 0 ? Unsigned{0} - static_cast<Unsigned>(value) : static_cast<Unsigned>(value);
    std::string digits;
    do {
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
        rest /= 10;
    } while (rest != 0);
    return value < 0 ? '-' + digits : digits;
}

std::string formatFloat(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    const double magnitude = std::fabs(value);
    const bool fixed = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   fixed ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    std::string out(buffer.data(), end);
    if (fixed && out.find('.') == std::string::npos) out += ".0";
    return out;
}

TextPtr repr(const Value& value) {
    std::string out;
    write(out, value);
    return makeText(std::move(out), overallMark(value));
}

TextPtr toText(const Value& value) {
    if (value.isString()) return value.text();
    if (value.isUndefined()) return makeText("");
    return repr(value);
}

}  // namespace hearth::text::jinja
