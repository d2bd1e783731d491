#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/terminal.h"
#include "engine/gpu/backend.h"
#include "engine/gpu/selftest/check.h"

namespace hearth::cli {
namespace {

struct Arguments {
    std::string device;
    uint32_t seed = 1;
    bool json = false;
};

/// The first device that can be used; without a card, an emulated one.
std::string firstDevice() {
    for (const gpu::Found& found : gpu::discover().devices)
        if (found.why_not.empty()) return found.name;
    return "emulated:0";
}

void run(const Arguments& arguments) {
    const std::string name = arguments.device.empty() ? firstDevice() : arguments.device;
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    size_t failed = 0, count = 0;
    gpu::open(name);   // says why, once, when it cannot be used at all
    for (const gpu::selftest::Check& check : gpu::selftest::checks()) {
        std::string why;
        try {
            // A device that failed stays failed: each check begins with a fresh one.
            const auto device = gpu::open(name);
            check.run(*device, arguments.seed);
        } catch (const Error& error) {
            why = error.what();
        }
        ++count;
        failed += !why.empty();
        results.push_back({{"check", check.name}, {"ok", why.empty()}});
        if (!why.empty()) results.back()["why"] = why;
        if (!arguments.json)
            print((why.empty() ? "ok      " : "FAILED  ") + check.name + (why.empty() ? "" : ": " + why) + "\n");
    }
    if (arguments.json) print(nlohmann::ordered_json{{"device", name}, {"checks", results}}.dump(2) + "\n");
    else
        print(name + ": " + std::to_string(count - failed) + " checks passed, " + std::to_string(failed) + " failed\n");
    if (failed > 0)
        throw Error(name + " cannot be trusted",
                    std::to_string(failed) + " of " + std::to_string(count) + " checks failed",
                    "Update its driver, or run without it");
}

}  // namespace

void addSelftest(CLI::App& app) {
    auto* command = app.add_subcommand("selftest", "Check that a graphics card computes rightly");
    auto arguments = std::make_shared<Arguments>();
    command->add_option("--device", arguments->device,
                        "Which, as `devices` names it (default: the first that can be used)");
    command->add_option("--seed", arguments->seed, "Another seed tries other numbers");
    addJson(*command, arguments->json);
    command->callback([arguments] { run(*arguments); });
}

}  // namespace hearth::cli
