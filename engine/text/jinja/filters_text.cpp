#include <algorithm>

#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

namespace hearth::text::jinja {

namespace {

template <Case form>
Value caseFilter(Runtime&, const Value& input, Arguments&) {
    return changeCase(toText(input), form);
}

Value capitalizeFilter(Runtime&, const Value& input, Arguments&) { return capitalize(toText(input)); }

Value titleFilter(Runtime&, const Value& input, Arguments&) {
    const TextPtr text = toText(input);
    TextBuilder builder;
    bool at_start = true;  // a word begins after white space, '-' and opening brackets only
    for (size_t at = 0; at < text->size();) {
        const size_t end = at + charLength(text->bytes(), at);
        const char32_t c = charAt(text->bytes(), at);
        for (const char32_t mapped : toCase(c, at_start ? Case::Upper : Case::Lower))
            builder.append(mapped, text->markAt(at));
        at_start =
            isSpace(c) || (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) != std::string_view::npos);
        at = end;
    }
    return builder.finish();
}

Value trimFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "trim", {"chars"}, 0);
    const bool spaces = !bound.has(0) || bound[0].isNone();
    return strip(toText(input), spaces ? nullptr : bound.text(0).get(), Strip::Both);
}

Value replaceFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "replace", {"old", "new", "count"}, 2);
    const Int count = bound.has(2) && !bound[2].isNone() ? bound.integer(2, -1) : -1;
    return replaceText(toText(input), *toText(bound[0]), *toText(bound[1]), count);
}

Value indentFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "indent", {"width", "first", "blank"}, 0);
    const bool first = bound.truth(1, false), blank = bound.truth(2, false);
    TextPtr indention = makeText("    ");
    if (bound.has(0) && bound[0].isString()) {
        indention = bound.text(0);
    } else if (bound.has(0)) {
        const size_t width = requireSize(bound[0], "'indent'");
        checkStringSize(width);
        indention = makeText(std::string(width, ' '));
    }
    TextBuilder with_end;
    with_end.append(*toText(input));
    with_end.append("\n", Mark::Trusted);
    TextBuilder builder;
    bool is_first = true;
    for (const TextPtr& line : splitLines(with_end.finish())) {
        if (!is_first) builder.append("\n", Mark::Trusted);
        if (is_first ? first : blank || line->size() > 0) builder.append(*indention);
        is_first = false;
        builder.append(*line);
    }
    return builder.finish();
}

Value truncateFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "truncate", {"length", "killwords", "end", "leeway"}, 0);
    const TextPtr text = toText(input), end = bound.text(2, makeText("..."));
    const size_t length = bound.has(0) ? requireSize(bound[0], "'truncate'") : 255;
    const size_t leeway = bound.has(3) && !bound[3].isNone() ? requireSize(bound[3], "'truncate'") : 5;
    if (length < end->length()) fail("'truncate' has no room for its ending");
    if (text->length() <= length + leeway) return text;
    TextPtr kept = subText(text, 0, text->offset(length - end->length()));
    if (!bound.truth(1, false)) kept = splitText(kept, makeText(" ").get(), 1, true).front();
    return joinTexts({kept, end}, *makeText(""));
}

Value wordWrapFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "wordwrap", {"width", "break_long_words", "wrapstring", "break_on_hyphens"}, 0);
    const size_t width = bound.has(0) ? requireSize(bound[0], "'wordwrap'") : 79;
    const TextPtr newline = bound.has(2) && !bound[2].isNone() ? bound.text(2) : makeText("\n");
    return wordWrap(toText(input), width, bound.truth(1, true), *newline);
}

Value centerFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "center", {"width"}, 0);
    return center(toText(input), bound.has(0) ? requireSize(bound[0], "'center'") : 80, *makeText(" "));
}

Value wordCount(Runtime&, const Value& input, Arguments&) {
    const TextPtr text = toText(input);
    spendBytes(text->size() * 8);
    size_t count = 0;
    bool in_word = false;
    for (size_t at = 0; at < text->size(); at += charLength(text->bytes(), at)) {
        const bool word = isWord(charAt(text->bytes(), at));
        if (word && !in_word) ++count;
        in_word = word;
    }
    return Value::integer(count);
}

Value formatFilter(Runtime&, const Value& input, Arguments& arguments) {
    if (!arguments.named.empty() && !arguments.positional.empty())
        fail("'format' takes values either by place or by name");
    if (arguments.named.empty()) return formatPercent(toText(input), makeTuple(arguments.positional));
    auto dict = std::make_shared<Dict>();
    for (const auto& [name, value] : arguments.named) dict->set(Value::string(name), value);
    return formatPercent(toText(input), DictPtr(std::move(dict)));
}

Value stringFilter(Runtime&, const Value& input, Arguments&) { return toText(input); }

Value safeFilter(Runtime&, const Value& input, Arguments&) {
    TextBuilder builder;
    builder.append(*toText(input));
    return builder.finish(true);
}

Value escapeFilter(Runtime&, const Value& input, Arguments&) { return escapeHtml(toText(input)); }

Value forceEscapeFilter(Runtime&, const Value& input, Arguments&) {
    TextBuilder builder;
    builder.append(*toText(input));
    return escapeHtml(builder.finish());
}

