#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/interrupt.h"
#include "app/cli/sparse_words.h"
#include "app/cli/terminal.h"
#include "engine/runtime/evaluate.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    std::string text_file;
    std::optional<sparse::Choice> against;
    bool json = false;
};

void report(const runtime::Evaluation& e, const Arguments& arguments) {
    if (arguments.json) {
        nlohmann::ordered_json json{{"perplexity", e.perplexity.value},
                                    {"error", e.perplexity.error},
                                    {"tokens", e.tokens},
                                    {"windows", e.windows},
                                    {"ctx", e.window}};
        if (e.against)
            json["against"] = {{"sparse", sparseWord(*arguments.against)},
                               {"perplexity", e.against->perplexity.value},
                               {"error", e.against->perplexity.error},
                               {"kl", e.against->divergence.value},
                               {"kl_error", e.against->divergence.error},
                               {"top_agreement", e.against->agreement.value},
                               {"top_agreement_error", e.against->agreement.error}};
        return print(json.dump() + "\n");
    }
    char text[320];
    std::snprintf(text, sizeof text, "%.4f ± %.4f  (%zu tokens scored in %zu windows of %u)\n", e.perplexity.value,
                  e.perplexity.error, e.tokens, e.windows, e.window);
    std::string lines = text;
    if (e.against) {
        std::snprintf(text, sizeof text,
                      "%s: %.4f ± %.4f\nKL to it: %.6f ± %.6f nats a token\nsame top token: %.2f ± %.2f %%\n",
                      sparseWord(*arguments.against).c_str(), e.against->perplexity.value, e.against->perplexity.error,
                      e.against->divergence.value, e.against->divergence.error, 100 * e.against->agreement.value,
                      100 * e.against->agreement.error);
        lines += text;
    }
    print(lines);
}

void perplexity(const Arguments& arguments) {
    const std::string text = readFile(arguments.text_file);
    ModelArguments with_context = arguments.model;
    if (with_context.load.ctx == 0) with_context.load.ctx = 512;
    with_context.load.batch = std::min(with_context.load.batch, with_context.load.ctx);
    const auto model = loadModel(with_context);
    printWarnings(*model);
    const auto windows = runtime::windowsOf(*model, text, with_context.load.ctx);
    const InterruptibleWork work;
    model->pool().setStop(work.token());
    Progress progress("perplexity");
    const runtime::Evaluation evaluation = runtime::evaluate(
        *model, windows, arguments.model.load.sparse, arguments.against, [&](const runtime::Evaluation& so_far) {
            char words[48];
            std::snprintf(words, sizeof words, "%.3f ± %.3f", so_far.perplexity.value, so_far.perplexity.error);
            progress.show(static_cast<double>(so_far.windows) / static_cast<double>(windows.size()), words);
        });
    progress.clear();
    report(evaluation, arguments);
}

}  // namespace

void addPerplexity(CLI::App& app) {
    auto* command = app.add_subcommand("perplexity", "Measure how well a model predicts a text");
    auto arguments = std::make_shared<Arguments>();
    addModelArguments(*command, arguments->model);
    command->add_option("--text-file", arguments->text_file, "The text")->required()->type_name("FILE");
    addSparseMode(*command, "--against", "Compare with this mode: also its perplexity, KL and how often the top token agrees",
                  [arguments](const sparse::Choice& choice) { arguments->against = choice; });
    addJson(*command, arguments->json);
    command->footer(
        "The text is cut into windows of --ctx tokens (default 512), one after another; what is left at its end is "
        "not\n"
        "used. In each window the model reads the first half, and the second half is scored.");
    command->callback([arguments] { perplexity(*arguments); });
}

}  // namespace hearth::cli
