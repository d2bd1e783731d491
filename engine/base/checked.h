#pragma once

#include <cstdint>
#include <limits>
#include <optional>

/// Arithmetic on sizes that come from untrusted files: a result that does not fit in 64 bits is std::nullopt.
namespace hearth {

constexpr std::optional<uint64_t> checkedAdd(uint64_t a, uint64_t b) {
    if (a > std::numeric_limits<uint64_t>::max() - b) return std::nullopt;
    return a + b;
}

constexpr std::optional<uint64_t> checkedMul(uint64_t a, uint64_t b) {
    if (b != 0 && a > std::numeric_limits<uint64_t>::max() / b) return std::nullopt;
    return a * b;
}

/// `value` rounded up to a multiple of `alignment` (> 0).
constexpr std::optional<uint64_t> checkedAlign(uint64_t value, uint64_t alignment) {
    const uint64_t rest = value % alignment;
    return rest == 0 ? std::optional(value) : checkedAdd(value, alignment - rest);
}

}  // namespace hearth
