#include "engine/text/bpe_bytes.h"

#include <array>

#include "engine/text/unicode.h"

namespace hearth::text {

namespace {

constexpr bool printable(unsigned b) { return (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae; }

/// Byte of each character below U+0144, -1 where there is none.
constexpr std::array<int16_t, 0x144> kByteOf = [] {
    std::array<int16_t, 0x144> bytes{};
    bytes.fill(-1);
    size_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) bytes[printable(b) ? b : next++] = static_cast<int16_t>(b);
    return bytes;
}();

}  // namespace

void appendByteLevel(std::string& out, std::string_view text) {
    const size_t start = out.size();
    for (std::string_view rest = text; !rest.empty();) {
        const size_t n = sequenceLength(rest);
        const char32_t c = n == 0 ? 0xffffffu : codePoint(rest, n);
        if (c >= kByteOf.size() || kByteOf[c] < 0) {
            out.resize(start);
            out.append(text);
            return;
        }
        out.push_back(static_cast<char>(kByteOf[c]));
        rest.remove_prefix(n);
    }
}

}  // namespace hearth::text
