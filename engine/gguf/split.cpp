#include <cstdio>
#include <string>

#include "engine/base/error.h"
#include "engine/gguf/reader.h"

namespace hearth::gguf {
namespace {

/// PREFIX-00002-of-00005.gguf, taken apart.
struct PartName {
    std::string prefix;
    unsigned number = 0, count = 0;   ///< number from 1
};

bool allDigits(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

std::optional<PartName> parsePartName(const std::filesystem::path& path) {
    const std::string name = path.filename().string();
    constexpr std::string_view pattern = "-00001-of-00001.gguf";
    if (name.size() < pattern.size()) return std::nullopt;
    const std::string tail = name.substr(name.size() - pattern.size());
    const std::string number = tail.substr(1, 5), count = tail.substr(10, 5);
    if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || tail.substr(15) != ".gguf") return std::nullopt;
    if (!allDigits(number) || !allDigits(count)) return std::nullopt;
    return PartName{name.substr(0, name.size() - pattern.size()), static_cast<unsigned>(std::stoul(number)),
                    static_cast<unsigned>(std::stoul(count))};
}

std::string partName(const PartName& part, unsigned number) {
    char tail[32];
    std::snprintf(tail, sizeof tail, "-%05u-of-%05u.gguf", number, part.count);
    return part.prefix + tail;
}

std::optional<int64_t> splitKey(const Shard& shard, std::string_view key) {
    const Value* value = shard.value(key);
    if (!value || value->isArray()) return std::nullopt;
    return value->integer();
}

constexpr const char* fetch_all = "Put all parts of the model, with their original names, into one folder";

}  // namespace

std::vector<std::filesystem::path> splitPaths(const std::filesystem::path& path, const Shard& shard) {
    const int64_t count = splitKey(shard, "split.count").value_or(0);
    if (count <= 1) return {path};
    const std::string what = "cannot open " + path.string();
    const auto part = parsePartName(path);
    if (!part) {
        throw Error(what,
                    "it is one of the " + std::to_string(count) +
                        " parts of a split model, but its name does not end like -00001-of-" +
                        "00002.gguf, so the others cannot be found",
                    fetch_all);
    }
    if (part->count != count || part->number < 1 || part->number > part->count) {
        throw Error(what,
                    "its name says part " + std::to_string(part->number) + " of " + std::to_string(part->count) +
                        ", but inside it is one of " + std::to_string(count) + " parts",
                    fetch_all);
    }
    std::vector<std::filesystem::path> paths;
    for (unsigned number = 1; number <= part->count; ++number) {
        paths.push_back(path.parent_path() / partName(*part, number));
        if (!std::filesystem::exists(paths.back())) {
            throw Error(what,
                        "part " + std::to_string(number) + " of " + std::to_string(part->count) +
                            " is missing: there is no " + paths.back().filename().string() + " beside it",
                        fetch_all);
        }
    }
    return paths;
}

void checkSplitPart(const std::filesystem::path& path, const Shard& shard, size_t index, size_t count) {
    const std::string what = "cannot open " + path.string();
    const int64_t own_count = splitKey(shard, "split.count").value_or(0),
                  own_index = splitKey(shard, "split.no").value_or(-1);
    if (own_count != static_cast<int64_t>(count)) {
        throw Error(what,
                    "it says that it belongs to " + std::to_string(own_count) + " parts, not " + std::to_string(count) +
                        " (key \"split.count\")",
                    fetch_all);
    }
    if (own_index != static_cast<int64_t>(index)) {
        throw Error(what,
                    "it says that it is part " + std::to_string(own_index + 1) + ", but its name says part " +
                        std::to_string(index + 1) + " (key \"split.no\")",
                    fetch_all);
    }
}

void checkSameKind(const std::filesystem::path& path, const Shard& first, const Shard& shard) {
    if (first.power_infer == shard.power_infer) return;
    throw Error("cannot open " + path.string(),
                "it is not of the same kind as the first part: one is a PowerInfer file (PWRI), the other is not",
                fetch_all);
}

void checkSplitTotal(const std::filesystem::path& path, const Shard& first, size_t tensors) {
    const auto total = splitKey(first, "split.tensors.count");
    if (!total || *total == static_cast<int64_t>(tensors)) return;
    throw Error("cannot open " + path.string(),
                "its parts hold " + std::to_string(tensors) + " tensors together, but " + std::to_string(*total) +
                    " were announced (key \"split.tensors.count\")",
                "Download all parts of the model again");
}

}  // namespace hearth::gguf
