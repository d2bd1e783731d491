#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/planning.h"
#include "app/cli/terminal.h"
#include "app/data_folder.h"
#include "engine/placement/measure.h"
#include "engine/base/size.h"
#include "engine/placement/shape_file.h"

namespace hearth::cli {
namespace {

struct Arguments {
    std::string path, shape;
    runtime::LoadOptions load;
    PlanningArguments planning;
    uint32_t depth = placement::Options{}.depth;
    bool json = false;
};

/// The model file, or the shape: FILE.json, FILE.json:ID, or the id of a shape that comes with Hearth.
placement::ModelShape modelOf(const Arguments& arguments) {
    if (arguments.shape.empty()) {
        placement::ModelShape model;
        model.description = model::Description::read(gguf::File::open(arguments.path));
        const auto profile = sparse::Profile::open(sparse::identityOf(*model.description.file), sparse::Sidecars());
        model.activity = profile ? placement::activityFrom(model.description, *profile)
                                 : placement::assumedActivity(model.description);
        return model;
    }
    const size_t end = arguments.shape.rfind(".json");
    if (end == std::string::npos)
        return placement::readShape(app::dataFile(std::filesystem::path("placement") / "models.json"), arguments.shape);
    const size_t colon = arguments.shape.find(':', end);
    return placement::readShape(arguments.shape.substr(0, colon),
                                colon == std::string::npos ? "" : arguments.shape.substr(colon + 1));
}

/// Layers with attention and cache on the same devices, as "0-27".
struct LayerRange {
    size_t first = 0, last = 0;
    std::string attention, cache;
    std::map<std::string, std::pair<double, double>> feed_forward;   ///< least and largest share by device
};

std::vector<LayerRange> ranges(const placement::Plan& plan) {
    std::vector<LayerRange> all;
    for (size_t i = 0; i < plan.layers.size(); ++i) {
        const placement::LayerSplit& split = plan.layers[i];
        if (all.empty() || all.back().attention != split.attention_device || all.back().cache != split.kv_device)
            all.push_back({i, i, split.attention_device, split.kv_device, {}});
        all.back().last = i;
        for (const auto& [device, share] : split.feed_forward) {
            const auto [entry, added] = all.back().feed_forward.try_emplace(device, share, share);
            auto& [least, most] = entry->second;
            least = std::min(least, share);
            most = std::max(most, share);
        }
    }
    return all;
}

std::map<std::string, uint64_t> totals(const placement::Plan& plan) {
    std::map<std::string, uint64_t> bytes;
    for (const placement::Part& part : plan.parts) bytes[part.device] += part.bytes;
    return bytes;
}

void showJson(const placement::Plan& plan) {
    using Json = nlohmann::ordered_json;
    Json parts = Json::array(), layers = Json::array();
    for (const placement::Part& part : plan.parts)
        parts.push_back({{"what", part.what}, {"device", part.device}, {"bytes", part.bytes}});
    for (const placement::LayerSplit& split : plan.layers)
        layers.push_back({{"attention", split.attention_device},
                          {"kv_cache", split.kv_device},
                          {"feed_forward", split.feed_forward},
                          {"gates", split.gates},
                          {"neurons", split.neurons}});
    print(Json{{"ctx", plan.ctx},
               {"parts", parts},
               {"totals", totals(plan)},
               {"layers", layers},
               {"output", plan.output_device},
               {"bytes_per_token", plan.bytes_per_token},
               {"prefill_tps", plan.prefill_tps},
               {"decode_tps", plan.decode_tps},
               {"limit", plan.limit},
               {"tps_per_gib", plan.tps_per_gib}}
              .dump(2) +
          "\n");
}

std::string describe(const LayerRange& range) {
    std::string text = "  layers " + std::to_string(range.first) + "-" + std::to_string(range.last) +
                       ": attention on " + range.attention;
    if (range.cache != range.attention) text += ", its cache on " + range.cache;
    text += ", feed-forward";
    for (const auto& [device, shares] : range.feed_forward) {
        char percent[48];
        const double least = 100 * shares.first, most = 100 * shares.second;
        if (most - least < 1) std::snprintf(percent, sizeof percent, " %.0f %%", most);
        else std::snprintf(percent, sizeof percent, " %.0f to %.0f %%", least, most);
        text += percent + (" on " + device);
    }
    return text + "\n";
}

void showText(const placement::Plan& plan) {
    std::string text = "Context of " + std::to_string(plan.ctx) + " tokens\n";
    const auto line = [&text](const std::string& what, const std::string& device, uint64_t bytes) {
        char row[96];
        std::snprintf(row, sizeof row, "  %-22s %-10s %12s\n", what.c_str(), device.c_str(), formatSize(bytes).c_str());
        text += row;
    };
    for (const placement::Part& part : plan.parts) line(part.what, part.device, part.bytes);
    for (const auto& [device, bytes] : totals(plan)) line("together", device, bytes);
    line("read a token", "", plan.bytes_per_token);
    for (const LayerRange& range : ranges(plan)) text += describe(range);
    char speed[128];
    if (plan.prefill_tps > 0) {
        std::snprintf(speed, sizeof speed, "Reads a prompt at about %.0f tokens/s.\n", plan.prefill_tps);
        text += speed;
    }
    if (plan.decode_tps > 0) {
        std::snprintf(speed, sizeof speed, "Writes about %.1f tokens/s.\n", plan.decode_tps);
        text += speed;
    }
    if (plan.tps_per_gib > 0) {
        std::snprintf(speed, sizeof speed, "One more GiB of graphics memory would bring %.1f tokens/s.\n",
                      plan.tps_per_gib);
        text += speed;
    }
    print(text + "The limit is " + plan.limit + ".\n");
}

void showPlan(const Arguments& arguments) {
    if (arguments.path.empty() == arguments.shape.empty())
        refuseArgument("plan", "name either a model file or a shape (--shape)");
    const placement::ModelShape model = modelOf(arguments);
    const std::vector<placement::Device> devices = planningDevices(arguments.planning, placement::weightTypes(*model.description.file));
    placement::Options options{.ctx = arguments.load.ctx,
                               .batch = arguments.load.batch,
                               .kv = arguments.load.kv,
                               .sparse = arguments.load.sparse.mode,
                               .depth = arguments.depth};
    applyBudgets(arguments.planning, devices, options);
    const placement::Plan plan = placement::plan(model.description, model.activity, devices, options);
    if (arguments.json) showJson(plan);
    else showText(plan);
}

}  // namespace

void addPlan(CLI::App& app) {
    auto* command = app.add_subcommand(
        "plan", "Say where every byte of a model would go and how fast it would be, before it is loaded");
    auto arguments = std::make_shared<Arguments>();
    command->add_option("model,-m,--model", arguments->path, "GGUF file")->type_name("MODEL");
    command
        ->add_option(
            "--shape", arguments->shape,
            "Instead of a file: a model that is described, FILE.json, FILE.json:ID or an id like relullama-70b")
        ->type_name("SHAPE");
    addPlanning(*command, arguments->planning);
    addContext(*command, arguments->load);
    addBatchSize(*command, arguments->load);
    addSparse(*command, arguments->load);
    command
        ->add_option("--depth", arguments->depth,
                     "Positions that a token looks back on when speed is predicted (default 512)")
        ->check(between(0u, 1u << 28))
        ->type_name("N");
    addJson(*command, arguments->json);
    command->callback([arguments] { showPlan(*arguments); });
}

}  // namespace hearth::cli
