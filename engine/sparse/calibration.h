#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/sparse/sidecar.h"

/// What calibrating a model found out about its neurons, in a sidecar: predictors of the gate, and what may be cut.
namespace hearth::sparse {

/// Sizes of a layer's dense feed-forward; neurons = 0: it has none.
struct LayerSize {
    uint64_t neurons = 0, width = 0;   ///< f, d
};

/// An estimate of each neuron's gate and where it is cut: neuron j is worth its gate when estimate[j] ≥ cuts[j].
/// Low rank: estimate = out · (in · x). A copy of the gate: estimate = in · x, without `out`.
struct EstimatorView {
    const gguf::Tensor* in = nullptr;    ///< [rank, d], or [f, d] without `out`
    const gguf::Tensor* out = nullptr;   ///< [f, rank]
    std::span<const float> cuts;         ///< [f]
    std::span<const float> spreads;      ///< [f] ≥ 0: deviation of the gate from its estimate, in units of the estimate
    float lost = 0;                      ///< share of the output that was lost on the calibration's text (CETT)
    float flagged = 1;                   ///< share of neurons that were let through there
    explicit operator bool() const { return in != nullptr; }
};

/// What was found out about one layer; whatever does not apply to it is empty.
struct LayerView {
    EstimatorView low_rank;     ///< from the layer's own input
    EstimatorView look_ahead;   ///< from the input of the layer before
    EstimatorView bit_plane;
    /// [f]: root mean square of what multiplies the neuron's activation (its up value; 1 without a gate), times the length
    /// of its row of the down-projection: |act| · weight is about what the neuron adds (CETT, arXiv 2402.03804, §3.2).
    std::span<const float> weights;
    /// (lost share, cut of |act| · weight), both ascending.
    std::vector<std::pair<float, float>> thresholds;
    float firing = 1;           ///< share of neurons whose activation is not zero

    /// The cut for a lost share, straight between points and from (0, 0); the last point's beyond them.
    float thresholdFor(float lost_share) const;
};

class Calibration {
public:
    /// The calibration, if there is a right one that fits the sizes; else nullptr, and `why_not` says why.
    static std::shared_ptr<const Calibration> open(const std::string& identity, const Sidecars& sidecars,
                                                   std::span<const LayerSize> layers, std::string* why_not = nullptr);

    const LayerView& layer(size_t i) const { return layers_[i]; }
    size_t layers() const { return layers_.size(); }

private:
    friend class CalibrationParts;
    std::shared_ptr<const gguf::File> file_;
    std::vector<LayerView> layers_;
};

/// An estimator in the making.
struct Estimator {
    struct Matrix {
        gguf::Type type = gguf::Type::F32;
        uint64_t rows = 0, cols = 0;
        std::vector<std::byte> data;
    };
    Matrix in, out;
    std::vector<float> cuts, spreads;
    float lost = 0, flagged = 1;
};

struct LayerFindings {
    std::optional<Estimator> low_rank, look_ahead, bit_plane;
    std::vector<float> weights;
    std::vector<std::pair<float, float>> thresholds;
    float firing = 1;
};

/// A calibration in the making: each layer is a sidecar of its own until all are there, so that one that was stopped goes on
/// where it was. `settings` names everything that decides about the findings; parts made with others are not used.
class CalibrationParts {
public:
    CalibrationParts(std::string identity, const Sidecars& sidecars, std::span<const LayerSize> layers,
                     std::string settings);

    bool has(size_t layer) const;
    /// A layer that has() reports, to be read.
    LayerView view(size_t layer, std::shared_ptr<const gguf::File>& keep) const;
    /// Throws Error (no space, folder not writable).
    void write(size_t layer, const LayerFindings& findings) const;
    /// Makes the calibration of the parts and deletes them. Throws Error, also when a part is missing.
    void finish() const;

private:
    std::shared_ptr<const gguf::File> open(size_t layer) const;
    SidecarKind kindOf(size_t layer) const;

    std::string identity_;
    const Sidecars& sidecars_;
    std::vector<LayerSize> layers_;
    std::string settings_;
};

}  // namespace hearth::sparse
