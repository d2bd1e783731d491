#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/sparse/profile.h"

/// What PowerInfer keeps beside a model (powerinfer §1.4, §1.5).
namespace hearth::sparse {

/// A folder with activation_N.pt for each layer N: numbers that rank a layer's neurons and are no rates of firing. The layer
/// is the number in the name (PowerInfer's own exporter sorts the names as words and takes another layer's file from the
/// third on). `neurons` [layers]. Other files are named in `notes`. Throws Error: a layer is missing or there twice, a file is
/// none or of another size, a number is negative.
Profile readActivationFolder(const std::filesystem::path& folder, std::span<const uint64_t> neurons,
                             std::vector<std::string>* notes = nullptr);

/// MODEL.generated.gpuidx: how many neurons of each layer were to lie on the card, and nothing else: which ones is not to be
/// trusted (they come from other layers' statistics). Throws Error when it does not fit the layers.
std::vector<uint64_t> readGpuIndexCounts(const std::filesystem::path& file, std::span<const uint64_t> neurons);

}  // namespace hearth::sparse
