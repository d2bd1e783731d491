#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "engine/base/size.h"
#include "app/cli/terminal.h"
#include "engine/cpu/bandwidth.h"
#include "engine/cpu/isa.h"

namespace hearth::cli {
namespace {

struct Arguments {
    unsigned threads = 0;
    bool measure = false, json = false;
};

void listDevices(const Arguments& arguments) {
    placement::Device cpu = placement::cpuDevice();
    const unsigned threads = arguments.threads > 0 ? arguments.threads : ThreadPool::physicalCores();
    if (arguments.measure) {
        ThreadPool pool(threads);
        cpu.read_bytes_per_s = cpu::readBandwidth(pool);
    }
    if (arguments.json) {
        nlohmann::ordered_json device{{"name", cpu.name},
                                      {"bytes_total", cpu.bytes_total},
                                      {"bytes_free", cpu.bytes_free},
                                      {"threads", threads},
                                      {"isa", cpu::isaName(cpu::activeIsa())}};
        if (arguments.measure) device["read_bytes_per_s"] = cpu.read_bytes_per_s;
        return print(nlohmann::ordered_json::array({device}).dump(2) + "\n");
    }
    std::string text = cpu.name + "  " + formatSize(cpu.bytes_total) + ", " + formatSize(cpu.bytes_free) + " free; " +
                       std::to_string(threads) + " threads, " + std::string(cpu::isaName(cpu::activeIsa()));
    if (arguments.measure) {
        char speed[48];
        std::snprintf(speed, sizeof speed, "; reads %.1f GB/s", cpu.read_bytes_per_s / 1e9);
        text += speed;
    }
    print(text + "\n");
}

}  // namespace

void addDevices(CLI::App& app) {
    auto* command = app.add_subcommand("devices", "List what can compute, and its memory");
    auto arguments = std::make_shared<Arguments>();
    addThreads(*command, arguments->threads);
    command->add_flag("--measure", arguments->measure, "Measure how fast memory is read (a few seconds)");
    addJson(*command, arguments->json);
    command->callback([arguments] { listDevices(*arguments); });
}

}  // namespace hearth::cli
