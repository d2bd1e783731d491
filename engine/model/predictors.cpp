#include "engine/model/predictors.h"

namespace hearth::model {
namespace {

Linear linear(const gguf::Tensor* t) {
    if (t == nullptr) return {};
    return {{t->type, t->data, t->ne[1], t->ne[0], t->rowBytes()}, nullptr, 1};
}

NeuronEstimator estimator(const sparse::EstimatorView& view) {
    return {linear(view.in), linear(view.out), view.cuts.data(), view.spreads.data()};
}

}  // namespace

Predictors::Predictors(std::shared_ptr<const sparse::Calibration> calibration) : calibration_(std::move(calibration)) {
    for (size_t i = 0; i < calibration_->layers(); ++i) {
        const sparse::LayerView& view = calibration_->layer(i);
        layers_.push_back({estimator(view.low_rank), estimator(view.look_ahead), estimator(view.bit_plane),
                           view.weights.empty() ? nullptr : view.weights.data(), &view});
    }
}

std::vector<uint64_t> neuronCounts(const Description& d) {
    std::vector<uint64_t> counts(d.layers);
    for (uint32_t i = 0; i < d.layers; ++i)
        counts[i] = d.expertLayer(i) ? uint64_t{d.experts.count} * d.experts.width : d.shapes[i].feed_forward;
    return counts;
}

std::vector<sparse::LayerSize> layerSizes(const Description& d) {
    std::vector<sparse::LayerSize> sizes(d.layers);
    for (uint32_t i = 0; i < d.layers; ++i)
        if (!d.expertLayer(i)) sizes[i] = {d.shapes[i].feed_forward, d.width};
    return sizes;
}

}  // namespace hearth::model
