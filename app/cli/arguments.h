#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/planning.h"
#include "engine/runtime/model.h"

/// Arguments that several commands share, under the same names everywhere.
namespace hearth::cli {

struct ModelArguments {
    std::string path;
    runtime::LoadOptions load;
    PlanningArguments planning;
};

/// MODEL as the first argument, or -m. Where it is `optional`, the starter model stands in.
void addModelPath(CLI::App& command, std::string& path, bool optional = false);
/// That, -t, -c, -b, --kv, --sparse, --activation, --vram-budget, --gpu and --disable-gpu-index.
void addModelArguments(CLI::App& command, ModelArguments& arguments, bool optional = false);
void addThreads(CLI::App& command, unsigned& threads);
void addContext(CLI::App& command, runtime::LoadOptions& load);
void addBatchSize(CLI::App& command, runtime::LoadOptions& load);
void addSparse(CLI::App& command, runtime::LoadOptions& load);
/// --activation and --relu-threshold.
void addActivation(CLI::App& command, runtime::LoadOptions& load);
/// Another option that takes such a mode.
void addSparseMode(CLI::App& command, const std::string& flag, const std::string& text,
                   std::function<void(const sparse::Choice&)> take);
/// An option that takes a size (size.h).
void addSize(CLI::App& command, const std::string& flag, std::optional<uint64_t>& bytes, const std::string& text);
/// --json
void addJson(CLI::App& command, bool& json);

/// How long to wait for what the sparse mode needs beside the file.
enum class Wait : uint8_t {
    always,      ///< until it is there, with progress: for what must be the same each time
    when_named,  ///< when the user named a mode; with `auto`, what is there already is used
    never,       ///< `auto` gets it in the background, for later answers
};

/// Loads what the arguments name (the starter model where they name none) and prints what the user should know about it
/// on standard error. Throws Error; Stopped at an interrupt while it waits.
std::shared_ptr<runtime::Model> loadModel(const ModelArguments& arguments, Wait wait = Wait::always);
/// Adds the neurons that fired to the model's profile, where they were counted; a disk that refuses is no reason to fail.
void keepProfile(runtime::Model& model);
/// The warnings of a file and of its vocabulary, on standard error.
void printWarnings(const runtime::Model& model);

/// The model that comes with Hearth: in HEARTH_DATA_DIR, where it was installed, or in the source folder. Throws Error.
std::filesystem::path starterModel();

/// Accepts whole numbers from `least` to `most`.
CLI::Validator between(int64_t least, int64_t most);
/// Wrong usage: exit code 2.
[[noreturn]] void refuseArgument(const std::string& name, const std::string& why);

}  // namespace hearth::cli
