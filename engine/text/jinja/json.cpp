#include <algorithm>
#include <cmath>

#include "engine/text/jinja/library.h"

/// json.dumps of Python.
namespace hearth::text::jinja {

namespace {

class JsonWriter {
public:
    explicit JsonWriter(const JsonStyle& style) : style_(style) {}

    void write(const Value& value) {
        checkStack();
        spend(1);
        switch (value.kind()) {
            case Kind::None: put("null"); break;
            case Kind::Bool: put(value.boolean() ? "true" : "false"); break;
            case Kind::Int: put(formatInt(value.integral())); break;
            case Kind::Float: writeFloat(value.real()); break;
            case Kind::String: writeString(value.text()->bytes()); break;
            case Kind::Sequence:
                if (value.sequence()->type > Sequence::Type::Tuple)
                    fail("a '" + value.typeName() + "' cannot be written as JSON");
                writeList(value.sequence()->items);
                break;
            case Kind::Dict: writeDict(*value.dict()); break;
            case Kind::Undefined: fail(value.undefinedWhy() + ", so it cannot be written as JSON");
            case Kind::Object: fail("a '" + value.typeName() + "' cannot be written as JSON");
        }
    }

    std::string take() { return std::move(out_); }

private:
    void put(std::string_view s) {
        checkStringSize(out_.size() + s.size());
        spendBytes(s.size());
        out_ += s;
    }

    void writeFloat(double d) {
        put(std::isnan(d) ? "NaN" : std::isinf(d) ? (d < 0 ? "-Infinity" : "Infinity") : formatFloat(d));
    }

    void unicodeEscape(char32_t unit) {
        constexpr char kHex[] = "0123456789abcdef";
        const char escape[] = {
            '\\', 'u', kHex[(unit >> 12) & 15], kHex[(unit >> 8) & 15], kHex[(unit >> 4) & 15], kHex[unit & 15]};
        put(std::string_view(escape, sizeof escape));
    }

    void writeString(const std::string& s) {
        put("\"");
        size_t begin = 0;
        for (size_t at = 0; at < s.size();) {
            const size_t end = at + charLength(s, at);
            const char32_t c = charAt(s, at);
            if (c >= 0x20 && c != '"' && c != '\\' && (c < 0x7F || !style_.ensure_ascii || c == 0x7F)) {
                at = end;
                continue;
            }
            put(std::string_view(s).substr(begin, at - begin));
            writeEscaped(c);
            begin = at = end;
        }
        put(std::string_view(s).substr(begin));
        put("\"");
    }

    void writeEscaped(char32_t c) {
        constexpr std::string_view kFrom = "\"\\\n\r\t\b\f", kTo = "\"\\nrtbf";
        const size_t k = c < 0x80 ? kFrom.find(static_cast<char>(c)) : std::string_view::npos;
        if (k != std::string_view::npos) {
            const char escape[] = {'\\', kTo[k]};
            put(std::string_view(escape, 2));
        } else if (c >= 0x10000) {
            unicodeEscape(0xD800 + ((c - 0x10000) >> 10));
            unicodeEscape(0xDC00 + ((c - 0x10000) & 0x3FF));
        } else {
            unicodeEscape(c);
        }
    }

    void newline() {
        if (!style_.indent) return;
        put("\n");
        for (size_t i = 0; i < level_; ++i) put(*style_.indent);
    }

    void separate(bool& first) {
        if (!first) put(style_.item_separator);
        first = false;
        newline();
    }

    void writeList(const std::vector<Value>& items) {
        if (items.empty()) return put("[]");
        put("[");
        ++level_;
        bool first = true;
        for (const Value& item : items) {
            separate(first);
            write(item);
        }
        --level_;
        newline();
        put("]");
    }

    std::string keyText(const Value& key) {
        switch (key.kind()) {
            case Kind::String: return key.text()->bytes();
            case Kind::None: return "null";
            case Kind::Bool: return key.boolean() ? "true" : "false";
            case Kind::Int: return formatInt(key.integral());
            case Kind::Float: return formatFloat(key.real());
            default: fail("a '" + key.typeName() + "' cannot be a key in JSON");
        }
    }

    void writeDict(const Dict& dict) {
        if (dict.size() == 0) return put("{}");
        std::vector<const Dict::Entry*> entries;
        for (const auto& entry : dict.entries()) entries.push_back(&entry);
        if (style_.sort_keys)
            std::stable_sort(entries.begin(), entries.end(),
                             [](const auto* a, const auto* b) { return less(a->first, b->first); });
        put("{");
        ++level_;
        bool first = true;
        for (const auto* entry : entries) {
            separate(first);
            writeString(keyText(entry->first));
            put(style_.key_separator);
            write(entry->second);
        }
        --level_;
        newline();
        put("}");
    }

    const JsonStyle& style_;
    std::string out_;
    size_t level_ = 0;
};

}  // namespace

TextPtr toJson(const Value& value, const JsonStyle& style) {
    JsonWriter writer(style);
    writer.write(value);
    return makeText(writer.take(), overallMark(value));
}

}  // namespace hearth::text::jinja
