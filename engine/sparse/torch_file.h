#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

/// Vectors of whole numbers as PyTorch saves them, read without PyTorch.
namespace hearth::sparse {

/// A file that torch.save() made of one 1-D tensor of 64- or 32-bit integers: a zip of stored entries with a pickle, of which
/// only what such a tensor needs is understood (nothing in it is ever called), and the numbers. Throws Error for anything else:
/// compressed, cut off, other classes, sizes that do not agree, more than 64 MiB.
std::vector<int64_t> readTorchIntegers(const std::filesystem::path& path);

}  // namespace hearth::sparse
