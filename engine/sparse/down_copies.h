#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/sparse/regrouped.h"
#include "engine/sparse/sidecar.h"

/// The regrouped copies of a model's down-projections, in a sidecar: made once, mapped at each later start.
namespace hearth::sparse {

/// The copies of one tensor's matrices (one, or one of each expert): a view into the mapped sidecar.
struct DownCopy {
    Regrouped layout;   ///< of each matrix
    uint64_t count = 1;
    std::span<const std::byte> bytes;   ///< count · layout.bytes

    std::span<const std::byte> matrix(uint64_t e) const { return bytes.subspan(e * layout.bytes, layout.bytes); }
};

/// A checksum of the copies stands in the sidecar and is compared at each open(): reading them all once costs less than the
/// first tokens, which would read most of them anyway, and a bit that flipped on the disk never reaches an answer.
class DownCopies {
public:
    using Progress = gguf::Writer::Progress;

    /// Tensors of `model` (blk.N.ffn_down.weight and blk.N.ffn_down_exps.weight, for which the file has no row per neuron)
    /// that can be regrouped.
    static std::vector<const gguf::Tensor*> candidates(const gguf::File& model);

    /// Bytes of all copies, on the disk and in memory.
    static uint64_t bytesNeeded(const gguf::File& model);

    /// Makes the sidecar. Takes memory for one matrix at a time; `progress` counts bytes written. Throws Error (no space, a
    /// damaged model file) or Stopped, asked for at each step of neurons; nothing is left behind then.
    static void prepare(const gguf::File& model, const std::string& identity, const Sidecars& sidecars,
                        std::stop_token stop = {}, const Progress& progress = {});

    /// The copies, if there is a right sidecar with all of them; else nullopt, `why_not` says why and the wrong one is gone.
    /// Throws Stopped.
    static std::optional<DownCopies> open(const gguf::File& model, const std::string& identity,
                                          const Sidecars& sidecars, std::string* why_not = nullptr,
                                          std::stop_token stop = {});

    /// The copy of a tensor of the model by its name; nullptr when it has none.
    const DownCopy* find(std::string_view tensor) const;
    /// Throws Error when the sidecar was damaged while it was mapped.
    void check() const { file_->check(); }

private:
    std::shared_ptr<const gguf::File> file_;
    std::vector<std::pair<std::string, DownCopy>> copies_;
};

}  // namespace hearth::sparse
