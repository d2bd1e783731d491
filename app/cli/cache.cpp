#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/terminal.h"
#include "engine/base/size.h"
#include "engine/gguf/file.h"
#include "engine/sparse/sidecar.h"

namespace hearth::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string model;
    bool json = false;
};

/// The identity of the model that was named; nullopt for all.
std::optional<std::string> identityNamed(const Arguments& arguments) {
    if (arguments.model.empty()) return {};
    return sparse::identityOf(*gguf::File::open(arguments.model));
}

void list(const Arguments& arguments) {
    const std::optional<std::string> identity = identityNamed(arguments);
    Json all = Json::array();
    std::string text;
    uint64_t sum = 0;
    for (const sparse::Sidecars::Entry& entry : sparse::Sidecars().list()) {
        if (identity && entry.identity != *identity) continue;
        sum += entry.bytes;
        all.push_back({{"kind", entry.kind}, {"bytes", entry.bytes}, {"path", entry.path.string()}});
        text += formatSize(entry.bytes) + "  " + entry.kind + "  " + entry.path.string() + "\n";
    }
    if (arguments.json) return print(Json{{"bytes", sum}, {"files", all}}.dump(2) + "\n");
    print(text + formatSize(sum) + " in all\n");
}

void remove(const Arguments& arguments) {
    const uint64_t freed = sparse::Sidecars().remove(identityNamed(arguments));
    if (arguments.json) return print(Json{{"freed_bytes", freed}}.dump() + "\n");
    print(formatSize(freed) + " freed\n");
}

/// A subcommand that takes a model or nothing.
void addPart(CLI::App& command, const char* name, const char* text, void (*run)(const Arguments&)) {
    auto* part = command.add_subcommand(name, text);
    auto arguments = std::make_shared<Arguments>();
    part->add_option("model,-m,--model", arguments->model, "Only what belongs to this GGUF file (default: all)")
        ->type_name("MODEL");
    addJson(*part, arguments->json);
    part->callback([arguments, run] { run(*arguments); });
}

}  // namespace

void addCache(CLI::App& app) {
    auto* command = app.add_subcommand(
        "cache", "What was worked out about models and is kept on the disk: copies for skipping zeros, profiles, speeds");
    command->require_subcommand(1);
    addPart(*command, "list", "Show what there is and how much space it takes", list);
    addPart(*command, "delete", "Delete it; what is needed again is worked out again", remove);
    auto* prepare = command->add_subcommand("prepare", "Work out now what a sparse mode needs of a model");
    auto arguments = std::make_shared<ModelArguments>();
    addModelPath(*prepare, arguments->path);
    addThreads(*prepare, arguments->load.threads);
    addSparse(*prepare, arguments->load);
    prepare->callback([arguments] { loadModel(*arguments, Wait::always); });
}

}  // namespace hearth::cli
