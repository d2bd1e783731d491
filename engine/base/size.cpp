#include "engine/base/size.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace hearth {
namespace {

/// What one unit is in bytes; nullopt for unknown words. Upper case, no spaces.
std::optional<double> unitBytes(std::string_view unit) {
    if (unit == "B") return 1;
    constexpr std::string_view letters = "KMGT";
    const size_t power = unit.empty() ? std::string_view::npos : letters.find(unit.front());
    if (power == std::string_view::npos) return std::nullopt;
    const std::string_view rest = unit.substr(1);
    if (rest.empty() || rest == "IB") return std::pow(1024.0, static_cast<double>(power + 1));
    if (rest == "B") return std::pow(1000.0, static_cast<double>(power + 1));
    return std::nullopt;
}

}  // namespace

std::optional<uint64_t> parseSize(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
    std::string unit(end, text.data() + text.size());
    if (unit.starts_with(' ')) unit.erase(0, 1);
    std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    double bytes = 0;
    if (unit.empty() && end == text.data() + text.size()) {
        bytes = number >= 0x1p20 ? number : number * 0x1p30;
    } else {
        const auto each = unitBytes(unit);
        if (!each) return std::nullopt;
        bytes = number * *each;
    }
    if (bytes >= 0x1p63) return std::nullopt;
    return static_cast<uint64_t>(std::llround(bytes));
}

std::string formatSize(uint64_t bytes) {
    char text[32];
    const double value = static_cast<double>(bytes);
    if (value < 0.1 * 0x1p30) std::snprintf(text, sizeof text, "%.1f MiB", value / 0x1p20);
    else std::snprintf(text, sizeof text, "%.2f GiB", value / 0x1p30);
    return text;
}

}  // namespace hearth
