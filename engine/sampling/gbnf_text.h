#pragma once

#include <string>
#include <string_view>

#include "engine/sampling/grammar.h"

/// Small pieces of GBNF text.
namespace hearth::sampling::gbnf {

/// A quoted literal that matches `text` (valid UTF-8).
std::string literal(std::string_view text);
/// A character class in brackets.
std::string characterClass(const CharClass& ranges);
/// What matches one character of `ranges` as it stands inside a JSON string: as it is where JSON allows that, else
/// escaped. Control characters without a short escape are left out of large classes (there is always another way to
/// satisfy those). Empty when nothing is left.
std::string jsonCharacter(const CharClass& ranges);
/// ranges without `without`; both normalised.
CharClass difference(const CharClass& ranges, const CharClass& without);
/// x{least,most}, most < 0 = no limit; short forms where there are some.
std::string times(const std::string& element, int64_t least, int64_t most);

}  // namespace hearth::sampling::gbnf
