#include "engine/sampling/string_formats.h"

namespace hearth::sampling::gbnf {
namespace {

// RFC 3339. The 29th of February only where there is one.
const std::string date =
    "([1-9] [0-9]{3} \"-\" ((\"0\" [13578] | \"1\" [02]) \"-\" (\"0\" [1-9] | [12] [0-9] | \"3\" [01])"
    " | (\"0\" [469] | \"11\") \"-\" (\"0\" [1-9] | [12] [0-9] | \"30\")"
    " | \"02-\" (\"0\" [1-9] | \"1\" [0-9] | \"2\" [0-8]))"
    " | ([1-9] [0-9] (\"0\" [48] | [2468] [048] | [13579] [26]) | ([2468] [048] | [13579] [26]) \"00\") \"-02-29\")";
const std::string time =
    "(([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]{1,9})?"
    " (\"Z\" | [-+] ([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9]))";
const std::string hex = "[0-9a-fA-F]";
const std::string byte = "(\"25\" [0-5] | \"2\" [0-4] [0-9] | \"1\" [0-9] [0-9] | [1-9] [0-9] | [0-9])";
const std::string label = "[a-zA-Z0-9] ([a-zA-Z0-9-]{0,30} [a-zA-Z0-9])?";
const std::string host = "(" + label + " (\".\" " + label + "){0,5})";

}  // namespace

std::optional<std::string> stringFormat(std::string_view format) {
    if (format == "date") return date;
    if (format == "time") return time;
    if (format == "date-time") return date + " \"T\" " + time;
    if (format == "uuid")
        return hex + "{8} \"-\" " + hex + "{4} \"-\" " + hex + "{4} \"-\" " + hex + "{4} \"-\" " + hex + "{12}";
    if (format == "ipv4") return byte + " \".\" " + byte + " \".\" " + byte + " \".\" " + byte;
    if (format == "ipv6") return "(" + hex + "{1,4} \":\"){7} " + hex + "{1,4}";
    if (format == "hostname") return host;
    if (format == "email") return "[a-zA-Z0-9_+-]+ (\".\" [a-zA-Z0-9_+-]+)* \"@\" " + host;
    if (format == "uri")
        return "(\"http\" \"s\"? | \"ftp\") \"://\" " + host +
               " (\":\" [1-9] [0-9]{0,3})? (\"/\" [a-zA-Z0-9._~-]*)*"
               " (\"?\" [a-zA-Z0-9._~=&-]*)? (\"#\" [a-zA-Z0-9._~-]*)?";
    if (format == "password") return std::string();
    return std::nullopt;
}

}  // namespace hearth::sampling::gbnf
