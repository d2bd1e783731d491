#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/sparse/mode.h"

/// Sparse modes as people write and read them.
namespace hearth::cli {

/// All that parseSparse() takes.
extern const std::string sparse_words;

/// "exact", "predict=lowrank", "threshold=0.05" ...; nullopt for anything else.
std::optional<sparse::Choice> parseSparse(std::string_view word);
std::string sparseWord(const sparse::Choice& choice);

}  // namespace hearth::cli
