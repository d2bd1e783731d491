#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/generation_arguments.h"
#include "engine/runtime/conversation.h"

/// What run, batch and chat let the user say about a reply: sampling, template variables, thinking.
namespace hearth::cli {

struct ReplyArguments {
    GenerationArguments generation;
    std::string system;
    bool no_thinking = false, show_thinking = false;
    nlohmann::ordered_json template_variables = nlohmann::ordered_json::object();
};

void addReplyArguments(CLI::App& command, ReplyArguments& arguments);

/// Throws Error: a grammar or schema that cannot be honoured.
runtime::ReplyOptions replyOptions(const ReplyArguments& arguments, runtime::Model& model);

/// Prints a reply as it comes: answers as they are, thinking dimmed or not at all.
class ReplyPrinter {
public:
    explicit ReplyPrinter(bool show_thinking) : show_thinking_(show_thinking) {}
    void print(const text::Piece& piece);
    /// Ends what is dimmed, and the line where the answer left one open and a terminal shows it.
    void finish();

private:
    bool show_thinking_, dimmed_ = false, line_open_ = false;
};

}  // namespace hearth::cli
