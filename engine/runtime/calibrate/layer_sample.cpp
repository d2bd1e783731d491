#include "engine/runtime/calibrate/layer_sample.h"

#include <algorithm>
#include <cmath>

namespace hearth::runtime {
namespace {

double length(std::span<const float> values) {
    double squares = 0;
    for (const float v : values) squares += double{v} * v;
    return std::sqrt(squares);
}

/// [f] lengths of the neurons' columns of the down-projection.
std::vector<double> downLengths(const model::LayerWeights& l) {
    const bool by_neuron = !l.down;
    const model::Linear& down = by_neuron ? l.down_t : l.down;
    std::vector<double> squares(by_neuron ? down.weight.rows : down.weight.cols);
    std::vector<float> row(down.weight.cols);
    for (uint64_t r = 0; r < down.weight.rows; ++r) {
        cpu::decodeRow(down.weight, r, row.data());
        for (size_t c = 0; c < row.size(); ++c) squares[by_neuron ? r : c] += double{row[c]} * row[c];
    }
    for (double& s : squares) s = std::sqrt(s) * std::abs(down.scale);
    return squares;
}

}  // namespace

LayerSample::LayerSample(const model::Description& d, const model::LayerWeights& l, ThreadPool& pool,
                         MatrixView<const float> x)
    : l_(l), pool_(pool), x_(x.rows, x.cols), activated_(x.rows, l.up.weight.rows), hidden_(x.rows, l.up.weight.rows) {
    for (size_t t = 0; t < x.rows; ++t) std::copy_n(x.row(t), x.cols, x_.row(t));
    act_.set(x_.view());
    const size_t f = l.up.weight.rows;
    Matrix<float> up = times(l.up);
    if (l.gate) decides_ = times(l.gate);
    else decides_ = up;
    if (d.relu_threshold > 0 && d.activationHasZeros())
        for (size_t t = 0; t < x.rows; ++t)
            for (float& g : decides_.view().rowSpan(t))
                if (g < d.relu_threshold) g = 0;
    const cpu::Activation activation = d.architecture.activation;
    std::vector<double> factor(f);
    for (size_t t = 0; t < x.rows; ++t) {
        cpu::activate(activation, decides_.row(t), nullptr, activated_.row(t), f);
        cpu::activate(activation, decides_.row(t), l.gate ? up.row(t) : nullptr, hidden_.row(t), f);
        for (size_t j = 0; l.gate && j < f; ++j) {
            const double u = activation == cpu::Activation::drelu ? std::max(0.0f, up.row(t)[j]) : up.row(t)[j];
            factor[j] += u * u;
        }
    }
    const std::vector<double> lengths = downLengths(l);
    weights_.resize(f);
    for (size_t j = 0; j < f; ++j)
        weights_[j] = static_cast<float>(
            lengths[j] * (l.gate ? std::sqrt(factor[j] / static_cast<double>(x.rows)) : 1.0));

    const size_t checked = std::min(kChecked, tokens());
    stride_ = tokens() / checked;
    missing_.resize(checked, f);
    for (size_t s = 0; s < checked; ++s) std::copy_n(hidden_.row(s * stride_), f, missing_.row(s));
    const Matrix<float> all = down(missing_.view());
    for (size_t s = 0; s < checked; ++s) output_.push_back(length(all.view().rowSpan(s)));
}

double LayerSample::firing() const {
    size_t count = 0;
    for (size_t t = 0; t < tokens(); ++t)
        count += neurons() - static_cast<size_t>(std::ranges::count(hidden_.view().rowSpan(t), 0.0f));
    return static_cast<double>(count) / static_cast<double>(tokens() * neurons());
}

Matrix<float> LayerSample::times(const model::Linear& linear) {
    Matrix<float> out(tokens(), linear.weight.rows);
    cpu::multiply(pool_, {linear.weight, &act_, 0, 0, out.view()});
    for (size_t t = 0; t < out.rows(); ++t) {
        if (linear.scale != 1) cpu::scale(out.row(t), linear.scale, out.cols());
        if (linear.bias != nullptr) cpu::add(out.row(t), linear.bias, out.cols());
    }
    return out;
}

Matrix<float> LayerSample::times(const model::Linear& linear, MatrixView<const float> values) {
    Matrix<float> out(values.rows, linear.weight.rows);
    act2_.set(values);
    cpu::multiply(pool_, {linear.weight, &act2_, 0, 0, out.view()});
    if (linear.scale != 1)
        for (size_t t = 0; t < out.rows(); ++t) cpu::scale(out.row(t), linear.scale, out.cols());
    return out;
}

Matrix<float> LayerSample::down(MatrixView<const float> hidden) {
    if (l_.down) return times(l_.down, hidden);
    Matrix<float> out(hidden.rows, l_.down_t.weight.cols);
    cpu::multiplyTransposed(pool_, l_.down_t.weight, hidden, out.view());
    if (l_.down_t.scale != 1)
        for (size_t t = 0; t < out.rows(); ++t) cpu::scale(out.row(t), l_.down_t.scale, out.cols());
    return out;
}

double LayerSample::lostShareOfMissing() {
    const Matrix<float> lost = down(missing_.view());
    double sum = 0;
    for (size_t s = 0; s < lost.rows(); ++s)
        if (output_[s] > 0) sum += length(lost.view().rowSpan(s)) / output_[s];
    return sum / static_cast<double>(lost.rows());
}

}  // namespace hearth::runtime
