#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "engine/base/size.h"
#include "app/cli/terminal.h"
#include "engine/cpu/bandwidth.h"
#include "engine/cpu/isa.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    uint32_t prompt = 128, generate = 32;
    bool json = false;
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

nlohmann::ordered_json measure(const Arguments& arguments) {
    ModelArguments with_context = arguments.model;
    if (with_context.load.ctx == 0) with_context.load.ctx = arguments.prompt + arguments.generate + 16;
    const auto model = loadModel(with_context);
    const std::vector<int32_t> ids = benchTokens(arguments.prompt, model->description().vocabulary);
    const InterruptibleWork work;
    model->pool().setStop(work.token());
    Matrix<float> logits;
    seconds(*model, *model->newSequence(), std::span(ids).first(std::min<size_t>(8, ids.size())), logits);
    const auto sequence = model->newSequence();
    const double prefill = seconds(*model, *sequence, ids, logits);
    double decode = 0;
    for (uint32_t i = 0; i < arguments.generate; ++i)
        decode += seconds(*model, *sequence, std::span(ids).subspan(i % ids.size(), 1), logits);

    const double bandwidth = cpu::readBandwidth(model->pool());
    const uint64_t per_token = model->plan().bytes_per_token;
    const double decode_tps = arguments.generate / decode;
    nlohmann::ordered_json report{{"prefill_tps", arguments.prompt / prefill},
                                  {"decode_tps", decode_tps},
                                  {"bytes_per_token", per_token},
                                  {"bandwidth", bandwidth},
                                  {"threads", model->pool().threads()},
                                  {"isa", cpu::isaName(cpu::activeIsa())}};
    // A model that the cache holds reads no memory, so a share of the memory's speed would say nothing.
    if (per_token >= 2 * cpu::lastLevelCache())
        report["bandwidth_share"] = decode_tps * static_cast<double>(per_token) / bandwidth;
    return report;
}

void bench(const Arguments& arguments) {
    const nlohmann::ordered_json r = measure(arguments);
    if (arguments.json) return print(r.dump() + "\n");
    char text[512];
    std::snprintf(text, sizeof text, "prefill    %.1f tokens/s (%u tokens)\ndecode     %.1f tokens/s (%u tokens)\n",
                  r["prefill_tps"].get<double>(), arguments.prompt, r["decode_tps"].get<double>(), arguments.generate);
    std::string lines = text;
    std::snprintf(text, sizeof text, "a token    reads %s\nmemory     %.1f GB/s",
                  formatSize(r["bytes_per_token"]).c_str(), r["bandwidth"].get<double>() / 1e9);
    lines += text;
    if (r.contains("bandwidth_share")) {
        std::snprintf(text, sizeof text, ", of which decoding used %.0f %%", 100 * r["bandwidth_share"].get<double>());
        lines += text;
    }
    std::snprintf(text, sizeof text, "\nprocessor  %s, %u threads\n", r["isa"].get<std::string>().c_str(),
                  r["threads"].get<unsigned>());
    print(lines + text);
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
    addJson(*command, arguments->json);
    command->callback([arguments] { bench(*arguments); });
}

}  // namespace hearth::cli
