#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Character classes and case of Python's str, on code points.
namespace hearth::text::jinja {

bool isSpace(char32_t c);
bool isPrintable(char32_t c);
bool isAlpha(char32_t c);
bool isDecimal(char32_t c);
bool isDigit(char32_t c);
bool isNumeric(char32_t c);
bool isLower(char32_t c);
bool isUpper(char32_t c);
bool isTitle(char32_t c);
/// Letters, marks, digits and the underscore: what a name may consist of after its first character.
bool isWord(char32_t c);
/// A character that lower-case or upper-case forms exist of.
bool isCased(char32_t c);

enum class Case { Lower, Upper, Title, Fold };
/// Full case mapping (one character may become up to three), without context.
std::u32string toCase(char32_t c, Case form);
/// Whether a Σ at byte `at` of `s` ends a word and so becomes ς in lower case (Unicode, SpecialCasing, Final_Sigma).
bool isFinalSigma(std::string_view s, size_t at);

}  // namespace hearth::text::jinja
