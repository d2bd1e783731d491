#include <algorithm>
#include <array>

#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

/// Methods of strings, lists, tuples and mappings.
namespace hearth::text::jinja {

namespace {

using TextMethod = Value (*)(const TextPtr&, Arguments&);

std::vector<Value> asValues(const std::vector<TextPtr>& texts) { return {texts.begin(), texts.end()}; }

template <Strip side>
Value stripMethod(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "strip", {"chars"}, 0);
    if (!bound.has(0) || bound[0].isNone()) return strip(text, nullptr, side);
    return strip(text, bound.text(0).get(), side);
}

template <bool from_right>
Value splitMethod(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "split", {"sep", "maxsplit"}, 0);
    const bool at_spaces = !bound.has(0) || bound[0].isNone();
    const TextPtr separator = at_spaces ? nullptr : bound.text(0);
    return makeList(asValues(splitText(text, separator.get(), bound.integer(1, -1), from_right)));
}

template <bool at_end>
Value startsWith(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, at_end ? "endswith" : "startswith", {"prefix", "start", "end"}, 1);
    const Value part = bound.has(1) || bound.has(2) ? sliceOf(text, bound.get(1), bound.get(2), nullptr) : Value(text);
    const std::string_view s = part.text()->bytes();
    const auto matches = [&](const Value& value) {
        if (!value.isString()) fail("'startswith' needs a string, not '" + value.typeName() + "'");
        spendBytes(value.text()->size());
        return at_end ? s.ends_with(value.text()->bytes()) : s.starts_with(value.text()->bytes());
    };
    if (bound[0].isUndefined()) fail(bound[0].undefinedWhy());
    if (!bound[0].isSequence()) return Value(matches(bound[0]));
    const auto& options = bound[0].sequence()->items;
    return Value(std::any_of(options.begin(), options.end(), matches));
}

template <Case form>
Value caseMethod(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "a change of case", {}, 0);
    return changeCase(text, form);
}

Value capitalizeMethod(const TextPtr& text, Arguments&) { return capitalize(text); }
Value swapCaseMethod(const TextPtr& text, Arguments&) { return swapCase(text); }

Value replaceMethod(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "replace", {"old", "new", "count"}, 2);
    return replaceText(text, *bound.text(0), *bound.text(1), bound.integer(2, -1));
}

template <bool last, bool must_exist>
Value findMethodOf(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "find", {"sub", "start", "end"}, 1);
    const TextPtr what = bound.text(0);
    Int first = bound.integer(1, 0);
    const auto length = static_cast<Int>(text->length());
    if (first < 0) first = std::max<Int>(0, first + length);
    if (first <= length) {
        const Value start{first};
        const Value part = sliceOf(text, &start, bound.get(2), nullptr);
        const std::string& s = part.text()->bytes();
        const size_t found = last ? findLastText(s, what->bytes()) : findText(s, what->bytes());
        if (found != std::string::npos)
            return Value(first + static_cast<Int>(subText(part.text(), 0, found)->length()));
    }
    if (must_exist) fail("a text does not contain what 'index' looks for");
    return Value(Int{-1});
}

Value countMethod(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "count", {"sub"}, 1);
    const TextPtr what = bound.text(0);
    if (what->size() == 0) return Value::integer(text->length() + 1);
    size_t count = 0;
    for (size_t at = findText(text->bytes(), what->bytes()); at != std::string::npos;
         at = findText(text->bytes(), what->bytes(), at + what->size()))
        ++count;
    return Value::integer(count);
}

Value joinMethod(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "join", {"iterable"}, 1);
    std::vector<TextPtr> parts;
    for (const SequencePtr all = iterate(bound[0]); const Value& item : all->items) {
        if (!item.isString()) fail("'join' needs strings, not '" + item.typeName() + "'");
        parts.push_back(item.text());
    }
    return joinTexts(parts, *text);
}

Value formatMethod(const TextPtr& text, Arguments& arguments) { return formatBraces(text, arguments); }

template <bool (*matches)(char32_t)>
Value allChars(const TextPtr& text, Arguments&) {
    const std::string& s = text->bytes();
    spendBytes(s.size() * 8);
    for (size_t at = 0; at < s.size(); at += charLength(s, at))
        if (!matches(charAt(s, at))) return Value(false);
    return Value(!s.empty());
}

