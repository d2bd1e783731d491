#include "app/cli/reply_arguments.h"

#include "app/cli/arguments.h"
#include "app/cli/terminal.h"

namespace hearth::cli {

void addReplyArguments(CLI::App& command, ReplyArguments& arguments) {
    command.add_option("--system", arguments.system, "The system message")->type_name("TEXT");
    command.add_flag("--no-think", arguments.no_thinking, "Ask a thinking model to answer at once");
    command.add_flag("--show-thinking", arguments.show_thinking, "Show what the model thinks before it answers");
    command
        .add_option_function<std::string>(
            "--template-variable",
            [&arguments](const std::string& word) {
                const size_t equals = word.find('=');
                if (equals == 0 || equals == std::string::npos)
                    refuseArgument("--template-variable", "\"" + word + "\" is not like NAME=VALUE");
                const std::string value = word.substr(equals + 1);
                const auto json = nlohmann::ordered_json::parse(value, nullptr, false);
                arguments.template_variables[word.substr(0, equals)] =
                    json.is_discarded() ? nlohmann::ordered_json(value) : json;
            },
            "A variable of the chat template; VALUE is JSON or a text. May be repeated")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->trigger_on_parse()
        ->expected(1)
        ->type_name("NAME=VALUE");
    addGenerationArguments(command, arguments.generation);
}

runtime::ReplyOptions replyOptions(const ReplyArguments& arguments, runtime::Model& model) {
    runtime::ReplyOptions options{.generation = generationOptions(arguments.generation, model),
                                  .template_variables = arguments.template_variables};
    if (arguments.no_thinking) options.enable_thinking = false;
    return options;
}

void ReplyPrinter::print(const text::Piece& piece) {
    const bool thinking = piece.tag == text::Tag::Thinking;
    if (thinking && !show_thinking_) return;
    if (thinking != dimmed_) {
        if (dimmed_ && line_open_) cli::print("\n\n");
        printDimmed(dimmed_ = thinking);
    }
    cli::print(piece.text);
    line_open_ = !piece.text.ends_with('\n');
}

void ReplyPrinter::finish() {
    if (dimmed_) printDimmed(dimmed_ = false);
    if (line_open_ && outputIsTerminal()) cli::print("\n");
    line_open_ = false;
}

}  // namespace hearth::cli
