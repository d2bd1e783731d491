#include "engine/text/unigram_normalizer.h"

#include <algorithm>
#include <optional>

#include "engine/base/error.h"
#include "engine/text/unicode.h"

namespace hearth::text {

namespace {

/// Rules are some characters long; a broken array must not be walked for longer.
constexpr size_t kLongestRule = 256;

uint32_t readU32(std::string_view bytes, size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
    return value;
}

// The fields of a unit of the double array.
bool hasLeaf(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t valueOf(uint32_t unit) { return unit & 0x7fffffffu; }
uint32_t labelOf(uint32_t unit) { return unit & 0x800000ffu; }
uint32_t offsetOf(uint32_t unit) { return (unit >> 10) << ((unit & 0x200u) >> 6); }

}  // namespace

Charsmap::Charsmap(std::string_view blob) {
    if (blob.empty()) return;
    const uint32_t bytes = blob.size() >= 4 ? readU32(blob, 0) : 0;
    if (blob.size() < 4 || bytes % 4 != 0 || bytes > blob.size() - 4) {
        throw Error("cannot read the vocabulary", "its normalisation rules are damaged", "download the file again");
    }
    units_.reserve(bytes / 4);
    for (size_t at = 4; at < 4 + size_t{bytes}; at += 4) units_.push_back(readU32(blob, at));
    replacements_ = blob.substr(4 + size_t{bytes});
}

Charsmap::Match Charsmap::normalizePrefix(std::string_view text) const {
    std::optional<uint32_t> found;
    size_t length = 0;
    uint32_t at = units_.empty() ? 0 : offsetOf(units_[0]);
    for (size_t i = 0; i < std::min(text.size(), kLongestRule) && !units_.empty(); ++i) {
        const uint32_t label = static_cast<unsigned char>(text[i]);
        at ^= label;
        if (at >= units_.size() || labelOf(units_[at]) != label) break;
        const uint32_t unit = units_[at];
        at ^= offsetOf(unit);
        if (!hasLeaf(unit)) continue;
        if (at >= units_.size()) break;
        found = valueOf(units_[at]);
        length = i + 1;
    }
    if (found && *found < replacements_.size()) {
        const std::string_view rest = std::string_view(replacements_).substr(*found);
        return {rest.substr(0, rest.find('\0')), length};
    }
    const size_t n = sequenceLength(text);
    return n == 0 ? Match{kReplacement, 1} : Match{text.substr(0, n), n};
}

}  // namespace hearth::text
