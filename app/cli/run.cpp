#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/interrupt.h"
#include "app/cli/reply_arguments.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    ReplyArguments reply;
    std::optional<std::string> prompt, prompt_file;
    bool raw = false, parse_special = false;
};

std::string promptOf(const Arguments& arguments) {
    if (arguments.prompt) return *arguments.prompt;
    return arguments.prompt_file ? readFile(*arguments.prompt_file) : readStandardInput();
}

/// Continues the prompt as it is, without a template.
runtime::EndReason continuePrompt(const std::shared_ptr<runtime::Model>& model, const Arguments& arguments,
                                  const std::string& prompt) {
    const runtime::GenerationOptions options = generationOptions(arguments.reply.generation, *model);
    const std::vector<text::Token> tokens =
        model->tokenizer().encode(prompt, {.add_special = true, .parse_special = arguments.parse_special});
    runtime::Session session(model);
    runtime::Generation generation(session, tokens, options, print);
    runtime::Generation* const all[] = {&generation};
    const InterruptibleWork work;
    runtime::runAll(*model, all, work.token());
    if (outputIsTerminal()) print("\n");
    return generation.reason();
}

/// Answers the prompt as a message of a conversation.
runtime::EndReason answerPrompt(const std::shared_ptr<runtime::Model>& model, const Arguments& arguments,
                                const std::string& prompt) {
    const runtime::ReplyOptions options = replyOptions(arguments.reply, *model);
    runtime::Conversation conversation(model);
    for (const std::string& sentence : conversation.notes()) note("note: " + sentence);
    if (!arguments.reply.system.empty())
        conversation.messages().push_back({.role = "system", .content = arguments.reply.system});
    conversation.messages().push_back({.role = "user", .content = prompt});
    ReplyPrinter printer(arguments.reply.show_thinking);
    const InterruptibleWork work;
    const runtime::Reply reply =
        conversation.reply(options, [&printer](const text::Piece& piece) { printer.print(piece); }, work.token());
    printer.finish();
    for (const std::string& sentence : reply.notes) note("note: " + sentence);
    return reply.reason;
}

void run(const Arguments& arguments) {
    if (arguments.raw && !arguments.reply.system.empty())
        refuseArgument("--system", "a raw continuation has no messages");
    const std::string prompt = promptOf(arguments);
    const auto model = loadModel(arguments.model);
    printWarnings(*model);
    const runtime::EndReason reason =
        arguments.raw ? continuePrompt(model, arguments, prompt) : answerPrompt(model, arguments, prompt);
    keepProfile(*model);
    if (reason == runtime::EndReason::stopped) throw Stopped();
    // Whoever asked for so many tokens knows why the answer ends.
    if (reason == runtime::EndReason::context_full) note(endSentence(reason));
}

}  // namespace

void addRun(CLI::App& app) {
    auto* command = app.add_subcommand("run", "Answer one prompt and print only the answer");
    auto arguments = std::make_shared<Arguments>();
    addModelArguments(*command, arguments->model, true);
    arguments->model.load.count_neurons = true;
    auto* prompt = command->add_option("-p,--prompt", arguments->prompt, "The prompt (default: standard input)")
                       ->type_name("TEXT");
    command->add_option("--prompt-file", arguments->prompt_file, "A file with the prompt")
        ->type_name("FILE")
        ->excludes(prompt);
    auto* raw = command->add_flag("--raw", arguments->raw, "Continue the text as it is, without a chat template");
    command
        ->add_flag("--parse-special", arguments->parse_special,
                   "With --raw: names of control tokens become control tokens")
        ->needs(raw);
    addReplyArguments(*command, arguments->reply);
    command->callback([arguments] { run(*arguments); });
}

}  // namespace hearth::cli
