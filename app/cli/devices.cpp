#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/terminal.h"
#include "app/data_folder.h"
#include "engine/base/size.h"
#include "engine/cpu/isa.h"
#include "engine/gpu/backend.h"
#include "engine/placement/device_file.h"
#include "engine/placement/measure.h"

namespace hearth::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    unsigned threads = 0;
    bool measure = false, described = false, json = false;
};

/// What plan --simulate knows.
void listDescribed(bool json) {
    Json all = Json::array();
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

Json processor(const Arguments& arguments) {
    placement::Device cpu = placement::cpuDevice();
    const unsigned threads = arguments.threads > 0 ? arguments.threads : ThreadPool::physicalCores();
    Json device{{"name", cpu.name},
                {"bytes_total", cpu.bytes_total},
                {"bytes_free", cpu.bytes_free},
                {"threads", threads},
                {"isa", cpu::isaName(cpu::activeIsa())}};
    if (!arguments.measure) return device;
    ThreadPool pool(threads);
    placement::CpuSpeeds speeds(pool);
    speeds.forget();
    speeds.describe(cpu, {});
    device["read_bytes_per_s"] = cpu.read_bytes_per_s;
    device["flops"] = cpu.flops;
    return device;
}

Json card(const gpu::Found& found) {
    Json device{{"name", found.name},
                {"description", found.description},
                {"bytes_total", found.bytes_total},
                {"bytes_free", found.bytes_free},
                {"usable", found.why_not.empty()}};
    if (!found.why_not.empty()) device["why_not"] = found.why_not;
    return device;
}

std::string line(const Json& device) {
    const auto size = [&device](const char* key) { return formatSize(device.at(key).get<uint64_t>()); };
    std::string text =
        device.at("name").get<std::string>() + "  " + size("bytes_total") + ", " + size("bytes_free") + " free";
    if (device.contains("threads"))
        text += "; " + std::to_string(device.at("threads").get<unsigned>()) + " threads, " +
                device.at("isa").get<std::string>();
    if (device.contains("description")) text += "; " + device.at("description").get<std::string>();
    if (device.contains("read_bytes_per_s")) {
        char speed[48];
        std::snprintf(speed, sizeof speed, "; reads %.1f GB/s", device.at("read_bytes_per_s").get<double>() / 1e9);
        text += speed;
    }
    if (device.contains("why_not")) text += "; not used: " + device.at("why_not").get<std::string>();
    return text + "\n";
}

void listDevices(const Arguments& arguments) {
    if (arguments.described) return listDescribed(arguments.json);
    Json devices = Json::array({processor(arguments)});
    const gpu::Discovery cards = gpu::discover();
    for (const gpu::Found& found : cards.devices) devices.push_back(card(found));
    if (arguments.json) return print(devices.dump(2) + "\n");
    std::string text;
    for (const Json& device : devices) text += line(device);
    for (const std::string& note : cards.notes) text += "no graphics card: " + note + "\n";
    print(text);
}

}  // namespace

void addDevices(CLI::App& app) {
    auto* command = app.add_subcommand("devices", "List what can compute, its memory, and why a card is not used");
    auto arguments = std::make_shared<Arguments>();
    addThreads(*command, arguments->threads);
    command->add_flag("--measure", arguments->measure,
                      "Measure how fast memory is read, and keep it for plans (about a second)");
    command->add_flag("--described", arguments->described, "List the cards and processors that plan --simulate knows");
    addJson(*command, arguments->json);
    command->callback([arguments] { listDevices(*arguments); });
}

}  // namespace hearth::cli