Value stripTagsFilter(Runtime&, const Value& input, Arguments&) {
    const TextPtr text = toText(input);
    const std::string& s = text->bytes();
    TextBuilder builder;
    size_t at = 0;
    while (at < s.size()) {
        const size_t open = s.find('<', at);
        const bool comment = open != std::string::npos && s.compare(open, 4, "<!--") == 0;
        const size_t close = open == std::string::npos ? open : comment ? findText(s, "-->", open) : s.find('>', open);
        if (close == std::string::npos) break;
        builder.append(*text, at, open);
        at = close + (comment ? 3 : 1);
    }
    builder.append(*text, at, s.size());
    TextPtr plain = joinTexts(splitText(builder.finish(), nullptr, -1, false), *makeText(" "));
    constexpr std::pair<const char*, const char*> kEntities[] = {
        {"&lt;", "<"},  {"&gt;", ">"},          {"&#34;", "\""}, {"&quot;", "\""},
        {"&#39;", "'"}, {"&nbsp;", "\xC2\xA0"}, {"&amp;", "&"}};
    // What stood for a bracket in the input is input still, wherever the bracket comes from.
    for (const auto& [entity, plain_text] : kEntities)
        plain = replaceText(plain, *makeText(entity), *makeText(plain_text, plain->overall()), -1);
    return plain;
}

/// `in_query`: a space becomes + and a slash is escaped.
std::string urlQuote(const std::string& s, bool in_query) {
    constexpr char kHex[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : s) {
        const auto b = static_cast<unsigned char>(c);
        const bool plain = b < 0x80 && isWord(b);
        if (plain || (c != '\0' && std::string_view("-.~").find(c) != std::string_view::npos) ||
            (!in_query && c == '/')) {
            out += c;
        } else if (in_query && c == ' ') {
            out += '+';
        } else {
            out += '%';
            out += kHex[b >> 4];
            out += kHex[b & 15];
        }
    }
    checkStringSize(out.size());
    return out;
}

Value urlEncodeFilter(Runtime&, const Value& input, Arguments&) {
    if (input.isString() || (!input.isDict() && !input.isSequence())) {
        const TextPtr text = toText(input);
        return Value::string(urlQuote(text->bytes(), false), text->overall());
    }
    std::string out;
    const auto add = [&](const Value& key, const Value& value) {
        if (!out.empty()) out += '&';
        checkStringSize(out.size());
        out += urlQuote(toText(key)->bytes(), true) + '=' + urlQuote(toText(value)->bytes(), true);
    };
    if (input.isDict()) {
        for (const auto& [key, value] : input.dict()->entries()) add(key, value);
    } else {
        for (const Value& pair : input.sequence()->items)
            add(getItem(pair, Value(Int{0})), getItem(pair, Value(Int{1})));
    }
    return Value::string(out, overallMark(input));
}

Value toJsonFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"}, 0);
    JsonStyle style;
    style.ensure_ascii = bound.truth(0, false);
    style.sort_keys = bound.truth(3, false);
    if (bound.has(1) && !bound[1].isNone()) {
        style.item_separator = ",";
        if (bound[1].isString()) {
            style.indent = bound.text(1)->bytes();
        } else {
            const size_t width = requireSize(bound[1], "'tojson'");
            if (width > 1000) fail("the indent of 'tojson' is too wide");
            style.indent = std::string(width, ' ');
        }
    }
    if (bound.has(2) && !bound[2].isNone()) {
        const SequencePtr separators = iterate(bound[2]);
        if (separators->items.size() != 2) fail("'tojson' needs two separators");
        style.item_separator = toText(separators->items[0])->bytes();
        style.key_separator = toText(separators->items[1])->bytes();
    }
    return toJson(input, style);
}

Value fromJsonFilter(Runtime&, const Value& input, Arguments&) {
    const TextPtr text = toText(input);
    spend(text->size());
    // The parser of the library builds its tree without recursion, but takes deep ones apart with it.
    size_t depth = 0;
    for (const char c : text->bytes()) {
        if (c == '[' || c == '{') ++depth;
        if (depth > 2000) fail("a text with JSON is nested too deeply");
        if ((c == ']' || c == '}') && depth > 0) --depth;
    }
    checkStringSize(text->size() * 8);
    const auto json = nlohmann::ordered_json::parse(text->bytes(), nullptr, false);
    if (json.is_discarded()) fail("a text is not JSON");
    return fromJson(json, text->overall());
}

constexpr NamedFilter kFilters[] = {{"upper", caseFilter<Case::Upper>},
                                    {"lower", caseFilter<Case::Lower>},
                                    {"capitalize", capitalizeFilter},
                                    {"title", titleFilter},
                                    {"trim", trimFilter},
                                    {"replace", replaceFilter},
                                    {"indent", indentFilter},
                                    {"truncate", truncateFilter},
                                    {"wordwrap", wordWrapFilter},
                                    {"center", centerFilter},
                                    {"wordcount", wordCount},
                                    {"format", formatFilter},
                                    {"string", stringFilter},
                                    {"safe", safeFilter},
                                    {"e", escapeFilter},
                                    {"escape", escapeFilter},
                                    {"forceescape", forceEscapeFilter},
                                    {"striptags", stripTagsFilter},
                                    {"urlencode", urlEncodeFilter},
                                    {"tojson", toJsonFilter},
                                    {"from_json", fromJsonFilter}};

}  // namespace

std::span<const NamedFilter> textFilters() { return kFilters; }

Filter findFilter(std::string_view name) {
    for (const auto& filters : {textFilters(), numberFilters(), listFilters(), selectionFilters()})
        for (const auto& [known, filter] : filters)
            if (known == name) return filter;
    return nullptr;
}

}  // namespace hearth::text::jinja
