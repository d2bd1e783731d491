#include <algorithm>
#include <cstdio>
#include <numeric>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/interrupt.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"
#include "engine/model/predictors.h"
#include "engine/runtime/evaluate.h"
#include "engine/sparse/powerinfer_files.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    std::string text_file, import;
    bool forget = false;
};

/// Lets the model read a text; what fires is counted on the way.
void readText(runtime::Model& model, std::string_view text) {
    const InterruptibleWork work;
    model.pool().setStop(work.token());
    Progress progress("profile");
    const auto windows = runtime::windowsOf(model, text, model.context());
    for (size_t w = 0; w < windows.size(); ++w) {
        const auto sequence = model.newSequence();
        const std::span<const text::Token> tokens = windows[w];
        for (size_t at = 0; at < tokens.size();) {
            const size_t n = std::min<size_t>(model.forward().maxBatch(), tokens.size() - at);
            const model::Part part{sequence.get(), tokens.subspan(at, n), model::Part::Logits::none};
            model.forward().run({&part, 1}, {});
            at += n;
        }
        progress.show(static_cast<double>(w + 1) / static_cast<double>(windows.size()));
    }
    model.pool().setStop({});
}

/// Share of all firing that the most active fifth does.
double hottestFifth(std::vector<uint64_t> fired) {
    std::ranges::sort(fired, std::greater());
    const double all = static_cast<double>(std::accumulate(fired.begin(), fired.end(), uint64_t{0}));
    const auto fifth = fired.begin() + static_cast<std::ptrdiff_t>(fired.size() / 5);
    return all > 0 ? static_cast<double>(std::accumulate(fired.begin(), fifth, uint64_t{0})) / all : 0;
}

void report(const sparse::Profile& profile) {
    std::string lines = "layer    tokens     fire    by the hottest fifth\n";
    char line[96];
    for (size_t i = 0; i < profile.layers(); ++i) {
        const sparse::Profile::Layer& l = profile.layer(i);
        const std::vector<uint64_t>& counts = l.fired.empty() ? l.chosen : l.fired;
        if (counts.empty()) continue;
        const double all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
        if (l.rates && l.tokens > 0)
            std::snprintf(line, sizeof line, "%5zu %9llu %7.1f%% %10.1f%%\n", i,
                          static_cast<unsigned long long>(l.tokens),
                          100 * all / (static_cast<double>(counts.size()) * static_cast<double>(l.tokens)),
                          100 * hottestFifth(counts));
        else std::snprintf(line, sizeof line, "%5zu   ranking only     %10.1f%%\n", i, 100 * hottestFifth(counts));
        lines += line;
    }
    print(lines);
}

/// PowerInfer's counts of neurons on the card say nothing about which; they are only shown.
void reportGpuIndex(const std::filesystem::path& file, const model::Description& description) {
    const auto counts = sparse::readGpuIndexCounts(file, model::neuronCounts(description));
    std::string lines = "layer   neurons on the card\n";
    for (size_t i = 0; i < counts.size(); ++i) lines += std::to_string(i) + "\t" + std::to_string(counts[i]) + "\n";
    print(lines);
    note("which neurons they are is not taken from this file: it names those of other layers. Hearth places neurons itself.");
}

void importFrom(runtime::Model& model, const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path)) return reportGpuIndex(path, model.description());
    std::vector<std::string> notes;
    const auto ranking = sparse::readActivationFolder(path, model::neuronCounts(model.description()), &notes);
    for (const std::string& sentence : notes) note(sentence);
    ranking.save(model.identity(), model.sidecars());
    report(ranking);
}

void profile(Arguments arguments) {
    arguments.model.load.count_neurons = true;
    if (arguments.model.load.ctx == 0) arguments.model.load.ctx = 512;
    arguments.model.load.batch = std::min(arguments.model.load.batch, arguments.model.load.ctx);
    const auto model = loadModel(arguments.model);
    if (arguments.forget) sparse::Profile::remove(model->identity(), model->sidecars());
    if (!arguments.import.empty()) return importFrom(*model, arguments.import);
    const model::Description& d = model->description();
    if (d.experts.count == 0 && !d.activationHasZeros() && !d.hasZeros(0))
        throw Error("there is nothing to count in this model", "its neurons are never exactly zero, and it has no experts");
    printWarnings(*model);
    readText(*model, readTextToLearnFrom(arguments.text_file));
    if (const auto before = model->profile(); before && !before->empty() && !before->layer(0).rates) {
        note("the ranking that was kept for this model gives way to counts");
        sparse::Profile::remove(model->identity(), model->sidecars());
    }
    model->keepProfile();
    report(model->profile().value_or(sparse::Profile()));
}

}  // namespace

void addProfile(CLI::App& app) {
    auto* command = app.add_subcommand("profile", "Count how often each neuron of a model fires on a text");
    auto arguments = std::make_shared<Arguments>();
    addModelArguments(*command, arguments->model);
    command->add_option("text", arguments->text_file, "A text file (default: a text that comes with Hearth)")->type_name("TEXT");
    command->add_option("--import", arguments->import,
                        "Instead: a folder of PowerInfer's activation_N.pt, kept as a ranking, or its .gpuidx file, shown")
        ->type_name("PATH");
    command->add_flag("--forget", arguments->forget, "Count anew, without what was counted before");
    command->footer("The counts are added to those that are kept for the model; placing its neurons goes by them.");
    command->callback([arguments] { profile(*arguments); });
}

}  // namespace hearth::cli
