#pragma once

#include <filesystem>
#include <span>

namespace hearth {

/// Physical performance cores among the `allowed` logical ones, no more than the process's CPU quota (rounded up); ≥ 1.
/// `root` is where /sys and /proc are looked for ("/" but in tests).
unsigned physicalCores(const std::filesystem::path& root, std::span<const unsigned> allowed);

}  // namespace hearth
