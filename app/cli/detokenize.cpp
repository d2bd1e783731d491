#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/terminal.h"
#include "engine/text/tokenizer.h"

namespace hearth::cli {
namespace {

struct Arguments {
    std::string model;
    std::optional<std::string> tokens, tokens_file;
    bool control = false, inside = false, json = false;
};

std::string tokensOf(const Arguments& arguments) {
    if (arguments.tokens) return *arguments.tokens;
    return arguments.tokens_file ? readFile(*arguments.tokens_file) : readStandardInput();
}

void detokenize(const Arguments& arguments) {
    const text::Tokenizer tokenizer(std::make_shared<text::Vocabulary>(gguf::File::open(arguments.model)));
    std::vector<text::Token> tokens = parseTokens(tokensOf(arguments));
    // The mark of the beginning is no text; what follows it still begins the text.
    if (!arguments.control && !tokens.empty() && tokens.front() == tokenizer.vocabulary().special().bos)
        tokens.erase(tokens.begin());
    const std::string text =
        tokenizer.decode(tokens, {.control_tokens = arguments.control, .at_text_start = !arguments.inside});
    if (arguments.json)
        return print(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    print(text);
    if (outputIsTerminal()) print("\n");
}

}  // namespace

void addDetokenize(CLI::App& app) {
    auto* command = app.add_subcommand("detokenize", "Show the text of tokens");
    auto arguments = std::make_shared<Arguments>();
    addModelPath(*command, arguments->model);
    auto* tokens =
        command->add_option("tokens,--tokens", arguments->tokens, "Token ids with commas (default: standard input)")
            ->type_name("IDS");
    command->add_option("--tokens-file", arguments->tokens_file, "A file with token ids")
        ->type_name("FILE")
        ->excludes(tokens);
    command->add_flag("--control", arguments->control, "Write out control tokens by their names");
    command->add_flag("--inside", arguments->inside,
                      "The tokens are from inside a text: keep the space at their beginning");
    addJson(*command, arguments->json);
    command->callback([arguments] { detokenize(*arguments); });
}

}  // namespace hearth::cli
