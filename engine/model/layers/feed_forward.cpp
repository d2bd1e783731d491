#include <algorithm>
#include <cmath>

#include "engine/model/layers/steps.h"

namespace hearth::model {

void Steps::feedForward(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    if (observer_ && !d_.expertLayer(i)) observer_(i, x);
    if (d_.expertLayer(i)) experts(i, x, out);
    else if (isSparse(i)) sparseFeedForward(i, x, out);
    else denseFeedForward(i, x, out);
}

void Steps::denseFeedForward(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    hiddenOf(i, x);
    countNeurons(i, up_.view());
    down(i, out);
}

/// up_ [n, f] = act(gate) · up of all neurons, or act(up).
void Steps::hiddenOf(uint32_t i, MatrixView<const float> x) {
    const LayerWeights& l = w_.layers[i];
    const size_t n = x.rows, neurons = l.up.weight.rows;
    act_.set(x);
    up_.resize(n, neurons);
    if (l.gate) gate_.resize(n, neurons);
    {
        const Measurements::Scope scope(measurements_, "gate, up");
        if (l.gate) apply({{l.gate, act_, gate_.view()}, {l.up, act_, up_.view()}});
        else apply({{l.up, act_, up_.view()}});
    }
    cutGates(i, l.gate ? gate_.view() : up_.view());
    const bool threshold = hasThreshold(i);
    if (threshold) scores_.resize(n, neurons);
    forRows(n, neurons, [&](size_t t) {
        if (threshold) scoreByThreshold(i, t, l.gate ? gate_.row(t) : up_.row(t));
        if (l.gate) cpu::activate(d_.architecture.activation, gate_.row(t), up_.row(t), up_.row(t), neurons);
        else cpu::activate(d_.architecture.activation, up_.row(t), nullptr, up_.row(t), neurons);
    });
}

/// out [n, d] from the neurons in up_: as the file has it, by neuron where it has nothing else.
void Steps::down(uint32_t i, MatrixView<float> out) {
    const LayerWeights& l = w_.layers[i];
    const Measurements::Scope scope(measurements_, "down");
    if (l.down) {
        act2_.set(up_.view());
        apply({{l.down, act2_, out}});
    } else {
        measurements_.read(l.down_t.weight.rows * l.down_t.weight.row_bytes);
        cpu::multiplyTransposed(pool_, l.down_t.weight, up_.view(), out);
        addBias(out, l.down_t.bias, l.down_t.scale);
    }
}

/// What layer i's activation is put on: a cut that the model or the user has beside the activation.
void Steps::cutGates(uint32_t i, MatrixView<float> gate) {
    if (d_.shapes[i].gate_cut > 0) cutBelowDeviation(gate, d_.shapes[i].gate_cut);
    if (d_.relu_threshold > 0 && d_.activationHasZeros())
        forRows(gate.rows, gate.cols, [&](size_t t) {
            for (float& g : gate.rowSpan(t))
                if (g < d_.relu_threshold) g = 0;
        });
}

/// Gemma 3n's sparsity: gates keep what exceeds mean + cut · standard deviation of their row (n − 1 in the variance).
void Steps::cutBelowDeviation(MatrixView<float> gate, float cut) {
    forRows(gate.rows, gate.cols, [&](size_t t) {
        const std::span<float> row = gate.rowSpan(t);
        double sum = 0, squares = 0;
        for (const float g : row) sum += g;
        const double mean = sum / static_cast<double>(row.size());
        for (const float g : row) squares += (g - mean) * (g - mean);
        const double deviation = row.size() > 1 ? std::sqrt(squares / static_cast<double>(row.size() - 1)) : 0;
        const auto threshold = static_cast<float>(mean + cut * deviation);
        for (float& g : row) g = std::max(g - threshold, 0.0f);
    });
}

}  // namespace hearth::model
