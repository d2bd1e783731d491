#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/runtime/model.h"

namespace hearth::runtime {

/// What each dense feed-forward of a model read while it computed a text, in half precision.
class LayerInputs {
public:
    /// Runs the windows, each as a text of its own, and keeps the inputs of the layers that are `wanted` [layers].
    /// `progress`: windows done. Throws Error, Stopped.
    LayerInputs(Model& model, std::span<const std::vector<text::Token>> windows, const std::vector<bool>& wanted,
                const std::function<void(size_t)>& progress);

    size_t tokens() const { return tokens_; }
    /// Rows [first, last) of layer i as float32 [last − first, d].
    Matrix<float> rows(size_t layer, size_t first, size_t last) const;
    void forget(size_t layer);

private:
    size_t width_ = 0, tokens_ = 0;
    std::vector<std::vector<uint16_t>> layers_;   // [layers][tokens · d]
};

}  // namespace hearth::runtime
