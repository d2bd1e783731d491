#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/sparse/sidecar.h"

namespace hearth::sparse {

/// How many of a model's neurons were zero on a text, counted once and kept: what Mode::automatic goes by. Neither a clock
/// nor a number of threads has a say, so that the same model is computed in the same way each time.
struct ZeroCounts {
    /// Share of zeros from which leaving them out is at least as fast as computing them: measured on planted models
    /// (tests/bench/README.md).
    static constexpr double break_even = 0.5;

    uint32_t activation = 0;             ///< number of the one for which they were counted
    std::vector<uint64_t> zeros, all;    ///< [layers] neurons, over all tokens

    double share(size_t layer) const {
        return all[layer] > 0 ? static_cast<double>(zeros[layer]) / static_cast<double>(all[layer]) : 0;
    }
    bool pays(size_t layer) const { return share(layer) >= break_even; }

    /// The counts of a model with these layers and this activation; nullopt when there are none, wrong ones are deleted.
    static std::optional<ZeroCounts> open(const std::string& identity, const Sidecars& sidecars, size_t layers,
                                          uint32_t activation);
    /// Throws Error (no space, folder not writable).
    void write(const std::string& identity, const Sidecars& sidecars) const;
};

}  // namespace hearth::sparse
