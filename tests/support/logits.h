#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "engine/model/forward.h"
#include "tests/support/fixtures.h"

/// Models with the logits that they must give, and ways to compare.
namespace hearth::test {

struct Fixture {
    nlohmann::json about;
    std::vector<int32_t> tokens;
    std::vector<float> want;
    std::shared_ptr<const model::Description> description;
    sparse::Mode mode;
    std::shared_ptr<const model::Weights> weights;

    explicit Fixture(const std::filesystem::path& json, sparse::Mode sparse_mode = sparse::Mode::automatic)
        : about(readJson(json)), mode(sparse_mode) {
        tokens = about["tokens"].get<std::vector<int32_t>>();
        want = readFloats(json.parent_path() / about["logits_file"].get<std::string>());
        description = std::make_shared<model::Description>(
            model::Description::read(gguf::File::open(std::filesystem::path(json).replace_extension(".gguf"))));
        weights = std::make_shared<model::Weights>(*description, mode);
    }
    uint32_t context() const {
        return std::max<uint32_t>(about.value("n_ctx", 128u), static_cast<uint32_t>(tokens.size()));
    }
};

/// Logits of all positions, at most `batch` tokens a pass.
inline std::vector<float> logitsOf(const Fixture& f, ThreadPool& pool, uint32_t batch, cpu::KvType kv) {
    model::Forward forward(*f.description, *f.weights, pool, f.context(), batch, f.mode);
    model::Sequence sequence(*f.description, {.context = f.context(), .batch = batch, .kv = kv});
    std::vector<float> all(f.tokens.size() * f.description->vocabulary);
    for (size_t at = 0; at < f.tokens.size(); at += batch) {
        const size_t n = std::min<size_t>(batch, f.tokens.size() - at);
        const model::Part part{&sequence, std::span(f.tokens).subspan(at, n), model::Part::Logits::all};
        forward.run({&part, 1}, {all.data() + at * f.description->vocabulary, n, f.description->vocabulary});
    }
    return all;
}

inline double nmse(std::span<const float> got, std::span<const float> want) {
    double error = 0, size = 0;
    for (size_t i = 0; i < want.size(); ++i) {
        error += (double{got[i]} - want[i]) * (double{got[i]} - want[i]);
        size += double{want[i]} * want[i];
    }
    return error / size;
}

/// Positions whose best token differs.
inline size_t otherTop(std::span<const float> got, std::span<const float> want, size_t vocabulary) {
    size_t other = 0;
    for (size_t at = 0; at < want.size(); at += vocabulary) {
        const auto best = [&](std::span<const float> all) {
            return std::ranges::max_element(all.subspan(at, vocabulary)) - all.begin();
        };
        other += best(got) != best(want);
    }
    return other;
}

}  // namespace hearth::test
