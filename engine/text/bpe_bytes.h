#pragma once

#include <string>
#include <string_view>

namespace hearth::text {

/// Byte-level vocabularies write each byte as a character of its own (GPT-2: printable Latin-1 stays, the rest becomes
/// U+0100 and up in order). Appends the bytes that `text` stands for; a text with any other character stands for itself.
void appendByteLevel(std::string& out, std::string_view text);

}  // namespace hearth::text
