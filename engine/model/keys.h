#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gguf/file.h"

namespace hearth::model {

/// The metadata of one architecture: keys are looked up as "<architecture>.<key>". Values of the wrong kind or outside
/// of their range throw Error.
class Keys {
public:
    Keys(const gguf::File& file, std::string_view architecture)
        : file_(file), prefix_(std::string(architecture) + ".") {}

    std::optional<uint32_t> count(std::string_view key, uint32_t limit) const;
    uint32_t count(std::string_view key, uint32_t limit, uint32_t absent) const {
        return count(key, limit).value_or(absent);
    }
    uint32_t require(std::string_view key, uint32_t limit) const;
    /// One value a layer: a scalar holds for all of them.
    std::optional<std::vector<uint32_t>> perLayer(std::string_view key, uint32_t layers, uint32_t limit) const;
    std::optional<double> number(std::string_view key) const;
    double number(std::string_view key, double absent) const { return number(key).value_or(absent); }
    std::optional<bool> boolean(std::string_view key) const;
    std::optional<std::string_view> string(std::string_view key) const;
    const gguf::Value* value(std::string_view key) const;

private:
    std::string full(std::string_view key) const { return prefix_ + std::string(key); }
    [[noreturn]] void refuse(std::string_view key, const std::string& why) const;
    const gguf::File& file_;
    std::string prefix_;
};

}  // namespace hearth::model
