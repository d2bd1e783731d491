#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::text {

/// SentencePiece's compiled normalisation rules (`precompiled_charsmap`): a 32-bit size, a double array of that many
/// bytes in darts-clone's layout, then the replacements, each ended by a zero byte. All of it is untrusted.
class Charsmap {
public:
    /// An empty `blob` changes nothing. Throws Error when the sizes do not fit.
    explicit Charsmap(std::string_view blob);

    struct Match {
        std::string_view replacement;
        size_t length;
    };
    /// The longest rule that applies at the start of `text` (not empty); without one, the first character as it is, or
    /// U+FFFD for a byte that is none. Views into the map or into `text`; length > 0 bytes of the text are used up.
    Match normalizePrefix(std::string_view text) const;

private:
    std::vector<uint32_t> units_;
    std::string replacements_;
};

}  // namespace hearth::text
