#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "engine/text/jinja/ast.h"

/// The filters, by what they work on. findFilter() of library.h looks them up.
namespace hearth::text::jinja {

using NamedFilter = std::pair<std::string_view, Filter>;

std::span<const NamedFilter> textFilters();
std::span<const NamedFilter> numberFilters();
std::span<const NamedFilter> listFilters();
std::span<const NamedFilter> selectionFilters();

/// item.a.0.b for the attribute "a.0.b" or an integer; `fallback` (may be null) stands in for what is undefined.
Value attributeOf(const Value& item, const Value& attribute, const Value* fallback);
/// Strings in lower case, everything else as it is: the key of a comparison that ignores case.
Value ignoreCase(const Value& value);

}  // namespace hearth::text::jinja
