#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// Where test cases lie: the project's own, and the larger fixture set beside the checkout, which may be missing.
namespace cases {

/// Properties stand in the order of the file: a schema means its order.
using Json = nlohmann::ordered_json;

inline std::string own(const std::string& path) { return std::string(HEARTH_SOURCE_DIR) + "/tests/data/" + path; }

inline std::string fixture(const std::string& path) {
    const char* root = std::getenv("HEARTH_FIXTURES");
    return (root ? std::string(root) : std::string(HEARTH_SOURCE_DIR) + "/../shared/fixtures") + "/" + path;
}

/// The parsed file; null when there is none.
inline Json read(const std::string& path) {
    std::ifstream file(path);
    return file ? Json::parse(file) : Json();
}

struct Source {
    std::string name;   ///< begins the name of a data row
    Json content;
};

/// The project's own file and the fixture file of the same name, as far as they are there.
inline std::vector<Source> both(const std::string& path) {
    std::vector<Source> result;
    if (Json content = read(own(path)); !content.is_null()) result.push_back({"own", std::move(content)});
    if (Json content = read(fixture(path)); !content.is_null()) result.push_back({"fixture", std::move(content)});
    return result;
}

}  // namespace cases
