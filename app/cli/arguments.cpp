#include "app/cli/arguments.h"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/base/size.h"
#include "app/cli/terminal.h"
#include "app/data_folder.h"
#include "engine/base/error.h"

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, cpu::KvType> kv_names{
    {"f16", cpu::KvType::f16}, {"f32", cpu::KvType::f32}, {"q8_0", cpu::KvType::q8_0}};
const std::map<std::string, sparse::Mode> sparse_names{{"auto", sparse::Mode::automatic},
                                                       {"off", sparse::Mode::off},
                                                       {"all", sparse::Mode::all},
                                                       {"exact", sparse::Mode::exact},
                                                       {"predict", sparse::Mode::predict}};

/// An option whose value is one of the words of `names`.
template <typename T>
CLI::Option* addChoice(CLI::App& command, const std::string& flags, T& value, const std::map<std::string, T>& names,
                       const std::string& text) {
    std::string words;
    for (const auto& [word, unused] : names) words += (words.empty() ? "" : "|") + word;
    return command
        .add_option_function<std::string>(
            flags,
            [&value, &names, flags, words](const std::string& word) {
                const auto found = names.find(CLI::detail::to_lower(word));
                if (found == names.end()) refuseArgument(flags, "\"" + word + "\" is none of " + words);
                value = found->second;
            },
            text)
        ->type_name(words);
}

}  // namespace

CLI::Validator between(int64_t least, int64_t most) {
    return CLI::Range(least, most).description("");   // the help says what matters in words
}

void refuseArgument(const std::string& name, const std::string& why) { throw CLI::ValidationError(name, why); }

void addModelPath(CLI::App& command, std::string& path, bool optional) {
    auto* option =
        command.add_option("model,-m,--model", path, optional ? "GGUF file (default: the starter model)" : "GGUF file")
            ->type_name("MODEL");
    if (!optional) option->required();
}

void addThreads(CLI::App& command, unsigned& threads) {
    command.add_option("-t,--threads", threads, "Threads (default: the physical performance cores)")
        ->check(between(1u, 1024u))
        ->type_name("N");
}

void addContext(CLI::App& command, runtime::LoadOptions& load) {
    command.add_option("-c,--ctx", load.ctx, "Tokens of context (default: the model's, as far as memory goes)")
        ->check(between(1u, 1u << 28))
        ->type_name("N");
    addChoice(command, "--kv", load.kv, kv_names, "How keys and values are kept (default f16)");
}

void addBatchSize(CLI::App& command, runtime::LoadOptions& load) {
    command.add_option("-b,--batch", load.batch, "Most tokens of one pass (default 512)")
        ->check(between(1u, 1u << 20))
        ->type_name("N");
}

void addSparse(CLI::App& command, runtime::LoadOptions& load) {
    addChoice(command, "--sparse", load.sparse, sparse_names,
              "What is done with zeros in the feed-forward (default auto)");
}

void addModelArguments(CLI::App& command, ModelArguments& arguments, bool optional) {
    addModelPath(command, arguments.path, optional);
    addThreads(command, arguments.load.threads);
    addContext(command, arguments.load);
    addBatchSize(command, arguments.load);
    addSparse(command, arguments.load);
    addCards(command, arguments.planning);
}

void addSize(CLI::App& command, const std::string& flag, std::optional<uint64_t>& bytes, const std::string& text) {
    command
        .add_option_function<std::string>(
            flag,
            [&bytes, flag](const std::string& word) {
                bytes = parseSize(word);
                if (!bytes) refuseArgument(flag, "\"" + word + "\" is no size like 6G, 6GB or 1.5G");
            },
            text)
        ->type_name("SIZE");
}

void addJson(CLI::App& command, bool& json) { command.add_flag("--json", json, "Print JSON"); }

std::shared_ptr<runtime::Model> loadModel(const ModelArguments& arguments) {
    const fs::path path = arguments.path.empty() ? starterModel() : fs::path(arguments.path);
    runtime::LoadOptions load = arguments.load;
    PlanningArguments planning = arguments.planning;
    planning.threads = load.threads;
    chooseDevices(planning, path, load);
    auto model = runtime::Model::load(path, load);
    for (const std::string& sentence : model->placementNotes()) note("warning: " + sentence);
    if (model->plan().limit.starts_with("main memory")) note("warning: " + model->plan().limit);
    return model;
}

void printWarnings(const runtime::Model& model) {
    for (const std::string& warning : model.warnings()) note("warning: " + warning);
}

size_t mostWithLogits(runtime::Model& model) {
    const size_t fitting = (size_t{256} << 20) / (model.description().vocabulary * sizeof(float));
    return std::clamp<size_t>(fitting, 1, model.forward().maxBatch());
}

fs::path starterModel() { return app::starterModel(); }

}  // namespace hearth::cli
