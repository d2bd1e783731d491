#include "engine/text/jinja/library.h"

namespace hearth::text::jinja {

namespace {

constexpr const char* kDays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr const char* kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                   "July",    "August",   "September", "October", "November", "December"};

/// `flag`: '-' no padding, '_' spaces, '0' zeros, or 0 for the directive's own.
std::string number(int value, size_t width, char flag, char own = '0') {
    std::string digits = std::to_string(value);
    const char fill = flag == '_' ? ' ' : flag == '0' ? '0' : own;
    if (flag != '-' && digits.size() < width) digits.insert(0, width - digits.size(), fill);
    return digits;
}

/// Week of the ISO year that `t` lies in, and that year.
std::pair<int, int> isoWeek(const std::tm& t) {
    const int weekday = (t.tm_wday + 6) % 7;  // Monday = 0
    int year = t.tm_year + 1900, week = (t.tm_yday - weekday + 10) / 7;
    const auto weeksIn = [&](int y) {
        const auto newYear = [](int z) { return (z + z / 4 - z / 100 + z / 400) % 7; };  // weekday of 31 December of z
        return newYear(y) == 4 || newYear(y - 1) == 3 ? 53 : 52;
    };
    if (week < 1) return {weeksIn(year - 1), year - 1};
    if (week > weeksIn(year)) return {1, year + 1};
    return {week, year};
}

std::string directive(char d, char flag, const std::tm& t) {
    const auto day = static_cast<size_t>(t.tm_wday % 7), month = static_cast<size_t>(t.tm_mon % 12);
    const int hour12 = t.tm_hour % 12 == 0 ? 12 : t.tm_hour % 12, year = t.tm_year + 1900;
    switch (d) {
        case 'a': return std::string(kDays[day]).substr(0, 3);
        case 'A': return kDays[day];
        case 'b':
        case 'h': return std::string(kMonths[month]).substr(0, 3);
        case 'B': return kMonths[month];
        case 'C': return number(year / 100, 2, flag);
        case 'd': return number(t.tm_mday, 2, flag);
        case 'e': return number(t.tm_mday, 2, flag, ' ');
        case 'f': return "000000";
        case 'G': return number(isoWeek(t).second, 4, flag);
        case 'H': return number(t.tm_hour, 2, flag);
        case 'I': return number(hour12, 2, flag);
        case 'j': return number(t.tm_yday + 1, 3, flag);
        case 'k': return number(t.tm_hour, 2, flag, ' ');
        case 'l': return number(hour12, 2, flag, ' ');
        case 'm': return number(t.tm_mon + 1, 2, flag);
        case 'M': return number(t.tm_min, 2, flag);
        case 'n': return "\n";
        case 'p': return t.tm_hour < 12 ? "AM" : "PM";
        case 'P': return t.tm_hour < 12 ? "am" : "pm";
        case 'S': return number(t.tm_sec, 2, flag);
        case 't': return "\t";
        case 'u': return number(t.tm_wday == 0 ? 7 : t.tm_wday, 1, flag);
        case 'U': return number((t.tm_yday + 7 - t.tm_wday) / 7, 2, flag);
        case 'V': return number(isoWeek(t).first, 2, flag);
        case 'w': return number(t.tm_wday, 1, flag);
        case 'W': return number((t.tm_yday + 7 - (t.tm_wday + 6) % 7) / 7, 2, flag);
        case 'y': return number(year % 100, 2, flag);
        case 'Y': return number(year, 4, flag);
        case 'z':
        case 'Z': return "";
        case '%': return "%";
        case 'c': return formatTime("%a %b %e %H:%M:%S %Y", t);
        case 'D':
        case 'x': return formatTime("%m/%d/%y", t);
        case 'F': return formatTime("%Y-%m-%d", t);
        case 'r': return formatTime("%I:%M:%S %p", t);
        case 'R': return formatTime("%H:%M", t);
        case 'T':
        case 'X': return formatTime("%H:%M:%S", t);
        default: return std::string("%") + d;
    }
}

}  // namespace

std::string formatTime(std::string_view format, const std::tm& time) {
    std::string out;
    for (size_t at = 0; at < format.size(); ++at) {
        if (format[at] != '%' || at + 1 >= format.size()) {
            out += format[at];
            continue;
        }
        char flag = 0, d = format[++at];
        if ((d == '-' || d == '_' || d == '0') && at + 1 < format.size()) {
            flag = d;
            d = format[++at];
        }
        out += directive(d, flag, time);
        checkStringSize(out.size());
    }
    return out;
}

}  // namespace hearth::text::jinja
