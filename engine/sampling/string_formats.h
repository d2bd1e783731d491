#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hearth::sampling::gbnf {

/// GBNF for the inside of a JSON string of that `format` of JSON Schema; nullopt where there is none. Some formats are
/// narrower than the standard allows (years from 1000, plain host names), none is wider.
std::optional<std::string> stringFormat(std::string_view format);

}  // namespace hearth::sampling::gbnf