bool isAlnum(char32_t c) { return isAlpha(c) || isDecimal(c) || isDigit(c) || isNumeric(c); }
bool isAsciiChar(char32_t c) { return c < 0x80; }
Value isPrintableMethod(const TextPtr& text, Arguments& a) {
    return Value(text->size() == 0 || allChars<isPrintable>(text, a).truth());
}
Value isAsciiMethod(const TextPtr& text, Arguments& a) {
    return Value(text->size() == 0 || allChars<isAsciiChar>(text, a).truth());
}

Value isIdentifier(const TextPtr& text, Arguments& arguments) {
    if (text->size() == 0) return Value(false);
    const char32_t first = charAt(text->bytes(), 0);
    return Value((isAlpha(first) || first == '_') && allChars<isWord>(text, arguments).truth());
}

/// At least one cased character, and none of the other case.
template <bool upper>
Value isCaseMethod(const TextPtr& text, Arguments&) {
    const std::string& s = text->bytes();
    spendBytes(s.size() * 8);
    bool any = false;
    for (size_t at = 0; at < s.size(); at += charLength(s, at)) {
        const char32_t c = charAt(s, at);
        if (isTitle(c) || (upper ? isLower(c) : isUpper(c))) return Value(false);
        any |= upper ? isUpper(c) : isLower(c);
    }
    return Value(any);
}

Value isTitleMethod(const TextPtr& text, Arguments&) {
    const std::string& s = text->bytes();
    spendBytes(s.size() * 8);
    bool any = false, in_word = false;
    for (size_t at = 0; at < s.size(); at += charLength(s, at)) {
        const char32_t c = charAt(s, at);
        const bool big = isUpper(c) || isTitle(c), small = isLower(c);
        if ((big && in_word) || (small && !in_word)) return Value(false);
        any |= big;
        in_word = big || small;
    }
    return Value(any);
}

Value splitLinesMethod(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "splitlines", {"keepends"}, 0);
    return makeList(asValues(splitLines(text, bound.truth(0, false))));
}

template <bool last>
Value partition(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "partition", {"sep"}, 1);
    const TextPtr separator = bound.text(0), empty = makeText("");
    if (separator->size() == 0) fail("a text cannot be split at nothing");
    const size_t at =
        last ? findLastText(text->bytes(), separator->bytes()) : findText(text->bytes(), separator->bytes());
    if (at == std::string::npos) return last ? makeTuple({empty, empty, text}) : makeTuple({text, empty, empty});
    return makeTuple({subText(text, 0, at), separator, subText(text, at + separator->size(), text->size())});
}

Value removePrefix(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "removeprefix", {"prefix"}, 1);
    const TextPtr prefix = bound.text(0);
    return text->bytes().starts_with(prefix->bytes()) ? subText(text, prefix->size(), text->size()) : text;
}

Value removeSuffix(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "removesuffix", {"suffix"}, 1);
    const TextPtr suffix = bound.text(0);
    return text->bytes().ends_with(suffix->bytes()) ? subText(text, 0, text->size() - suffix->size()) : text;
}

Value zeroFill(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "zfill", {"width"}, 1);
    const size_t width = requireSize(bound[0], "'zfill'"), length = text->length();
    if (width <= length) return text;
    const bool sign = text->size() > 0 && (text->bytes()[0] == '-' || text->bytes()[0] == '+');
    TextBuilder builder;
    if (sign) builder.append(*text, 0, 1);
    builder.append(*pad(subText(text, sign ? 1 : 0, text->size()), width - length, 0, *makeText("0")));
    return builder.finish();
}

enum class Side { Left, Right, Center };
template <Side side>
Value justify(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "justify", {"width", "fillchar"}, 1);
    const TextPtr fill = bound.text(1, makeText(" "));
    if (fill->length() != 1) fail("the fill must be one character");
    const size_t width = requireSize(bound[0], "a width"), length = text->length();
    if (width <= length) return text;
    if (side == Side::Center) return center(text, width, *fill);
    return side == Side::Left ? pad(text, 0, width - length, *fill) : pad(text, width - length, 0, *fill);
}

