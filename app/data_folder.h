#pragma once

#include <filesystem>

namespace hearth::app {

/// A file that is installed beside the programs, by its path below share/hearth: in HEARTH_DATA_DIR, where the program was
/// installed, or in the source folder. Throws Error when it is in none of them.
std::filesystem::path dataFile(const std::filesystem::path& name);

/// The model that comes with Hearth.
std::filesystem::path starterModel();

}  // namespace hearth::app
