#include "engine/sparse/profile.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"

namespace hearth::sparse {

namespace {

const SidecarKind kKind{"profile", 1};
constexpr size_t kMostLayers = 1024;

std::string tensorName(size_t layer, const char* what) { return "blk." + std::to_string(layer) + "." + what; }

/// Numbers of a tensor of 64-bit integers, none below zero; false when it is something else.
bool read(const gguf::File& file, const std::string& name, std::vector<uint64_t>& values) {
    const gguf::Tensor* t = file.find(name);
    if (t == nullptr) return true;
    if (t->type != gguf::Type::I64 || t->n_dims != 1) return false;
    values.resize(t->ne[0]);
    std::memcpy(values.data(), t->data, t->bytes);
    return std::ranges::all_of(values, [](uint64_t v) { return v <= uint64_t{1} << 62; });
}

bool sameSize(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    return a.empty() || b.empty() || a.size() == b.size();
}

void addTo(std::vector<uint64_t>& sum, const std::vector<uint64_t>& more) {
    if (sum.size() < more.size()) sum.resize(more.size());
    for (size_t j = 0; j < more.size(); ++j) sum[j] += more[j];
}

}  // namespace

bool Profile::empty() const {
    return std::ranges::all_of(layers_, [](const Layer& l) { return l.fired.empty() && l.chosen.empty(); });
}

void Profile::count(Layer& layer, size_t first, std::span<const float> values) {
    if (layer.fired.size() < first + values.size()) layer.fired.resize(first + values.size());
    uint64_t* fired = layer.fired.data() + first;
    for (size_t j = 0; j < values.size(); ++j) fired[j] += values[j] != 0;
}

void Profile::count(Layer& layer, size_t first, std::span<const float> values, std::span<const uint32_t> list) {
    if (layer.fired.size() < first + values.size()) layer.fired.resize(first + values.size());
    for (const uint32_t j : list) layer.fired[first + j] += values[j] != 0;
}

bool Profile::merge(const Profile& other) {
    bool all = true;
    if (layers_.size() < other.layers_.size()) layers_.resize(other.layers_.size());
    for (size_t i = 0; i < other.layers_.size(); ++i) {
        Layer& mine = layers_[i];
        const Layer& more = other.layers_[i];
        if (mine.fired.empty() && mine.chosen.empty()) {
            mine = more;
        } else if (mine.rates != more.rates || !sameSize(mine.fired, more.fired) ||
                   !sameSize(mine.chosen, more.chosen)) {
            all = false;
        } else {
            addTo(mine.fired, more.fired);
            addTo(mine.chosen, more.chosen);
            mine.tokens += more.tokens;
        }
    }
    return all;
}

std::optional<Profile> Profile::open(const std::string& identity, const Sidecars& sidecars, std::string* why_not) {
    const auto file = sidecars.open(identity, kKind, why_not);
    if (!file) return {};
    const auto damaged = [&]() -> std::optional<Profile> {
        if (why_not != nullptr) *why_not = "its counts are not what they should be";
        sidecars.remove(identity, kKind);
        return {};
    };
    std::vector<uint64_t> tokens, rates;
    if (!read(*file, "tokens", tokens) || !read(*file, "rates", rates) || tokens.empty() ||
        tokens.size() > kMostLayers || rates.size() != tokens.size())
        return damaged();
    Profile profile(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
        Layer& layer = profile.layers_[i];
        layer.tokens = tokens[i];
        layer.rates = rates[i] != 0;
        if (!read(*file, tensorName(i, "fired"), layer.fired) || !read(*file, tensorName(i, "chosen"), layer.chosen))
            return damaged();
        if (layer.rates && std::ranges::any_of(layer.fired, [&](uint64_t n) { return n > layer.tokens; }))
            return damaged();
    }
    return profile;
}

void Profile::save(const std::string& identity, const Sidecars& sidecars) const {
    gguf::Writer writer;
    std::vector<uint64_t> tokens, rates;
    for (const Layer& layer : layers_) {
        tokens.push_back(layer.tokens);
        rates.push_back(layer.rates);
    }
    const auto add = [&](const std::string& name, const std::vector<uint64_t>& values) {
        if (values.empty()) return;
        const uint64_t ne[] = {values.size()};
        writer.addTensor(name, gguf::Type::I64, ne, std::as_bytes(std::span(values)));
    };
    add("tokens", tokens);
    add("rates", rates);
    for (size_t i = 0; i < layers_.size(); ++i) {
        add(tensorName(i, "fired"), layers_[i].fired);
        add(tensorName(i, "chosen"), layers_[i].chosen);
    }
    sidecars.write(identity, kKind, writer);
}

void Profile::remove(const std::string& identity, const Sidecars& sidecars) { sidecars.remove(identity, kKind); }

bool Profile::fits(std::span<const uint64_t> neurons) const {
    if (layers_.size() != neurons.size()) return false;
    for (size_t i = 0; i < neurons.size(); ++i)
        if (!layers_[i].fired.empty() && layers_[i].fired.size() != neurons[i]) return false;
    return true;
}

}  // namespace hearth::sparse
