#include "engine/sampling/number_range.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace hearth::sampling::gbnf {
namespace {

/// More digits than this nobody asks for, and a model that has lost its way would write them for ever.
constexpr size_t max_digits = 18;
const std::string any_fraction = "(\".\" [0-9]{1,16})?";

std::string either(const std::vector<std::string>& ways) {
    std::string result;
    for (const std::string& way : ways)
        if (!way.empty()) result += (result.empty() ? "" : " | ") + way;
    return result.empty() ? "" : '(' + result + ')';
}

std::string digit(char first, char last) {
    if (first > last) return "";
    if (first == last) return std::string("\"") + first + '"';
    return std::string("[") + first + '-' + last + ']';
}

std::string digits(size_t n) { return n == 0 ? "\"\"" : "[0-9]{" + std::to_string(n) + '}'; }

std::string sequence(const std::string& first, const std::string& rest) {
    return first.empty() || rest.empty() ? "" : first + ' ' + rest;
}

/// Digit strings of one length between two of that length, both included. May begin with zeros.
std::string sameLength(const std::string& low, const std::string& high) {
    if (low > high) return "";
    if (low.empty()) return "\"\"";
    const std::string low_rest = low.substr(1), high_rest = high.substr(1);
    if (low[0] == high[0]) return sequence(digit(low[0], low[0]), sameLength(low_rest, high_rest));
    const size_t n = low_rest.size();
    const bool low_whole = low_rest == std::string(n, '0'), high_whole = high_rest == std::string(n, '9');
    return either(
        {low_whole ? "" : sequence(digit(low[0], low[0]), sameLength(low_rest, std::string(n, '9'))),
         sequence(digit(static_cast<char>(low[0] + !low_whole), static_cast<char>(high[0] - !high_whole)), digits(n)),
         high_whole ? "" : sequence(digit(high[0], high[0]), sameLength(std::string(n, '0'), high_rest))});
}

bool less(const std::string& a, const std::string& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

std::string next(std::string number) {
    for (size_t i = number.size(); i-- > 0;) {
        if (number[i] != '9') {
            ++number[i];
            return number;
        }
        number[i] = '0';
    }
    return '1' + number;
}

std::string previous(std::string number) {   // number > 0
    for (size_t i = number.size(); i-- > 0;) {
        if (number[i] != '0') {
            --number[i];
            break;
        }
        number[i] = '9';
    }
    return number.size() > 1 && number[0] == '0' ? number.substr(1) : number;
}

/// Whole numbers low … high, without leading zeros; no `high` = up to max_digits digits or those of `low` and one more.
std::string wholes(const std::string& low, const std::optional<std::string>& high) {
    const size_t longest = high ? high->size() : std::max(max_digits, low.size() + 1);
    std::vector<std::string> ways;
    size_t n = low.size();
    if (!(n == longest && high)) {
        // Lengths between the two ends are free; take the end pieces out when they are not whole.
        const bool low_whole = low == "0" || low == '1' + std::string(n - 1, '0');
        if (!low_whole) ways.push_back(sameLength(low, std::string(n, '9')));
        if (low == "0") ways.push_back(longest >= 1 && (!high || high->size() > 1) ? "\"0\"" : "");
        const size_t from = low_whole ? n : n + 1;
        const bool high_whole = !high || *high == std::string(longest, '9');
        const size_t to = high_whole ? longest : longest - 1;
        if (from <= to) ways.push_back("[1-9] [0-9]{" + std::to_string(from - 1) + ',' + std::to_string(to - 1) + '}');
        if (!high_whole) ways.push_back(sameLength('1' + std::string(longest - 1, '0'), *high));
    } else {
        ways.push_back(sameLength(low, *high));
    }
    return either(ways);
}

// Fractions: digit strings behind the point, compared as if followed by zeros for ever.

/// What follows so that the fraction is ≥ (open: >) `least`.
std::string fractionFrom(const std::string& least, bool open) {
    if (least.empty()) return open ? "\"0\"{0,15} [1-9] [0-9]{0,15}" : "[0-9]{0,16}";
    const std::string rest = fractionFrom(least.substr(1), open);
    return either({sequence(digit(static_cast<char>(least[0] + 1), '9'), "[0-9]{0,15}"),
                   sequence(digit(least[0], least[0]), rest)});
}

/// What follows so that the fraction is ≤ (open: <) `most`; nothing may follow unless open and `most` is 0.
std::string fractionTo(const std::string& most, bool open) {
    if (most.empty()) return open ? "" : "\"0\"{0,16}";
    const std::string rest = fractionTo(most.substr(1), open);
    return either({sequence(digit('0', static_cast<char>(most[0] - 1)), "[0-9]{0,15}"),
                   sequence(digit(most[0], most[0]), rest), "\"\""});
}

/// Between two fractions of the same number of digits.
std::string fractionBetween(const std::string& least, bool open_low, const std::string& most, bool open_high) {
    if (least > most) return "";
    if (least.empty()) return open_low || open_high ? "" : "\"0\"{0,16}";
    const std::string low = least.substr(1), high = most.substr(1);
    if (least[0] == most[0])
        return sequence(digit(least[0], least[0]), fractionBetween(low, open_low, high, open_high));
    return either({sequence(digit(least[0], least[0]), fractionFrom(low, open_low)),
                   sequence(digit(static_cast<char>(least[0] + 1), static_cast<char>(most[0] - 1)), "[0-9]{0,15}"),
                   sequence(digit(most[0], most[0]), fractionTo(high, open_high))});
}

/// `fraction` must hold at least one digit.
std::string withPoint(const std::string& fraction) { return fraction.empty() ? "" : "\".\" " + fraction; }

bool allZero(const std::string& fraction) { return fraction.find_first_not_of('0') == std::string::npos; }

/// Numbers ≥ 0 between two bounds ≥ 0, signs ignored.
std::string magnitudes(const Bound& low, const std::optional<Bound>& high) {
    std::vector<std::string> ways;
    if (!high) {
        ways.push_back(sequence(wholes(next(low.digits), std::nullopt), any_fraction));
    } else if (less(low.digits, high->digits)) {
        if (less(next(low.digits), high->digits))
            ways.push_back(sequence(wholes(next(low.digits), previous(high->digits)), any_fraction));
        const std::string whole = '"' + high->digits + '"';
        if (!(high->open && high->fraction.empty())) {
            ways.push_back(whole);
            const std::string first =
                high->fraction.empty()
                    ? "\"0\"{1,16}"
                    : either({sequence(digit('0', static_cast<char>(high->fraction[0] - 1)), "[0-9]{0,15}"),
                              sequence(digit(high->fraction[0], high->fraction[0]),
                                       fractionTo(high->fraction.substr(1), high->open))});
            ways.push_back(sequence(whole, withPoint(first)));
        }
    } else if (less(high->digits, low.digits)) {
        return "";
    }
    const std::string whole = '"' + low.digits + '"';
    if (!high || less(low.digits, high->digits)) {
        if (low.fraction.empty()) {
            if (!low.open) ways.push_back(sequence(whole, any_fraction));
            else ways.push_back(sequence(whole, withPoint(fractionFrom("", true))));
        } else {
            ways.push_back(sequence(whole, withPoint(fractionFrom(low.fraction, low.open))));
        }
    } else {
        std::string f = low.fraction, g = high->fraction;
        const size_t n = std::max<size_t>({f.size(), g.size(), 1});
        f.resize(n, '0');
        g.resize(n, '0');
        if (allZero(f) && !low.open && (!allZero(g) || !high->open)) ways.push_back(whole);
        ways.push_back(sequence(whole, withPoint(fractionBetween(f, low.open, g, high->open))));
    }
    return either(ways);
}

Bound zero(bool open) { return {"0", "", false, open}; }

std::optional<Bound> mirrored(std::optional<Bound> bound) {
    if (bound) bound->negative = false;
    return bound;
}

bool isZero(const Bound& b) { return b.digits == "0" && b.fraction.empty(); }

/// Whole part that an integer at or above (below) a magnitude has at least (at most); nullopt when none is left.
std::string atLeast(const Bound& b) { return b.fraction.empty() && !b.open ? b.digits : next(b.digits); }
std::optional<std::string> atMost(const Bound& b) {
    if (!b.fraction.empty() || !b.open) return b.digits;
    if (b.digits == "0") return std::nullopt;
    return previous(b.digits);
}

template <typename Magnitudes>
std::string signedRange(const std::optional<Bound>& low, const std::optional<Bound>& high, Magnitudes magnitudes_of) {
    std::vector<std::string> ways;
    const bool low_negative = !low || (low->negative && !isZero(*low));
    const bool high_negative = high && high->negative && !isZero(*high);
    if (low_negative)
        ways.push_back(sequence("\"-\"", magnitudes_of(high_negative ? *mirrored(high) : zero(true), mirrored(low))));
    if (!high_negative) ways.push_back(magnitudes_of(low_negative ? zero(false) : *mirrored(low), high));
    return either(ways);
}

}  // namespace

std::optional<Bound> Bound::parse(const std::string& number) {
    Bound bound;
    size_t at = 0;
    if (at < number.size() && number[at] == '-') bound.negative = true, ++at;
    std::string all;
    long point = -1, exponent = 0;
    for (; at < number.size(); ++at) {
        if (number[at] >= '0' && number[at] <= '9') all += number[at];
        else if (number[at] == '.' && point < 0) point = static_cast<long>(all.size());
        else if (number[at] == 'e' || number[at] == 'E') {
            exponent = std::strtol(number.c_str() + at + 1, nullptr, 10);
            break;
        } else return std::nullopt;
    }
    if (all.empty() || all.size() > 40 || exponent > 40 || exponent < -40) return std::nullopt;
    point = (point < 0 ? static_cast<long>(all.size()) : point) + exponent;
    if (point < 0) all.insert(0, static_cast<size_t>(-point), '0'), point = 0;
    if (point > static_cast<long>(all.size())) all.append(static_cast<size_t>(point) - all.size(), '0');
    bound.digits = all.substr(0, static_cast<size_t>(point));
    bound.fraction = all.substr(static_cast<size_t>(point));
    bound.digits.erase(0, std::min(bound.digits.find_first_not_of('0'), bound.digits.size()));
    if (bound.digits.empty()) bound.digits = "0";
    while (!bound.fraction.empty() && bound.fraction.back() == '0') bound.fraction.pop_back();
    if (bound.digits.size() + bound.fraction.size() > 40) return std::nullopt;
    return bound;
}

std::string integerRange(const std::optional<Bound>& low, const std::optional<Bound>& high) {
    return signedRange(low, high, [](const Bound& least, const std::optional<Bound>& most) -> std::string {
        const std::string first = atLeast(least);
        if (!most) return wholes(first, std::nullopt);
        const auto last = atMost(*most);
        if (!last || less(*last, first)) return "";
        return wholes(first, last);
    });
}

std::string numberRange(const std::optional<Bound>& low, const std::optional<Bound>& high) {
    return signedRange(low, high, magnitudes);
}

}  // namespace hearth::sampling::gbnf
