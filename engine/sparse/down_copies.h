#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/sparse/regrouped.h"
#include "engine/sparse/sidecar.h"

/// The regrouped copies of a model's down-projections, in a sidecar: made once, mapped at each later start.
namespace hearth::sparse {

/// The copy of one down-projection: a view into the mapped sidecar.
struct DownCopy {
    Regrouped layout;
    std::span<const std::byte> bytes;
};

class DownCopies {
public:
    /// Tensors of `model` (blk.N.ffn_down.weight, for which the file has no row per neuron) that can be regrouped.
    static std::vector<const gguf::Tensor*> candidates(const gguf::File& model);

    /// Bytes on the disk that prepare() will take.
    static uint64_t bytesNeeded(const gguf::File& model);

    /// Makes the sidecar. Takes memory for one copy at a time; `progress` counts bytes written. Throws Error (no space, a
    /// damaged model file) or Stopped, asked for at each step of neurons; nothing is left behind then.
    static void prepare(const gguf::File& model, const std::string& identity, const Sidecars& sidecars,
                        std::stop_token stop = {}, const gguf::Writer::Progress& progress = {});

    /// The copies, if there is a right sidecar with all of them; else nullopt, `why_not` says why and the wrong one is gone.
    static std::optional<DownCopies> open(const gguf::File& model, const std::string& identity,
                                          const Sidecars& sidecars, std::string* why_not = nullptr);

    /// The copy of a tensor of the model by its name; nullptr when it has none.
    const DownCopy* find(std::string_view tensor) const;

private:
    std::shared_ptr<const gguf::File> file_;
    std::vector<std::pair<std::string, DownCopy>> copies_;
};

}  // namespace hearth::sparse
