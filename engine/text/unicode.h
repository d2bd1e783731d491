#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8 and the few character properties that tokenizers ask for.
namespace hearth::text {

/// U+2581, which SentencePiece vocabularies write for a space.
inline constexpr std::string_view kLowerBlock = "\xe2\x96\x81";
/// U+FFFD.
inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Bytes of the well-formed UTF-8 sequence that `s` starts with (Unicode, table 3-7: no overlong forms, no surrogates,
/// nothing above U+10FFFF); 0 when there is none.
size_t sequenceLength(std::string_view s);

/// The code point of a well-formed sequence of `length` bytes at the start of `s`.
char32_t codePoint(std::string_view s, size_t length);

/// True for text that is well-formed from start to end.
bool isWellFormed(std::string_view s);

/// `s` with every byte that is no part of a well-formed sequence replaced by U+FFFD.
std::string replaceIllFormed(std::string_view s);

/// Bytes at the end of `s` (0 to 3) that begin a character which more bytes could complete.
size_t incompleteTail(std::string_view s);

void appendUtf8(std::string& out, char32_t c);

/// `s` with `from` (not empty) replaced by `to`, from left to right.
std::string replaceAll(std::string_view s, std::string_view from, std::string_view to);

/// The property White_Space.
bool isWhiteSpace(char32_t c);
/// General category Nd.
bool isDecimalDigit(char32_t c);
/// What \w stands for in regular expressions (Unicode Technical Standard 18, annex C).
bool isWordCharacter(char32_t c);

}  // namespace hearth::text
