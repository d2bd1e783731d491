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
    std::optional<std::string> text, text_file;
    bool parse_special = false, no_bos = false, json = false;
};

std::string textOf(const Arguments& arguments) {
    if (arguments.text) return *arguments.text;
    return arguments.text_file ? readFile(*arguments.text_file) : readStandardInput();
}

void tokenize(const Arguments& arguments) {
    const text::Tokenizer tokenizer(std::make_shared<text::Vocabulary>(gguf::File::open(arguments.model)));
    for (const std::string& warning : tokenizer.vocabulary().warnings()) note("warning: " + warning);
    const std::vector<text::Token> tokens = tokenizer.encode(
        textOf(arguments), {.add_special = !arguments.no_bos, .parse_special = arguments.parse_special});
    if (arguments.json) return print(nlohmann::json(tokens).dump() + "\n");
    std::string lines;
    for (const text::Token t : tokens) {
        const std::string piece(tokenizer.decodeOne(t, true));
        lines += std::to_string(t) + "\t" +
                 nlohmann::json(piece).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }
    print(lines);
}

}  // namespace

void addTokenize(CLI::App& app) {
    auto* command = app.add_subcommand("tokenize", "Show the tokens of a text");
    auto arguments = std::make_shared<Arguments>();
    addModelPath(*command, arguments->model);
    auto* text =
        command->add_option("-p,--prompt", arguments->text, "The text (default: standard input)")->type_name("TEXT");
    command->add_option("--text-file", arguments->text_file, "A file with the text")->type_name("FILE")->excludes(text);
    command->add_flag("--parse-special", arguments->parse_special, "Names of control tokens become control tokens");
    command->add_flag("--no-bos", arguments->no_bos,
                      "Add no tokens that the vocabulary asks for at the beginning or end");
    addJson(*command, arguments->json);
    command->callback([arguments] { tokenize(*arguments); });
}

}  // namespace hearth::cli
