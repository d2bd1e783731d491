#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "engine/base/size.h"
#include "app/cli/terminal.h"
#include "app/data_folder.h"
#include "engine/cpu/isa.h"
#include "engine/placement/device_file.h"
#include "engine/placement/measure.h"

namespace hearth::cli {
namespace {

struct Arguments {
    unsigned threads = 0;
    bool measure = false, described = false, json = false;
};

/// What plan --simulate knows.
void listDescribed(bool json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    std::string text;
    const auto known = placement::DeviceFile::read(app::dataFile(std::filesystem::path("placement") / "devices.json"));
    for (const placement::Device& d : known.all()) {
        all.push_back({{"name", d.name}, {"bytes_total", d.bytes_total}, {"read_bytes_per_s", d.read_bytes_per_s}});
        char line[96];
        std::snprintf(line, sizeof line, "%-12s %12s; reads %.0f GB/s\n", d.name.c_str(),
                      formatSize(d.bytes_total).c_str(), d.read_bytes_per_s / 1e9);
        text += line;
    }
    print(json ? all.dump(2) + "\n" : text);
}

void listDevices(const Arguments& arguments) {
    if (arguments.described) return listDescribed(arguments.json);
    placement::Device cpu = placement::cpuDevice();
    const unsigned threads = arguments.threads > 0 ? arguments.threads : ThreadPool::physicalCores();
    if (arguments.measure) {
        ThreadPool pool(threads);
        placement::CpuSpeeds speeds(pool);
        speeds.forget();
        speeds.describe(cpu, {});
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
    command->add_flag("--measure", arguments->measure,
                      "Measure how fast memory is read, and keep it for plans (about a second)");
    command->add_flag("--described", arguments->described, "List the cards and processors that plan --simulate knows");
    addJson(*command, arguments->json);
    command->callback([arguments] { listDevices(*arguments); });
}

}  // namespace hearth::cli
