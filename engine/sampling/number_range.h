#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hearth::sampling::gbnf {

/// One end of a range of numbers, in decimal.
struct Bound {
    std::string digits;     ///< of the whole part of the absolute value, without leading zeros ("0" for none)
    std::string fraction;   ///< digits behind the point, without trailing zeros
    bool negative = false;
    bool open = false;      ///< the bound itself does not belong to the range

    /// nullopt for a text that is no JSON number or has more than 40 digits written out.
    static std::optional<Bound> parse(const std::string& number);
};

/// GBNF for all integers (plain digits, no exponent) between the bounds; empty when there is none.
std::string integerRange(const std::optional<Bound>& low, const std::optional<Bound>& high);
/// The same for numbers with or without a fraction (at most 16 digits more than the bound has).
std::string numberRange(const std::optional<Bound>& low, const std::optional<Bound>& high);

}  // namespace hearth::sampling::gbnf
