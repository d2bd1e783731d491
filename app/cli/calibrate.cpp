#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/interrupt.h"
#include "app/cli/sparse_words.h"
#include "app/cli/terminal.h"
#include "engine/runtime/calibrate/activation_check.h"
#include "engine/runtime/calibrate/calibrate.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    std::string text_file, tokens_file;
    runtime::CalibrateOptions options;
    bool json = false;
};

std::vector<sparse::Choice> modesToJudge(const runtime::Model& model) {
    using sparse::Mode, sparse::Predictor;
    std::vector<sparse::Choice> modes{Mode::off};
    const auto add = [&](Mode mode, Predictor predictor, float lost_share) {
        sparse::Choice choice(mode);
        choice.predictor = predictor;
        choice.lost_share = lost_share;
        modes.push_back(choice);
    };
    if (model.description().activationHasZeros()) {
        modes.emplace_back(Mode::exact);
        if (model.description().file->find("blk.0.fc1.weight") != nullptr)
            add(Mode::predict, Predictor::file, sparse::Choice().lost_share);
        for (const Predictor p : {Predictor::low_rank, Predictor::bit_plane, Predictor::look_ahead, Predictor::oracle})
            add(Mode::predict, p, sparse::Choice().lost_share);
    }
    for (const float share : {0.05f, 0.1f, 0.2f}) add(Mode::threshold, Predictor::best, share);
    return modes;
}

void report(const std::vector<runtime::ModeFigures>& table, bool json) {
    if (json) {
        nlohmann::ordered_json rows = nlohmann::ordered_json::array();
        for (const runtime::ModeFigures& r : table)
            rows.push_back({{"sparse", sparseWord(r.mode)},
                            {"active", r.active},
                            {"decode_tps", r.tokens_per_second},
                            {"perplexity", r.evaluation.perplexity.value},
                            {"perplexity_error", r.evaluation.perplexity.error},
                            {"kl", r.evaluation.against->divergence.value},
                            {"kl_error", r.evaluation.against->divergence.error},
                            {"top_agreement", r.evaluation.against->agreement.value}});
        return print(nlohmann::ordered_json{{"table", rows}}.dump() + "\n");
    }
    char line[200];
    std::snprintf(line, sizeof line, "%-18s %8s %10s %20s %22s %10s\n", "--sparse", "active", "tokens/s", "perplexity",
                  "KL to off, nats", "same top");
    std::string lines = line;
    for (const runtime::ModeFigures& r : table) {
        const runtime::Evaluation& e = r.evaluation;
        std::snprintf(line, sizeof line, "%-18s %7.1f%% %10.2f %11.3f ± %-6.3f %12.5f ± %-7.5f %9.1f%%\n",
                      sparseWord(r.mode).c_str(), 100 * r.active, r.tokens_per_second, e.perplexity.value,
                      e.perplexity.error, e.against->divergence.value, e.against->divergence.error,
                      100 * e.against->agreement.value);
        lines += line;
    }
    lines += "exact loses nothing; predict and threshold do, by as much as stands here. oracle is the bound: a predictor that "
             "knows.\n";
    print(lines);
}

void calibrate(Arguments arguments) {
    runtime::CalibrateOptions& options = arguments.options;
    ModelArguments with_context = arguments.model;
    constexpr uint32_t window = 512;
    with_context.load.ctx = window;
    const auto model = loadModel(with_context);
    if (arguments.tokens_file.empty()) {
        printWarnings(*model);
        if (const auto doubt = runtime::activationDoubt(with_context.path, with_context.load)) note("warning: " + *doubt);
    }
    options.windows = arguments.tokens_file.empty()
                          ? runtime::windowsOf(*model, readTextToLearnFrom(arguments.text_file), window)
                          : runtime::windowsOf(parseTokens(readFile(arguments.tokens_file)), window, text::kNoToken);
    const InterruptibleWork work;
    model->pool().setStop(work.token());
    options.sidecars = &model->sidecars();
    Progress progress("calibrating");
    options.progress = [&](const runtime::CalibrateOptions::Progress& p) {
        char left[64];
        std::snprintf(left, sizeof left, "%s, %.0f s left", p.what.c_str(), p.seconds_left);
        progress.show(p.share, left);
    };
    const runtime::CalibrationText text = runtime::divideText(options.windows);
    runtime::calibrate(*model, options);
    progress.clear();
    with_context.load.sparse = sparse::Mode::threshold;   // with it come all layouts that a mode may need
    const auto judged = runtime::Model::load(with_context.path, with_context.load);
    judged->pool().setStop(work.token());
    const std::vector<sparse::Choice> modes = modesToJudge(*judged);
    Progress judging("judging");
    const auto table = runtime::judgeModes(*judged, text.judge, modes, 32, [&](size_t done) {
        judging.show(static_cast<double>(done) / static_cast<double>(modes.size()));
    });
    judging.clear();
    report(table, arguments.json);
}

}  // namespace

void addCalibrate(CLI::App& app) {
    auto* command = app.add_subcommand("calibrate", "Learn which neurons of a model matter, for --sparse predict and threshold");
    auto arguments = std::make_shared<Arguments>();
    addModelPath(*command, arguments->model.path);
    addThreads(*command, arguments->model.load.threads);
    addActivation(*command, arguments->model.load);
    command->add_option("--text-file", arguments->text_file, "What the model reads for it (default: a text that comes with Hearth)")
        ->type_name("FILE");
    command->add_option("--tokens-file", arguments->tokens_file, "Instead: token ids with commas")->type_name("FILE");
    command->add_option("--budget", arguments->options.budget, "Lost share that predictors are cut for (default 0.05)")
        ->check(CLI::Range(1e-4, 0.9).description(""))
        ->type_name("SHARE");
    command->add_option("--rank", arguments->options.most_rank, "Greatest rank of a low-rank predictor (default 512)")
        ->check(between(32, 8192))
        ->type_name("N");
    command->add_option("--predictor-price", arguments->options.prices.predictor,
                        "What a byte of a predictor costs beside a byte of the model (default 1; less where it lies on a card)")
        ->check(CLI::Range(1e-6, 1e6).description(""))
        ->type_name("RATIO");
    addJson(*command, arguments->json);
    command->footer(
        "Predictors, cuts and thresholds are kept for this model and used by --sparse predict and threshold=Q. A run that\n"
        "was interrupted goes on where it was. At the end all ways are tried on a part of the text that was kept back.");
    command->callback([arguments] { calibrate(*arguments); });
}

}  // namespace hearth::cli
