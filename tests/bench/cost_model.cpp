// The cost model against the clock, without a graphics card: tokens per second that a plan promises and that decoding takes.
//   bench_cost_model [-t THREADS] [-a SHARE_THAT_FIRES] MODEL.gguf...

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

constexpr uint32_t rounds = 80;

/// Decodes token after token.
class Decoder {
public:
    explicit Decoder(runtime::Model& model) : model_(model), sequence_(model.newSequence()) {
        logits_.resize(1, model.description().vocabulary);
    }
    /// Seconds of the next token.
    double next() {
        const auto token = static_cast<int32_t>((++count_ * 7919) % model_.description().vocabulary);
        const model::Part part{sequence_.get(), {&token, 1}, model::Part::Logits::last};
        const auto start = std::chrono::steady_clock::now();
        model_.forward().run({&part, 1}, logits_.view());
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }

private:
    runtime::Model& model_;
    std::unique_ptr<model::Sequence> sequence_;
    Matrix<float> logits_;
    uint64_t count_ = 0;
};

std::vector<gguf::Type> typesOf(const model::Description& d) {
    std::set<gguf::Type> types;
    for (const gguf::Tensor& t : d.file->tensors())
        if (t.n_dims > 1) types.insert(t.type);
    return {types.begin(), types.end()};
}

/// Measures the processor and decodes, turn by turn, so that other work on the machine slows down both.
void check(const char* path, unsigned threads, double active) {
    const auto model = runtime::Model::load(path, {.ctx = 2 * rounds, .batch = 64, .threads = threads});
    const std::vector<gguf::Type> types = typesOf(model->description());
    std::vector<placement::Activity> activity = placement::assumedActivity(model->description());
    if (active > 0)
        for (placement::Activity& a : activity) a.active = active;
    placement::SpeedProbe probe(model->pool(), std::filesystem::path(path).parent_path());
    Decoder decoder(*model);
    decoder.next();
    double promised = 0, decoded = 0;  // seconds
    for (uint32_t round = 0; round < rounds; ++round) {
        placement::Device cpu = placement::cpuDevice();
        for (const gguf::Type type : types) cpu.type_bytes_per_s[type] = probe.dense(type, 1);
        cpu.read_bytes_per_s = cpu.type_bytes_per_s.begin()->second;
        if (active > 0) cpu.gather = std::min(1.0, probe.gathered(types.back(), 1) / cpu.rate(types.back()));
        cpu.layer_s = probe.layerSeconds();
        const placement::Plan plan = placement::plan(model->description(), activity, {&cpu, 1},
                                                     {.ctx = 2 * rounds, .batch = 64, .depth = round});
        promised += 1 / plan.decode_tps;
        decoded += decoder.next();
    }
    std::printf("%-32s %9.2f %9.2f %+9.1f %%\n", std::filesystem::path(path).filename().c_str(), rounds / promised,
                rounds / decoded, 100 * (decoded / promised - 1));
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** values) {
    unsigned threads = 0;
    double active = 0;
    int first = 1;
    for (; first + 1 < count && values[first][0] == '-'; first += 2) {
        if (std::strcmp(values[first], "-t") == 0)
            threads = static_cast<unsigned>(std::max(0, std::atoi(values[first + 1])));
        if (std::strcmp(values[first], "-a") == 0) active = std::atof(values[first + 1]);
    }
    if (first >= count) {
        std::fprintf(stderr, "usage: bench_cost_model [-t THREADS] [-a SHARE_THAT_FIRES] MODEL.gguf...\n");
        return 2;
    }
    try {
        std::printf("%-32s %9s %9s %11s\n", "tokens/s", "promised", "decoded", "off by");
        for (int i = first; i < count; ++i) check(values[i], threads, active);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
