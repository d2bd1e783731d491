#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/terminal.h"
#include "engine/base/size.h"
#include "engine/cpu/bandwidth.h"
#include "engine/cpu/isa.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    uint32_t prompt = 128, generate = 32;
    bool json = false, operations = false;
};

/// Tokens spread over the vocabulary, past the special ones at its beginning: the same that the comparison with other
/// engines uses.
std::vector<int32_t> benchTokens(uint32_t count, uint32_t vocabulary) {
    std::vector<int32_t> ids(count);
    for (uint64_t i = 0; i < count; ++i)
        ids[i] = static_cast<int32_t>(vocabulary > 1000 ? (i * 7919 + 13) % (vocabulary - 300) + 259 : i % vocabulary);
    return ids;
}

/// Computes tokens on a sequence, the last one's logits included, and returns the seconds it took.
double seconds(runtime::Model& model, model::Sequence& sequence, std::span<const int32_t> tokens,
               Matrix<float>& logits) {
    const auto begin = std::chrono::steady_clock::now();
    for (size_t at = 0; at < tokens.size();) {
        const size_t n = std::min<size_t>(model.forward().maxBatch(), tokens.size() - at);
        const bool last = at + n == tokens.size();
        const model::Part part{&sequence, tokens.subspan(at, n),
                               last ? model::Part::Logits::last : model::Part::Logits::none};
        logits.resize(last ? 1 : 0, model.description().vocabulary);
        model.forward().run({&part, 1}, logits.view());
        at += n;
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// What each operation took and read per token, the most expensive first.
nlohmann::ordered_json operationsOf(const model::Measurements& measurements, uint32_t tokens) {
    std::vector<model::OperationTime> all = measurements.operations();
    std::ranges::sort(all, std::greater(), &model::OperationTime::seconds);
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const model::OperationTime& o : all)
        list.push_back({{"name", o.name},
                        {"calls", o.calls},
                        {"seconds_per_token", o.seconds / tokens},
                        {"bytes_per_token", static_cast<double>(o.bytes) / tokens},
                        {"bytes_per_second", static_cast<double>(o.bytes) / o.seconds}});
    return list;
}

struct Decoded {
    double total, median;   ///< seconds
};

Decoded decode(runtime::Model& model, model::Sequence& sequence, std::span<const int32_t> ids, uint32_t count,
               Matrix<float>& logits) {
    std::vector<double> times(count);
    for (uint32_t i = 0; i < count; ++i) times[i] = seconds(model, sequence, ids.subspan(i % ids.size(), 1), logits);
    const double total = std::accumulate(times.begin(), times.end(), 0.0);
    std::ranges::nth_element(times, times.begin() + count / 2);
    return {total, times[count / 2]};
}

nlohmann::ordered_json measure(const Arguments& arguments) {
    ModelArguments with_context = arguments.model;
    if (with_context.load.ctx == 0) with_context.load.ctx = arguments.prompt + arguments.generate + 16;
    const auto model = loadModel(with_context);
    const std::vector<int32_t> ids = benchTokens(arguments.prompt, model->description().vocabulary);
    const InterruptibleWork work;
    model->pool().setStop(work.token());
    Matrix<float> logits;
    seconds(*model, *model->newSequence(), std::span(ids).first(std::min<size_t>(8, ids.size())), logits);
    const double roof_before = cpu::readBandwidth(model->pool());
    model::Measurements& measurements = model->forward().measurements();
    const auto sequence = model->newSequence();
    measurements.reset(arguments.operations);
    const double prefill = seconds(*model, *sequence, ids, logits);
    const nlohmann::ordered_json prefill_operations = operationsOf(measurements, arguments.prompt);
    measurements.reset(arguments.operations);
    const Decoded decoded = decode(*model, *sequence, ids, arguments.generate, logits);

    const double bandwidth = std::max(roof_before, cpu::readBandwidth(model->pool()));
    const uint64_t per_token = model->plan().bytes_per_token;
    const uint64_t saved = measurements.neurons.bytes_saved / arguments.generate;
    const double decode_tps = arguments.generate / decoded.total;
    const uint64_t needed = per_token - std::min(per_token, saved) + measurements.neurons.bytes_added / arguments.generate;
    nlohmann::ordered_json report{{"prefill_tps", arguments.prompt / prefill},
                                  {"decode_tps", decode_tps},
                                  {"decode_median_tps", 1 / decoded.median},
                                  {"bytes_per_token", per_token},
                                  {"bytes_needed_per_token", needed}};
    if (measurements.neurons.all > 0)
        report["neurons_skipped"] =
            1 - static_cast<double>(measurements.neurons.added) / static_cast<double>(measurements.neurons.all);
    if (const sparse::LossControl& loss = model->forward().loss(); loss.checks() > 0) report["lost_share"] = loss.lost();
    report["bandwidth"] = bandwidth;
    report["threads"] = model->pool().threads();
    report["isa"] = cpu::isaName(cpu::activeIsa());
    // A model that the cache holds reads no memory, so a share of the memory's speed would say nothing.
    if (per_token >= 2 * cpu::lastLevelCache())
        report["bandwidth_share"] = decode_tps * static_cast<double>(needed) / bandwidth;
    if (arguments.operations) {
        report["decode_operations"] = operationsOf(measurements, arguments.generate);
        report["prefill_operations"] = prefill_operations;
    }
    return report;
}

std::string operationLines(const nlohmann::ordered_json& operations, double bandwidth) {
    char text[256];
    std::string lines;
    for (const auto& o : operations) {
        const double bytes = o["bytes_per_token"], speed = o["bytes_per_second"];
        std::snprintf(text, sizeof text, "  %-22s %9.3f ms", o["name"].get<std::string>().c_str(),
                      1e3 * o["seconds_per_token"].get<double>());
        lines += text;
        if (bytes > 0) {
            std::snprintf(text, sizeof text, " %10.2f MB %7.1f GB/s %4.0f %%", bytes / 1e6, speed / 1e9,
                          100 * speed / bandwidth);
            lines += text;
        }
        lines += "\n";
    }
    return lines;
}

void bench(const Arguments& arguments) {
    const nlohmann::ordered_json r = measure(arguments);
    if (arguments.json) return print(r.dump() + "\n");
    char text[512];
    std::snprintf(text, sizeof text, "prefill    %.1f tokens/s (%u tokens)\ndecode     %.1f tokens/s (%u tokens)\n",
                  r["prefill_tps"].get<double>(), arguments.prompt, r["decode_tps"].get<double>(), arguments.generate);
    std::string lines = text;
    lines += "a token    reads " + formatSize(r["bytes_per_token"]);
    if (r.contains("neurons_skipped")) {
        std::snprintf(text, sizeof text, ", or %s without the %.1f %% of neurons that are zero",
                      formatSize(r["bytes_needed_per_token"]).c_str(), 100 * r["neurons_skipped"].get<double>());
        lines += text;
    }
    const double bandwidth = r["bandwidth"];
    std::snprintf(text, sizeof text, "\nmemory     %.1f GB/s", bandwidth / 1e9);
    lines += text;
    if (r.contains("bandwidth_share")) {
        std::snprintf(text, sizeof text, ", of which decoding used %.0f %%", 100 * r["bandwidth_share"].get<double>());
        lines += text;
    }
    std::snprintf(text, sizeof text, "\nprocessor  %s, %u threads\n", r["isa"].get<std::string>().c_str(),
                  r["threads"].get<unsigned>());
    lines += text;
    if (arguments.operations) {
        lines += "a token of decoding: time, bytes, speed, share of the memory's speed\n" +
                 operationLines(r["decode_operations"], bandwidth) +
                 "a token of the prompt: time; weights are read once for all of its tokens\n" +
                 operationLines(r["prefill_operations"], bandwidth);
    }
    print(lines);
}

}  // namespace

void addBench(CLI::App& app) {
    auto* command = app.add_subcommand("bench", "Measure how fast a model is on this machine");
    auto arguments = std::make_shared<Arguments>();
    addModelArguments(*command, arguments->model, true);
    command->add_option("-p", arguments->prompt, "Tokens of the prompt (default 128)")
        ->check(between(1u, 1u << 20))
        ->type_name("N");
    command->add_option("-n", arguments->generate, "Tokens decoded one by one (default 32)")
        ->check(between(1u, 1u << 20))
        ->type_name("N");
    command->add_flag("--ops", arguments->operations,
                      "Show where the time goes: each operation's time, bytes and speed");
    addJson(*command, arguments->json);
    command->callback([arguments] { bench(*arguments); });
}

}  // namespace hearth::cli
