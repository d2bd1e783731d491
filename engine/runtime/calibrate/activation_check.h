#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/runtime/model.h"

namespace hearth::runtime {

/// Whether a paragraph of plain English speaks against the activation that a model is taken to have: a sentence when it is
/// less than 0.8 times as surprising with another one (relu for silu and gelu, silu for the others), else nothing. Models
/// whose file says what they have, and those without a vocabulary, are not asked. Some seconds. Throws Error, Stopped.
std::optional<std::string> activationDoubt(const std::filesystem::path& path, const LoadOptions& options);

}  // namespace hearth::runtime
