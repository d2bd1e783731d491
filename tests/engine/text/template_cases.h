#pragma once

#include <QDebug>
#include <QString>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/chat_template.h"

/// Shared by the tests of the template language: where cases lie and how they are read.
namespace hearth::text::test {

inline std::filesystem::path sourceDir() { return HEARTH_SOURCE_DIR; }

/// The big fixtures beside the checkout; may be absent.
inline std::filesystem::path fixtures() {
    const char* dir = std::getenv("HEARTH_FIXTURES");
    return dir ? std::filesystem::path(dir) : sourceDir() / "../shared/fixtures";
}

inline std::string readFile(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline nlohmann::ordered_json readJson(const std::filesystem::path& path) {
    return nlohmann::ordered_json::parse(readFile(path));
}

/// 2026-11-30 09:05:00, a Monday: the moment at which all cases were rendered.
inline std::tm fixtureTime() {
    std::tm t{};
    t.tm_year = 126;
    t.tm_mon = 10;
    t.tm_mday = 30;
    t.tm_hour = 9;
    t.tm_min = 5;
    t.tm_wday = 1;
    t.tm_yday = 333;
    return t;
}

/// The variables of a case of chat-templates/NAME.json.
inline nlohmann::ordered_json contextOf(const nlohmann::ordered_json& c) {
    nlohmann::ordered_json context;
    context["messages"] = c.at("messages");
    context["tools"] = c.value("tools", nlohmann::ordered_json());
    context["documents"] = nullptr;
    context["add_generation_prompt"] = c.value("add_generation_prompt", false);
    context["bos_token"] = c.value("bos_token", "");
    context["eos_token"] = c.value("eos_token", "");
    if (c.contains("extra") && c["extra"].is_object())
        for (const auto& [key, value] : c["extra"].items()) context[key] = value;
    return context;
}

/// Where two texts part, for messages.
inline std::string difference(const std::string& actual, const std::string& expected) {
    size_t at = 0;
    while (at < actual.size() && at < expected.size() && actual[at] == expected[at]) ++at;
    const size_t from = at < 30 ? 0 : at - 30;
    return "at byte " + std::to_string(at) + ": got \"" + actual.substr(from, 80) + "\", expected \"" +
           expected.substr(from, 80) + "\"";
}

inline std::string joined(const Rendered& rendered) {
    std::string out;
    for (const Segment& segment : rendered.segments) out += segment.text;
    return out;
}

/// Failures by name; the first few are printed.
struct Failures {
    void add(const std::string& name, const std::string& why) {
        if (++count <= 20) qWarning("%s: %s", name.c_str(), why.c_str());
    }
    int count = 0, cases = 0;
};

}  // namespace hearth::text::test
