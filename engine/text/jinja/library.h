#pragma once

#include <array>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/unicode.h"
#include "engine/text/jinja/value.h"

/// Filters, tests, methods and functions that templates can use.
namespace hearth::text::jinja {

/// nullptr if there is none of that name.
Filter findFilter(std::string_view name);
Test findTest(std::string_view name);
/// range, namespace, raise_exception … ; nullopt if there is none of that name.
std::optional<Value> findFunction(Runtime& runtime, std::string_view name);
/// A method of a string, a list, a tuple or a mapping, bound to `object`; nullopt if there is none that a template may call.
std::optional<Value> findMethod(const Value& object, std::string_view name);

/// A function written in C++.
struct NativeFunction : Object {
    using Body = std::function<Value(Runtime&, Arguments&)>;
    explicit NativeFunction(Body function) : Object(sizeof(NativeFunction) + 64), body(std::move(function)) {}
    std::string typeName() const override { return "function"; }
    bool callable() const override { return true; }
    Value call(Runtime& runtime, Arguments& arguments) override { return body(runtime, arguments); }

    Body body;
};

Value makeFunction(NativeFunction::Body body);

/// Arguments of a call sorted by the names of the parameters.
class Bound {
public:
    /// Throws TemplateError when there are too many, an unknown name, or one of the first `required` is missing.
    Bound(Arguments& arguments, std::string_view function, std::initializer_list<const char*> names, size_t required);

    bool has(size_t i) const { return values_[i] != nullptr; }
    const Value& operator[](size_t i) const { return *values_[i]; }
    /// nullptr if not given.
    const Value* get(size_t i) const { return values_[i]; }
    bool truth(size_t i, bool fallback) const { return values_[i] ? values_[i]->truth() : fallback; }
    Int integer(size_t i, Int fallback) const;
    /// Throws unless it is a string.
    TextPtr text(size_t i) const;
    TextPtr text(size_t i, TextPtr fallback) const { return values_[i] ? text(i) : fallback; }

private:
    std::string function_;
    std::array<const Value*, 8> values_{};
};

/// Throws TemplateError unless `value` is an integer (or a bool).
Int requireInteger(const Value& value, std::string_view what);
/// The same, clamped into [0, 2^40], for widths and counts.
size_t requireSize(const Value& value, std::string_view what);

/// The lookups of the language: object.name and object[key].
Value getAttribute(const Value& object, std::string_view name);
Value getItem(const Value& object, const Value& key);
Value sliceOf(const Value& object, const Value* start, const Value* stop, const Value* step);
Value applyOperator(Operator op, const Value& left, const Value& right);
Value negate(const Value& value, bool plus);

// Text functions that filters and methods share. Marks follow the characters they belong to.
enum class Strip { Left, Right, Both };
/// `characters` = nullptr: white space.
TextPtr strip(const TextPtr& text, const Text* characters, Strip side);
/// count < 0: all.
TextPtr replaceText(const TextPtr& text, const Text& from, const Text& to, Int count);
TextPtr changeCase(const TextPtr& text, Case form);
TextPtr capitalize(const TextPtr& text);
TextPtr swapCase(const TextPtr& text);
TextPtr pad(const TextPtr& text, size_t left, size_t right, const Text& fill);
TextPtr center(const TextPtr& text, size_t width, const Text& fill);
std::vector<TextPtr> splitLines(const TextPtr& text, bool keep_ends = false);
std::vector<TextPtr> splitText(const TextPtr& text, const Text* separator, Int max_splits, bool from_right);
TextPtr joinTexts(const std::vector<TextPtr>& parts, const Text& separator);
TextPtr escapeHtml(const TextPtr& text);
TextPtr wordWrap(const TextPtr& text, size_t width, bool break_long, const Text& newline);

/// Python's `text % values` and `text.format(...)`.
TextPtr formatPercent(const TextPtr& format, const Value& values);
TextPtr formatBraces(const TextPtr& format, const Arguments& arguments);

struct JsonStyle {
    bool ensure_ascii = false, sort_keys = false;
    std::optional<std::string> indent;
    std::string item_separator = ", ", key_separator = ": ";
};
/// json.dumps. Input if any string inside is. Throws TemplateError for what JSON cannot say.
TextPtr toJson(const Value& value, const JsonStyle& style);

/// strftime in the C locale, for the given time.
std::string formatTime(std::string_view format, const std::tm& time);

}  // namespace hearth::text::jinja
