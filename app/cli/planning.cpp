#include "app/cli/planning.h"

#include <algorithm>
#include <iterator>

#include "app/cli/arguments.h"
#include "app/data_folder.h"
#include "engine/base/size.h"
#include "engine/gpu/backend.h"
#include "engine/placement/device_file.h"
#include "engine/placement/measure.h"
#include "engine/runtime/hybrid/cards.h"

namespace hearth::cli {
namespace {

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= text.size();) {
        const size_t comma = std::min(text.find(',', at), text.size());
        parts.push_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return parts;
}

uint64_t sizeOf(const std::string& flag, const std::string& word) {
    const auto bytes = parseSize(word);
    if (!bytes) refuseArgument(flag, "\"" + word + "\" is no size like 6G, 6GB or 1.5G");
    return *bytes;
}

}  // namespace

void addCards(CLI::App& command, PlanningArguments& arguments) {
    command
        .add_option_function<std::string>(
            "--vram-budget",
            [&arguments](const std::string& word) {
                if (word == "auto") arguments.vram.reset();
                else arguments.vram = sizeOf("--vram-budget", word);
            },
            "Memory of each graphics card that may be used (default auto: what is free but for 256 MiB)")
        ->type_name("SIZE|auto");
    command
        .add_option("--gpu", arguments.gpus,
                    "Cards that serve the model, in this order, each with its budget: cuda:0=8G,cuda:1=4G")
        ->type_name("NAME[=SIZE],...");
    command.add_flag("--disable-gpu-index", arguments.whole, "Do not cut a layer's neurons into hot and cold ones");
}

void addPlanning(CLI::App& command, PlanningArguments& arguments) {
    addThreads(command, arguments.threads);
    addCards(command, arguments);
    command
        .add_option("--simulate", arguments.simulated,
                    "Plan for these cards (and this processor) instead of what is here: rtx4090,pc-high")
        ->type_name("NAME,...");
    addSize(command, "--budget", arguments.main_memory, "Main memory that may be used (default: what is free)");
    command.add_flag("--reset-gpu-index,--measure", arguments.measure,
                     "Forget what was measured on this machine and plan anew");
}

std::vector<placement::Device> planningDevices(const PlanningArguments& arguments,
                                               const std::vector<gguf::Type>& types) {
    const auto known = placement::DeviceFile::read(app::dataFile(std::filesystem::path("placement") / "devices.json"));
    std::vector<placement::Device> devices{placement::cpuDevice()};
    bool simulated_cpu = false;
    if (arguments.simulated.empty()) std::ranges::move(runtime::usableCards(gpu::discover(), &known), std::back_inserter(devices));
    else
        for (const std::string& name : split(arguments.simulated)) {
            placement::Device device = known.named(name);
            if (device.kind == placement::Kind::cpu) {
                device.name = "cpu";
                devices[0] = device;
                simulated_cpu = true;
                continue;
            }
            device.name = "cuda:" + std::to_string(devices.size() - 1);
            devices.push_back(device);
        }
    if (!simulated_cpu) {
        ThreadPool pool(arguments.threads);
        placement::CpuSpeeds speeds(pool);
        if (arguments.measure) speeds.forget();
        speeds.describe(devices[0], types);
    }
    return devices;
}

void chooseDevices(const PlanningArguments& arguments, const std::filesystem::path& path,
                   runtime::LoadOptions& load) {
    const bool asked = arguments.vram || !arguments.gpus.empty();
    const auto cards = gpu::discover().devices;
    if (!asked && std::ranges::none_of(cards, [](const gpu::Found& card) { return card.why_not.empty(); })) return;
    load.devices = planningDevices(arguments, placement::weightTypes(*gguf::File::open(path)));
    placement::Options options;
    applyBudgets(arguments, load.devices, options);
    load.budget = options.budget;
    load.use = options.use;
    load.split = options.split;
}

void applyBudgets(const PlanningArguments& arguments, const std::vector<placement::Device>& devices,
                  placement::Options& options) {
    if (arguments.main_memory) options.budget["cpu"] = *arguments.main_memory;
    for (const placement::Device& device : devices)
        if (device.kind != placement::Kind::cpu && arguments.vram) options.budget[device.name] = *arguments.vram;
    if (!arguments.gpus.empty())
        for (const std::string& one : split(arguments.gpus)) {
            const size_t equals = one.find('=');
            options.use.push_back(one.substr(0, equals));
            if (equals != std::string::npos)
                options.budget[one.substr(0, equals)] = sizeOf("--gpu", one.substr(equals + 1));
        }
    if (arguments.whole) options.split = placement::Split::blocks;
}

}  // namespace hearth::cli
