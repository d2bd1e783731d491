#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/base/error.h"

namespace hearth::placement {

/// Calls `work`, which reads values from a JSON document, and turns what the document has wrong into an Error.
template <typename Work>
auto withJsonErrors(const std::filesystem::path& path, Work&& work) {
    try {
        return work();
    } catch (const nlohmann::json::exception& error) {
        throw Error("cannot use " + path.string(), error.what(), "Correct the file");
    }
}

/// A JSON document of a few kilobytes. Throws Error: missing, longer than 16 MiB, no JSON.
inline nlohmann::json readJsonFile(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in || in.tellg() < 0) throw Error("cannot read " + path.string(), "it is missing or not readable");
    if (in.tellg() > std::streamoff{16} << 20) throw Error("cannot use " + path.string(), "it is longer than 16 MiB");
    in.seekg(0);
    return withJsonErrors(path, [&] { return nlohmann::json::parse(in); });
}

}  // namespace hearth::placement
