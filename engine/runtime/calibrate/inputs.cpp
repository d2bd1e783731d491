#include "engine/runtime/calibrate/inputs.h"

#include <algorithm>

#include "engine/base/half.h"

namespace hearth::runtime {
namespace {

/// No observer is left behind when a pass throws.
struct ObserverScope {
    model::Forward& forward;
    ~ObserverScope() { forward.setObserver({}); }
};

}  // namespace

LayerInputs::LayerInputs(Model& model, std::span<const std::vector<text::Token>> windows,
                         const std::vector<bool>& wanted, const std::function<void(size_t)>& progress)
    : width_(model.description().width), layers_(model.description().layers) {
    const ObserverScope scope{model.forward()};
    model.forward().setObserver([&](uint32_t layer, MatrixView<const float> x) {
        if (!wanted[layer]) return;
        std::vector<uint16_t>& kept = layers_[layer];
        const size_t at = kept.size();
        kept.resize(at + x.rows * x.cols);
        // Values beyond half precision's range are as good as its end.
        for (size_t t = 0; t < x.rows; ++t)
            for (size_t c = 0; c < x.cols; ++c)
                kept[at + t * x.cols + c] = floatToHalf(std::clamp(x.row(t)[c], -65504.0f, 65504.0f));
    });
    for (size_t w = 0; w < windows.size(); ++w) {
        const auto sequence = model.newSequence();
        const std::span<const text::Token> tokens = windows[w];
        for (size_t at = 0; at < tokens.size();) {
            const size_t n = std::min<size_t>(model.forward().maxBatch(), tokens.size() - at);
            const model::Part part{sequence.get(), tokens.subspan(at, n), model::Part::Logits::none};
            model.forward().run({&part, 1}, {});
            at += n;
        }
        tokens_ += tokens.size();
        if (progress) progress(w + 1);
    }
}

Matrix<float> LayerInputs::rows(size_t layer, size_t first, size_t last) const {
    Matrix<float> out(last - first, width_);
    const uint16_t* from = layers_[layer].data() + first * width_;
    for (size_t v = 0; v < (last - first) * width_; ++v) out.data()[v] = halfToFloat(from[v]);
    return out;
}

void LayerInputs::forget(size_t layer) { std::vector<uint16_t>().swap(layers_[layer]); }

}  // namespace hearth::runtime
