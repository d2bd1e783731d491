#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "engine/base/size.h"
#include "app/cli/terminal.h"
#include "engine/cpu/bandwidth.h"

namespace hearth::cli {
namespace {

struct Arguments {
    std::string path;
    runtime::LoadOptions load;
    std::optional<uint64_t> budget;
    bool measure = false, json = false;
};

placement::Device cpuWithin(const Arguments& arguments) {
    placement::Device cpu = placement::cpuDevice();
    if (arguments.budget) cpu.bytes_free = *arguments.budget;
    if (arguments.measure) {
        ThreadPool pool(arguments.load.threads);
        cpu.read_bytes_per_s = cpu::readBandwidth(pool);
    }
    return cpu;
}

void showJson(const placement::Plan& plan) {
    nlohmann::ordered_json parts = nlohmann::ordered_json::array();
    for (const placement::Part& part : plan.parts)
        parts.push_back({{"what", part.what}, {"device", part.device}, {"bytes", part.bytes}});
    nlohmann::ordered_json report{{"ctx", plan.ctx},
                                  {"parts", parts},
                                  {"total", plan.bytes("cpu")},
                                  {"bytes_per_token", plan.bytes_per_token},
                                  {"limit", plan.limit}};
    if (plan.decode_tps > 0) report["decode_tps"] = plan.decode_tps;
    print(report.dump(2) + "\n");
}

void showText(const placement::Plan& plan) {
    std::string text = "Context of " + std::to_string(plan.ctx) + " tokens\n";
    const auto line = [&text](const std::string& what, const std::string& device, const std::string& value) {
        char row[96];
        std::snprintf(row, sizeof row, "  %-14s %-8s %12s\n", what.c_str(), device.c_str(), value.c_str());
        text += row;
    };
    for (const placement::Part& part : plan.parts) line(part.what, part.device, formatSize(part.bytes));
    line("together", "", formatSize(plan.bytes("cpu")));
    line("read a token", "", formatSize(plan.bytes_per_token));
    if (plan.decode_tps > 0) {
        char speed[64];
        std::snprintf(speed, sizeof speed, "At most %.1f tokens/s.\n", plan.decode_tps);
        text += speed;
    }
    print(text + "The limit is " + plan.limit + ".\n");
}

void showPlan(const Arguments& arguments) {
    const model::Description description = model::Description::read(gguf::File::open(arguments.path));
    const placement::Device cpu = cpuWithin(arguments);
    const placement::Plan plan =
        placement::plan(description, nullptr, {&cpu, 1},
                        {.ctx = arguments.load.ctx, .batch = arguments.load.batch, .kv = arguments.load.kv});
    if (arguments.json) showJson(plan);
    else showText(plan);
}

}  // namespace

void addPlan(CLI::App& app) {
    auto* command = app.add_subcommand("plan", "Say where every byte of a model would go, before it is loaded");
    auto arguments = std::make_shared<Arguments>();
    addModelPath(*command, arguments->path);
    addThreads(*command, arguments->load.threads);
    addContext(*command, arguments->load);
    command->add_option("-b,--batch", arguments->load.batch, "Most tokens of one pass (default 512)")
        ->check(between(1u, 1u << 20))
        ->type_name("N");
    addSize(*command, "--budget", arguments->budget, "Main memory that may be used (default: what is free)");
    command->add_flag("--measure", arguments->measure,
                      "Measure how fast memory is read, for a prediction of the speed");
    addJson(*command, arguments->json);
    command->callback([arguments] { showPlan(*arguments); });
}

}  // namespace hearth::cli