Value expandTabs(const TextPtr& text, Arguments& arguments) {
    const Bound bound(arguments, "expandtabs", {"tabsize"}, 0);
    const size_t tab = bound.has(0) ? requireSize(bound[0], "'expandtabs'") : 8;
    checkStringSize(tab);
    TextBuilder builder;
    size_t column = 0;
    for (size_t at = 0; at < text->size();) {
        const size_t end = at + charLength(text->bytes(), at);
        const char c = text->bytes()[at];
        if (c == '\t') {
            const size_t n = tab == 0 ? 0 : tab - column % tab;
            builder.append(std::string(n, ' '), text->markAt(at));
            column += n;
        } else {
            builder.append(*text, at, end);
            column = c == '\n' || c == '\r' ? 0 : column + 1;
        }
        at = end;
    }
    return builder.finish();
}

Value unsupported(const TextPtr&, Arguments&) { fail("'encode', 'translate' and 'maketrans' are not supported"); }

constexpr std::pair<std::string_view, TextMethod> kTextMethods[] = {
    {"strip", stripMethod<Strip::Both>},
    {"lstrip", stripMethod<Strip::Left>},
    {"rstrip", stripMethod<Strip::Right>},
    {"split", splitMethod<false>},
    {"rsplit", splitMethod<true>},
    {"startswith", startsWith<false>},
    {"endswith", startsWith<true>},
    {"upper", caseMethod<Case::Upper>},
    {"lower", caseMethod<Case::Lower>},
    {"title", caseMethod<Case::Title>},
    {"casefold", caseMethod<Case::Fold>},
    {"capitalize", capitalizeMethod},
    {"swapcase", swapCaseMethod},
    {"replace", replaceMethod},
    {"find", findMethodOf<false, false>},
    {"rfind", findMethodOf<true, false>},
    {"index", findMethodOf<false, true>},
    {"rindex", findMethodOf<true, true>},
    {"count", countMethod},
    {"join", joinMethod},
    {"format", formatMethod},
    {"isdigit", allChars<isDigit>},
    {"isdecimal", allChars<isDecimal>},
    {"isnumeric", allChars<isNumeric>},
    {"isalpha", allChars<isAlpha>},
    {"isalnum", allChars<isAlnum>},
    {"isspace", allChars<isSpace>},
    {"isascii", isAsciiMethod},
    {"isprintable", isPrintableMethod},
    {"isidentifier", isIdentifier},
    {"islower", isCaseMethod<false>},
    {"isupper", isCaseMethod<true>},
    {"istitle", isTitleMethod},
    {"splitlines", splitLinesMethod},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"removeprefix", removePrefix},
    {"removesuffix", removeSuffix},
    {"zfill", zeroFill},
    {"ljust", justify<Side::Left>},
    {"rjust", justify<Side::Right>},
    {"center", justify<Side::Center>},
    {"expandtabs", expandTabs},
    {"encode", unsupported},
    {"translate", unsupported},
    {"maketrans", unsupported},
};

using SequenceMethod = Value (*)(Runtime&, const SequencePtr&, Arguments&);

Value indexOf(Runtime&, const SequencePtr& sequence, Arguments& arguments) {
    const Bound bound(arguments, "index", {"value"}, 1);
    spend(sequence->items.size());
    for (size_t i = 0; i < sequence->items.size(); ++i)
        if (equal(sequence->items[i], bound[0])) return Value::integer(i);
    fail("a list does not contain what 'index' looks for");
}

Value countIn(Runtime&, const SequencePtr& sequence, Arguments& arguments) {
    const Bound bound(arguments, "count", {"value"}, 1);
    spend(sequence->items.size());
    const auto n = std::count_if(sequence->items.begin(), sequence->items.end(),
                                 [&](const Value& v) { return equal(v, bound[0]); });
    return Value(static_cast<Int>(n));
}

Value copyList(Runtime&, const SequencePtr& sequence, Arguments&) {
    spend(sequence->items.size());
    return makeList(sequence->items);
}

void insertInto(Runtime& runtime, const SequencePtr& list, size_t at, const Value& value) {
    spend(list->items.size() / 16 + 1);
    list->charge(1);
    if (!value.isString()) runtime.remember(list);
    list->items.insert(list->items.begin() + static_cast<std::ptrdiff_t>(at), value);
}

Value append(Runtime& runtime, const SequencePtr& list, Arguments& arguments) {
    const Bound bound(arguments, "append", {"object"}, 1);
    insertInto(runtime, list, list->items.size(), bound[0]);
    return None{};
}

