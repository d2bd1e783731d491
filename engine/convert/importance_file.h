#pragma once

#include <filesystem>

#include "engine/convert/quantize_file.h"

namespace hearth::convert {

/// Reads an importance matrix as llama.cpp's tools write it today: a GGUF file of type "imatrix" with, for each matrix
/// NAME, the sums of the squared inputs NAME.in_sum2 [columns, matrices] and how many inputs there were, NAME.counts
/// [1, matrices], both F32. The importance of a column is the mean square; experts that saw nothing count evenly.
/// Throws Error: another kind of file, tensors that do not fit together, values that are negative or not finite.
Importance readImportance(const std::filesystem::path& path);

}  // namespace hearth::convert
