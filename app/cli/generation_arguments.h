#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/runtime/generation.h"

/// How an answer is chosen and when it ends: the arguments of run, batch and chat.
namespace hearth::cli {

struct GenerationArguments {
    sampling::Parameters sampling;
    std::set<std::string> set_by_user;   ///< fields of `sampling`; a model's recommendations do not touch them
    int64_t max_tokens = -1;
    std::vector<std::string> stop;
    std::optional<std::string> grammar_file, schema_file;
    runtime::Overflow overflow = runtime::Overflow::stop;
};

void addGenerationArguments(CLI::App& command, GenerationArguments& arguments);

/// What the arguments and the model's recommendations (general.sampling.*) come to; without --seed a new seed each call.
/// Throws Error: a grammar or schema that cannot be honoured.
runtime::GenerationOptions generationOptions(const GenerationArguments& arguments, runtime::Model& model);

/// Why an answer ended, as a sentence for the user; empty when it ended by itself.
std::string endSentence(runtime::EndReason reason);
/// "41 tokens at 12.3 tokens/s; prompt of 30 tokens (10 known) at 140 tokens/s".
std::string speedSentence(const runtime::GenerationStatistics& statistics);

}  // namespace hearth::cli
