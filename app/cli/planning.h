#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/placement/plan.h"
#include "engine/runtime/model.h"

namespace hearth::cli {

/// Which devices a plan is made for and how much of each: shared by the commands that plan.
struct PlanningArguments {
    unsigned threads = 0;
    std::optional<uint64_t> vram;          ///< nullopt: what is free but for a margin
    std::string gpus, simulated;           ///< as typed: "cuda:0=8G,cuda:1=4G" and "rtx4090,pc-high"
    std::optional<uint64_t> main_memory;   ///< nullopt: what is free
    bool whole = false, measure = false;
};

/// --vram-budget, --gpu and --disable-gpu-index.
void addCards(CLI::App& command, PlanningArguments& arguments);
/// Those, --simulate, --budget, --reset-gpu-index, --measure and -t.
void addPlanning(CLI::App& command, PlanningArguments& arguments);

/// The devices that are there, or those that are simulated; the processor's speeds are measured for weights of `types`.
std::vector<placement::Device> planningDevices(const PlanningArguments& arguments,
                                               const std::vector<gguf::Type>& types);
/// For a model that is loaded: the devices that are there, if any can be used or one is asked for, and their budgets.
void chooseDevices(const PlanningArguments& arguments, const std::filesystem::path& path, runtime::LoadOptions& load);
/// Puts budgets, the chosen devices and the wish not to cut layers into `options`.
void applyBudgets(const PlanningArguments& arguments, const std::vector<placement::Device>& devices,
                  placement::Options& options);

}  // namespace hearth::cli
