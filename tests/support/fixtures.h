#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Where tests find expected values: always tests/data of the project, and the larger fixtures folder where it is.
namespace hearth::test {

inline std::filesystem::path dataFolder() { return std::filesystem::path(HEARTH_SOURCE_DIR) / "tests" / "data"; }

/// The fixtures folder (HEARTH_FIXTURES, else ../shared/fixtures beside the project), or an empty path.
inline std::filesystem::path fixturesFolder() {
    const char* named = std::getenv("HEARTH_FIXTURES");
    const std::filesystem::path folder = named != nullptr
                                             ? std::filesystem::path(named)
                                             : std::filesystem::path(HEARTH_SOURCE_DIR) / ".." / "shared" / "fixtures";
    return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

inline nlohmann::json readJson(const std::filesystem::path& path) {
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    return nlohmann::json::parse(in);
}

inline std::vector<float> readFloats(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    std::vector<float> values(static_cast<size_t>(in.tellg()) / sizeof(float));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
    return values;
}

}  // namespace hearth::test
