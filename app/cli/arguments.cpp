#include "app/cli/arguments.h"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/base/size.h"
#include "app/cli/interrupt.h"
#include "app/cli/sparse_words.h"
#include "app/cli/terminal.h"
#include "app/data_folder.h"
#include "engine/base/error.h"
#include "engine/model/activation.h"

namespace hearth::cli {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, cpu::KvType> kv_names{
    {"f16", cpu::KvType::f16}, {"f32", cpu::KvType::f32}, {"q8_0", cpu::KvType::q8_0}};
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
    addSparseMode(command, "--sparse", "What is done with zeros in the feed-forward (default auto)",
                  [&load](const sparse::Choice& choice) {
                      const float held = load.sparse.max_loss;
                      load.sparse = choice;
                      load.sparse.max_loss = held;
                  });
    command
        .add_option("--max-loss", load.sparse.max_loss,
                    "With predict and threshold: hold the lost share of the feed-forward's output below this while running")
        ->check(CLI::Range(1e-4f, 0.9f).description(""))
        ->type_name("SHARE");
}

void addActivation(CLI::App& command, runtime::LoadOptions& load) {
    command
        .add_option_function<std::string>(
            "--activation",
            [&load](const std::string& word) {
                load.activation = model::activationByName(word);
                if (!load.activation)
                    refuseArgument("--activation", "\"" + word + "\" is none of silu|gelu|relu|relu2|drelu");
            },
            "Which activation the feed-forward has, where the file is silent or wrong")
        ->type_name("silu|gelu|relu|relu2|drelu");
    command
        .add_option("--relu-threshold", load.relu_threshold,
                    "Gates below this count as zero (FATReLU, for ProSparse models; default 0)")
        ->check(CLI::Range(0.0f, 1e3f).description(""))
        ->type_name("T");
}

void addSparseMode(CLI::App& command, const std::string& flag, const std::string& text,
                   std::function<void(const sparse::Choice&)> take) {
    command
        .add_option_function<std::string>(
            flag,
            [flag, take = std::move(take)](const std::string& word) {
                const auto choice = parseSparse(word);
                if (!choice) refuseArgument(flag, "\"" + word + "\" is none of " + sparse_words);
                take(*choice);
            },
            text)
        ->type_name(sparse_words);
}

void addModelArguments(CLI::App& command, ModelArguments& arguments, bool optional) {
    addModelPath(command, arguments.path, optional);
    addThreads(command, arguments.load.threads);
    addContext(command, arguments.load);
    addBatchSize(command, arguments.load);
    addSparse(command, arguments.load);
    addCards(command, arguments.planning);
    addActivation(command, arguments.load);
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

std::shared_ptr<runtime::Model> loadModel(const ModelArguments& arguments, Wait wait) {
    const fs::path path = arguments.path.empty() ? starterModel() : fs::path(arguments.path);
    runtime::LoadOptions load = arguments.load;
    PlanningArguments planning = arguments.planning;
    planning.threads = load.threads;
    chooseDevices(planning, path, load);
    auto model = runtime::Model::load(path, load);
    for (const std::string& sentence : model->placementNotes()) note("warning: " + sentence);
    if (model->plan().limit.starts_with("main memory")) note("warning: " + model->plan().limit);
    if (wait == Wait::never && arguments.load.sparse.mode == sparse::Mode::automatic) {
        model->prepareInBackground();
        return model;
    }
    const bool make = wait == Wait::always || arguments.load.sparse.mode != sparse::Mode::automatic;
    const InterruptibleWork work;
    Progress progress("preparing to skip zeros");
    const std::string problem = model->prepare(make ? runtime::MakePrepared::yes : runtime::MakePrepared::no, work.token(),
                                               [&progress](double share) { progress.show(share); });
    progress.clear();
    if (!problem.empty()) note("warning: " + problem);
    return model;
}

void keepProfile(runtime::Model& model) {
    try {
        model.keepProfile();
    } catch (const Error& error) {
        note(std::string("the profile was not kept: ") + error.what());
    }
}

void printWarnings(const runtime::Model& model) {
    for (const std::string& warning : model.warnings()) note("warning: " + warning);
}

fs::path starterModel() { return app::starterModel(); }

}  // namespace hearth::cli
