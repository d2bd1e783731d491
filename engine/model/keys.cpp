#include "engine/model/keys.h"

#include <cmath>

#include "engine/base/error.h"

namespace hearth::model {

void Keys::refuse(std::string_view key, const std::string& why) const {
    throw Error("the model file describes an impossible model", full(key) + " " + why,
                "The file is damaged or was made by a faulty converter; get it again");
}

const gguf::Value* Keys::value(std::string_view key) const { return file_.value(full(key)); }

std::optional<uint32_t> Keys::count(std::string_view key, uint32_t limit) const {
    const gguf::Value* v = value(key);
    if (v == nullptr) return std::nullopt;
    if (v->isArray()) refuse(key, "is a list where one number is expected");
    const int64_t n = v->integer();
    if (n < 0 || n > static_cast<int64_t>(limit))
        refuse(key, "is " + std::to_string(n) + ", outside of 0 to " + std::to_string(limit));
    return static_cast<uint32_t>(n);
}

uint32_t Keys::require(std::string_view key, uint32_t limit) const {
    const auto n = count(key, limit);
    if (!n) refuse(key, "is missing");
    if (*n == 0) refuse(key, "is 0");
    return *n;
}

std::optional<std::vector<uint32_t>> Keys::perLayer(std::string_view key, uint32_t layers, uint32_t limit) const {
    const gguf::Value* v = value(key);
    if (v == nullptr) return std::nullopt;
    if (!v->isArray()) return std::vector<uint32_t>(layers, count(key, limit).value());
    if (v->count() < layers)
        refuse(key, "has " + std::to_string(v->count()) + " values for " + std::to_string(layers) + " layers");
    std::vector<uint32_t> all(layers);
    for (uint32_t i = 0; i < layers; ++i) {
        const int64_t n = v->integer(i);
        if (n < 0 || n > static_cast<int64_t>(limit)) refuse(key, "holds " + std::to_string(n));
        all[i] = static_cast<uint32_t>(n);
    }
    return all;
}

std::optional<double> Keys::number(std::string_view key) const {
    const auto n = file_.number(full(key));
    if (n && !std::isfinite(*n)) refuse(key, "is not a finite number");
    return n;
}

std::optional<bool> Keys::boolean(std::string_view key) const { return file_.boolean(full(key)); }
std::optional<std::string_view> Keys::string(std::string_view key) const { return file_.string(full(key)); }

}  // namespace hearth::model
