#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hearth::sampling {

/// Takes UTF-8 a byte at a time and knows in the middle of a character which code points it can still become.
/// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
struct Utf8Partial {
    uint32_t code = 0;      ///< bits so far
    uint8_t missing = 0;    ///< continuation bytes to come; 0 = between characters
    uint8_t low = 0x80, high = 0xBF;   ///< what the next continuation byte may be

    enum class Result : uint8_t { Done, More, Invalid };

    /// After Done, `code` is the character.
    Result push(uint8_t byte) {
        if (missing == 0) return begin(byte);
        if (byte < low || byte > high) return Result::Invalid;
        code = code << 6 | (byte & 0x3Fu);
        low = 0x80;
        high = 0xBF;
        return --missing == 0 ? Result::Done : Result::More;
    }
    /// The first and last code point that it can become; only in the middle of a character.
    uint32_t lowest() const { return first(low) << (6 * (missing - 1)); }
    uint32_t highest() const { return ((first(high) + 1) << (6 * (missing - 1))) - 1; }
    friend bool operator==(const Utf8Partial&, const Utf8Partial&) = default;

private:
    uint32_t first(uint8_t byte) const { return code << 6 | (byte & 0x3Fu); }
    Result start(uint32_t bits, uint8_t rest, uint8_t least, uint8_t most) {
        code = bits;
        missing = rest;
        low = least;
        high = most;
        return Result::More;
    }
    Result begin(uint8_t byte) {
        if (byte < 0x80) {
            code = byte;
            return Result::Done;
        }
        if (byte < 0xC2 || byte > 0xF4) return Result::Invalid;
        if (byte < 0xE0) return start(byte & 0x1Fu, 1, 0x80, 0xBF);
        if (byte < 0xF0) return start(byte & 0x0Fu, 2, byte == 0xE0 ? 0xA0 : 0x80, byte == 0xED ? 0x9F : 0xBF);
        return start(byte & 0x07u, 3, byte == 0xF0 ? 0x90 : 0x80, byte == 0xF4 ? 0x8F : 0xBF);
    }
};

/// The character of `text` at `at`, which moves past it; nothing where there is no whole one.
inline std::optional<uint32_t> takeCodePoint(std::string_view text, size_t& at) {
    Utf8Partial utf8;
    while (at < text.size()) {
        const Utf8Partial::Result result = utf8.push(static_cast<uint8_t>(text[at++]));
        if (result == Utf8Partial::Result::Invalid) return std::nullopt;
        if (result == Utf8Partial::Result::Done) return utf8.code;
    }
    return std::nullopt;
}

}  // namespace hearth::sampling
