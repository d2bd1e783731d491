#pragma once

#include "engine/model/weights.h"

namespace hearth::runtime {

/// A dense feed-forward on a sample of tokens: what it read and what each neuron did, computed as the forward pass does.
class LayerSample {
public:
    /// For layers without a cut of their own (LayerShape::gate_cut). `x` [n, d] is copied. Throws Stopped.
    LayerSample(const model::Description& description, const model::LayerWeights& weights,
                ThreadPool& pool, MatrixView<const float> x);

    size_t tokens() const { return x_.rows(); }
    size_t neurons() const { return hidden_.cols(); }
    /// [n, f]: what the activation is put on: gates, or ups where there is no gate.
    MatrixView<const float> decides() const { return decides_.view(); }
    /// [n, f]: what the activation made of it, before it is multiplied.
    MatrixView<const float> activated() const { return activated_.view(); }
    /// [n, f]: what each neuron puts into the down-projection.
    MatrixView<const float> hidden() const { return hidden_.view(); }
    /// [f]: sparse::LayerView::weights.
    const std::vector<float>& weights() const { return weights_; }
    double firing() const;   ///< share of hidden values that are not zero

    /// [n, rows]: a weight times the sample's inputs, and values [n, cols] times a weight.
    Matrix<float> times(const model::Linear& linear);
    Matrix<float> times(const model::Linear& linear, MatrixView<const float> values);

    /// Mean over tokens of ‖down(what is missing)‖ / ‖down(all)‖ (CETT), where missing(t, j) says that neuron j of token t is
    /// left out. On every `stride`-th token.
    template <typename Missing>
    double lostShare(const Missing& missing) {
        for (size_t s = 0; s < missing_.rows(); ++s) {
            const size_t t = s * stride_;
            for (size_t j = 0; j < neurons(); ++j) missing_.row(s)[j] = missing(t, j) ? hidden_.row(t)[j] : 0.0f;
        }
        return lostShareOfMissing();
    }

private:
    static constexpr size_t kChecked = 96;   // tokens whose output is computed
    double lostShareOfMissing();
    Matrix<float> down(MatrixView<const float> hidden);

    const model::LayerWeights& l_;
    ThreadPool& pool_;
    Matrix<float> x_, decides_, activated_, hidden_, missing_;
    cpu::Activations act_, act2_;
    std::vector<float> weights_;
    std::vector<double> output_;   // [checked] lengths of the whole output
    size_t stride_ = 1;
};

}  // namespace hearth::runtime
