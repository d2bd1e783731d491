#pragma once

#include <string>
#include <string_view>

namespace hearth::sampling::gbnf {

/// GBNF for the inside of a JSON string (without the quotes) whose value a regular expression (ECMA-262, as JSON Schema
/// uses it) finds a match in. ^ and $ only at the ends of the expression or of its top alternatives. Throws Error,
/// naming the keyword `pattern`, for what no grammar of this kind can say: look-around, back references, word
/// boundaries. `any_character` is the rule for one character of a JSON string, put before and after what is not
/// anchored.
std::string fromRegex(std::string_view pattern, const std::string& any_character);

}  // namespace hearth::sampling::gbnf