Value insert(Runtime& runtime, const SequencePtr& list, Arguments& arguments) {
    const Bound bound(arguments, "insert", {"index", "object"}, 2);
    const auto n = static_cast<Int>(list->items.size());
    Int at = bound.integer(0, 0);
    if (at < 0) at = std::max<Int>(0, at + n);
    insertInto(runtime, list, static_cast<size_t>(std::min(at, n)), bound[1]);
    return None{};
}

Value extend(Runtime& runtime, const SequencePtr& list, Arguments& arguments) {
    const Bound bound(arguments, "extend", {"iterable"}, 1);
    const SequencePtr source = iterate(bound[0]);
    const std::vector<Value> items = source->items;  // a copy: the list may extend itself
    for (const Value& item : items) insertInto(runtime, list, list->items.size(), item);
    return None{};
}

Value pop(Runtime&, const SequencePtr& list, Arguments& arguments) {
    const Bound bound(arguments, "pop", {"index"}, 0);
    const auto n = static_cast<Int>(list->items.size());
    Int at = bound.integer(0, -1);
    if (at < 0) at += n;
    if (at < 0 || at >= n) fail("a list has no item to pop");
    spend(list->items.size() / 16 + 1);
    const auto it = list->items.begin() + static_cast<std::ptrdiff_t>(at);
    Value value = *it;
    list->items.erase(it);
    return value;
}

std::optional<Value> sequenceMethod(const SequencePtr& sequence, std::string_view name) {
    using Type = Sequence::Type;
    if (sequence->group && name == "grouper") return sequence->items[0];
    if (sequence->group && name == "list") return sequence->items[1];
    const bool list = sequence->isList(),
               countable = list || sequence->type == Type::Tuple || sequence->type == Type::Range;
    const std::tuple<std::string_view, SequenceMethod, bool> methods[] = {
        {"index", indexOf, countable},       {"count", countIn, countable},       {"copy", copyList, list},
        {"append", append, sequence->owned}, {"insert", insert, sequence->owned}, {"extend", extend, sequence->owned},
        {"pop", pop, sequence->owned}};
    for (const auto& [known, method, allowed] : methods) {
        if (known != name) continue;
        if (!allowed) return std::nullopt;
        return makeFunction([sequence, call = method](Runtime& runtime, Arguments& arguments) {
            return call(runtime, sequence, arguments);
        });
    }
    return std::nullopt;
}

Value dictView(const DictPtr& dict, Sequence::Type type) {
    spend(dict->size());
    std::vector<Value> items;
    items.reserve(dict->size());
    for (const auto& [key, value] : dict->entries())
        items.push_back(type == Sequence::Type::Keys     ? key
                        : type == Sequence::Type::Values ? value
                                                         : makeTuple({key, value}));
    return std::make_shared<Sequence>(type, std::move(items));
}

std::optional<Value> dictMethod(const DictPtr& dict, std::string_view name) {
    using Type = Sequence::Type;
    for (const auto& [known, type] :
         {std::pair("keys", Type::Keys), std::pair("values", Type::Values), std::pair("items", Type::Items)}) {
        if (name != known) continue;
        return makeFunction([dict, view = type, what = std::string(known)](Runtime&, Arguments& arguments) {
            const Bound bound(arguments, what, {}, 0);
            return dictView(dict, view);
        });
    }
    if (name == "copy") return makeFunction([dict](Runtime&, Arguments&) { return Value(dict); });
    if (name != "get") return std::nullopt;
    return makeFunction([dict](Runtime&, Arguments& arguments) -> Value {
        const Bound bound(arguments, "get", {"key", "default"}, 1);
        if (const Value* value = dict->find(bound[0])) return *value;
        return bound.has(1) ? bound[1] : Value(None{});
    });
}

}  // namespace

std::optional<Value> findMethod(const Value& object, std::string_view name) {
    if (object.isDict()) return dictMethod(object.dict(), name);
    if (object.isSequence()) return sequenceMethod(object.sequence(), name);
    if (!object.isString()) return std::nullopt;
    for (const auto& [known, method] : kTextMethods)
        if (known == name)
            return makeFunction([text = object.text(), call = method](Runtime&, Arguments& arguments) {
                return call(text, arguments);
            });
    return std::nullopt;
}

}  // namespace hearth::text::jinja
