// The cost model against the clock, without a graphics card: tokens per second that a plan promises and that decoding takes.
//   bench_cost_model [-t THREADS] MODEL.gguf...

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <set>
#include <vector>

#include "engine/placement/measure.h"
#include "engine/runtime/model.h"

namespace {

using namespace hearth;

constexpr uint32_t depth = 64, tokens = 24, rounds = 3;

/// Decodes after `depth` tokens, in groups of four.
std::vector<double> decode(runtime::Model& model) {
    const auto vocabulary = static_cast<int32_t>(model.description().vocabulary);
    Matrix<float> logits;
    logits.resize(1, model.description().vocabulary);
    const auto sequence = model.newSequence();
    std::vector<int32_t> ids(depth + tokens);
    for (size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<int32_t>((i * 7919 + 13) % static_cast<size_t>(vocabulary));
    const auto run = [&](size_t first, size_t n) {
        const model::Part part{sequence.get(), std::span(ids).subspan(first, n), model::Part::Logits::last};
        model.forward().run({&part, 1}, logits.view());
    };
    run(0, depth);
    std::vector<double> seconds;
    for (size_t i = 0; i < tokens; i += 4) {
        const auto start = std::chrono::steady_clock::now();
        for (size_t j = 0; j < 4; ++j) run(depth + i + j, 1);
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 4);
    }
    return seconds;
}

std::vector<gguf::Type> typesOf(const model::Description& d) {
    std::set<gguf::Type> types;
    for (const gguf::Tensor& t : d.file->tensors())
        if (t.n_dims > 1) types.insert(t.type);
    return {types.begin(), types.end()};
}

void check(const char* path, unsigned threads) {
    const auto model = runtime::Model::load(path, {.ctx = 256, .batch = 64, .threads = threads});
    std::vector<double> measured, promised;
    for (uint32_t round = 0; round < rounds; ++round) {
        placement::Device cpu = placement::cpuDevice();
        placement::CpuSpeeds speeds(model->pool(), std::filesystem::temp_directory_path() / "hearth_cost_model");
        speeds.forget();
        speeds.describe(cpu, typesOf(model->description()));
        const placement::Plan plan = placement::plan(model->description(), nullptr, {&cpu, 1},
                                                     {.ctx = 256, .batch = 64, .depth = depth + tokens / 2});
        promised.push_back(plan.decode_tps);
        for (const double seconds : decode(*model)) measured.push_back(seconds);
    }
    std::ranges::sort(measured);
    std::ranges::sort(promised);
    const double best = 1 / measured.front(), median = 1 / measured[measured.size() / 2];
    std::printf("%-40s %9.2f %9.2f %9.2f %7.1f %% %9.2f\n", std::filesystem::path(path).filename().c_str(),
                promised.back(), promised[promised.size() / 2], best, 100 * (promised.back() / best - 1), median);
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** values) {
    unsigned threads = 0;
    int first = 1;
    if (count > 2 && std::strcmp(values[1], "-t") == 0) {
        threads = static_cast<unsigned>(std::max(0, std::atoi(values[2])));
        first = 3;
    }
    if (first >= count) {
        std::fprintf(stderr, "usage: bench_cost_model [-t THREADS] MODEL.gguf...\n");
        return 2;
    }
    try {
        std::printf("%-40s %9s %9s %9s %9s %9s\n", "tokens/s", "promised", "(median)", "decoded", "off by", "(median)");
        for (int i = first; i < count; ++i) check(values[i], threads);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
