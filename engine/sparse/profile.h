#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/sparse/sidecar.h"

/// How often each neuron of a model fires, counted while it runs and kept for the next start.
namespace hearth::sparse {

class Profile {
public:
    struct Layer {
        /// [f], or in a layer of experts [E, width]: tokens for which the neuron's value was not zero.
        std::vector<uint64_t> fired;
        std::vector<uint64_t> chosen;   ///< [E]: tokens that an expert was used for
        uint64_t tokens = 0;            ///< that went through the layer while it was counted
        /// Whether `fired` counts firing; false: it ranks neurons against each other, and nothing more (PowerInfer's
        /// activation files count something else, powerinfer §1.5).
        bool rates = true;
        bool operator==(const Layer&) const = default;
    };

    Profile() = default;
    explicit Profile(size_t layers) : layers_(layers) {}

    Layer& layer(size_t i) { return layers_[i]; }
    const Layer& layer(size_t i) const { return layers_[i]; }
    size_t layers() const { return layers_.size(); }
    bool empty() const;
    bool operator==(const Profile&) const = default;

    /// Counts the neurons of a row, the first of which is number `first`, that fired: value ≠ 0.
    static void count(Layer& layer, size_t first, std::span<const float> values);
    /// The same for the values that a list names; others are not looked at.
    static void count(Layer& layer, size_t first, std::span<const float> values, std::span<const uint32_t> list);

    /// Adds the counts of another run. Layers of other sizes, and rankings beside counts, are left as they are; false if there
    /// was one.
    bool merge(const Profile& other);

    /// The profile of a model, if there is a right one. Its sizes are those of whoever wrote it: fits() tells.
    static std::optional<Profile> open(const std::string& identity, const Sidecars& sidecars,
                                       std::string* why_not = nullptr);
    /// Replaces the model's profile. Throws Error.
    void save(const std::string& identity, const Sidecars& sidecars) const;
    static void remove(const std::string& identity, const Sidecars& sidecars);

    /// Whether layer i has `neurons` neurons (all experts' together) or none that were counted, for each i.
    bool fits(std::span<const uint64_t> neurons) const;

private:
    std::vector<Layer> layers_;
};

}  // namespace hearth::sparse
