#include <algorithm>

#include "engine/model/layers/steps.h"

namespace hearth::model {
namespace {

/// Rows from `first` on, with their biases.
Linear rowsFrom(const Linear& all, uint64_t first) {
    return {all.weight.slice(first, all.weight.rows - first), all.bias != nullptr ? all.bias + first : nullptr,
            all.scale};
}

/// Columns from `first` on, which begins a block; without the bias.
Linear columnsFrom(const Linear& all, uint64_t first) {
    Linear some{all.weight, nullptr, all.scale};
    some.weight.data += gguf::rowBytes(all.weight.type, first);
    some.weight.cols -= first;
    return some;
}

}  // namespace

void Steps::coldNeurons(const ColdNeurons& cold, MatrixView<const float> x, MatrixView<float> out) {
    act_.set(x);
    if (cold.listed) coldListed(cold, out);
    else coldRange(cold, x.rows, out);
}

void Steps::coldRange(const ColdNeurons& cold, size_t n, MatrixView<float> out) {
    const LayerWeights& l = w_.layers[cold.layer];
    const Linear up = rowsFrom(l.up, cold.first);
    const size_t neurons = up.weight.rows;
    up_.resize(n, neurons);
    gate_.resize(n, neurons);
    if (l.gate) {
        const Linear gate = rowsFrom(l.gate, cold.first);
        apply({{gate, act_, gate_.view()}, {up, act_, up_.view()}});
    } else {
        apply({{up, act_, up_.view()}});
    }
    forRows(n, neurons, [&](size_t t) {
        cpu::activate(d_.architecture.activation, l.gate ? gate_.row(t) : up_.row(t), l.gate ? up_.row(t) : nullptr,
                      up_.row(t), neurons);
    });
    if (l.down_t) {
        cpu::multiplyTransposed(pool_, rowsFrom({l.down_t.weight}, cold.first).weight, up_.view(), out);
        addBias(out, nullptr, l.down_t.scale);
    } else {
        const Linear down = columnsFrom(l.down, cold.first);
        act2_.set(up_.view());
        apply({{down, act2_, out}});
    }
}

/// Of the listed neurons those that fire; where the device has computed their gates, all of them do.
void Steps::coldListed(const ColdNeurons& cold, MatrixView<float> out) {
    const LayerWeights& l = w_.layers[cold.layer];
    const size_t neurons = l.up.weight.rows;
    gate_.resize(1, neurons);
    up_.resize(1, neurons);
    Matrix<float>& decides = l.gate ? gate_ : up_;
    std::fill_n(decides.row(0), neurons, 0.0f);
    listed_.assign(cold.list.begin(), cold.list.end());
    if (!cold.gates.empty()) {
        for (size_t k = 0; k < listed_.size(); ++k) decides.row(0)[listed_[k]] = cold.gates[k];
    } else {
        applyListed(l.gate ? l.gate : l.up, act_, decides.view());
        if (!l.gate) cpu::activate(d_.architecture.activation, up_.row(0), nullptr, up_.row(0), neurons);
        listed_.resize(neurons + 16);
        listed_.resize(cpu::listPositive(decides.row(0), neurons, listed_.data()));
    }
    cpu::Neurons fire;
    fire.list = listed_;
    fire.hidden = up_.row(0);
    fire.out = out.row(0);
    fire.down = l.down_t.weight;
    if (l.gate) {
        fire.up = l.up.weight;
        fire.up_bias = l.up.bias;
        fire.up_scale = l.up.scale;
        fire.x = &act_;
        fire.activation = d_.architecture.activation;
        fire.gate = gate_.row(0);
    }
    cpu::multiplyNeurons(pool_, fire);
    addBias(out, nullptr, l.down_t.scale);
}

}  // namespace hearth::model
