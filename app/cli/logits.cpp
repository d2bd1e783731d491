#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/interrupt.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"
#include "engine/runtime/evaluate.h"
#include "engine/runtime/session.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    std::string tokens_file, out;
};

void writeLogits(const Arguments& arguments) {
    const std::vector<int32_t> tokens = parseTokens(readFile(arguments.tokens_file));
    if (tokens.empty()) throw Error("nothing to compute", arguments.tokens_file + " holds no token ids");
    const auto model = loadModel(arguments.model);
    const auto sequence = model->newSequence();
    OutputFile out(arguments.out);
    const InterruptibleWork work;
    model->pool().setStop(work.token());
    Progress progress("computing");
    const uint32_t vocabulary = model->description().vocabulary;
    const size_t most = runtime::mostWithLogits(*model);
    Matrix<float> logits;
    for (size_t at = 0; at < tokens.size(); at += most) {
        progress.show(static_cast<double>(at) / static_cast<double>(tokens.size()));
        const size_t n = std::min(most, tokens.size() - at);
        const model::Part part{sequence.get(), std::span(tokens).subspan(at, n), model::Part::Logits::all};
        logits.resize(n, vocabulary);
        model->forward().run({&part, 1}, logits.view());
        out.write(std::as_bytes(std::span(logits.data(), n * vocabulary)));
    }
    out.finish();
}

}  // namespace

void addLogits(CLI::App& app) {
    auto* command = app.add_subcommand("logits", "Write the logits of every token of a prompt");
    auto arguments = std::make_shared<Arguments>();
    addModelArguments(*command, arguments->model);
    command->add_option("--tokens-file", arguments->tokens_file, "Token ids with commas")
        ->required()
        ->type_name("FILE");
    command->add_option("--out", arguments->out, "float32 values: as many as the vocabulary has, for each token")
        ->required()
        ->type_name("FILE");
    command->callback([arguments] { writeLogits(*arguments); });
}

}  // namespace hearth::cli
