#include <algorithm>
#include <numeric>

#include "engine/model/layers/steps.h"

namespace hearth::model {

// Feed-forwards whose activation leaves most neurons at zero (PowerInfer, arXiv 2312.12456; sparsity §1.2). The gate decides;
// up rows and rows of the down-projection are read for the neurons that fire. What is left out is exactly zero, so `exact`
// and `all` give the same bits; only `predict` leaves out more.

/// Whether layer i runs by neuron. Without a down-projection by neuron there is nothing to skip.
bool Steps::isSparse(uint32_t i) const {
    return choice_.mode != sparse::Mode::off && (d_.hasZeros(i) || hasThreshold(i)) && w_.layers[i].down_t;
}

void Steps::sparseFeedForward(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    const size_t neurons = w_.layers[i].up.weight.rows;
    act_.set(x);
    const bool scored = scoreBeforeGate(i, x);
    lookAhead(i);
    if (x.rows > 1 || choice_.mode == sparse::Mode::all) {   // several tokens together need most rows
        everyNeuron(i, out, scored, hasThreshold(i));
        return countNeurons(i, up_.view());
    }
    listed_.resize(neurons);
    std::iota(listed_.begin(), listed_.end(), 0u);
    if (scored) std::erase_if(listed_, [&](uint32_t j) { return scores_.row(0)[j] < 0; });
    gate_.resize(1, neurons);
    up_.resize(1, neurons);
    listedNeurons(i, out);
    checkLoss(i, out);
}

/// out [n, d] of the tokens in act_ from all neurons of layer i, but those that scores_ (as they are where `scored`, made
/// from the gate where there is a `threshold`) leave out.
void Steps::everyNeuron(uint32_t i, MatrixView<float> out, bool scored, bool threshold) {
    const LayerWeights& l = w_.layers[i];
    const size_t n = out.rows, neurons = l.up.weight.rows;
    up_.resize(n, neurons);
    gate_.resize(n, neurons);
    if (threshold) scores_.resize(n, neurons);
    {
        const Measurements::Scope scope(measurements_, "gate, up");
        if (l.gate) apply({{l.gate, act_, gate_.view()}, {l.up, act_, up_.view()}});
        else apply({{l.up, act_, up_.view()}});
        cutGates(i, l.gate ? gate_.view() : up_.view());
        forRows(n, neurons, [&](size_t t) {
            const float* decides = l.gate ? gate_.row(t) : up_.row(t);
            if (threshold) scoreByThreshold(i, t, decides);
            cpu::activate(d_.architecture.activation, decides, l.gate ? up_.row(t) : nullptr, up_.row(t), neurons);
            if (scored || threshold)
                for (size_t j = 0; j < neurons; ++j)
                    if (scores_.row(t)[j] < 0) up_.row(t)[j] = 0;
        });
    }
    const Measurements::Scope scope(measurements_, "down by neuron");
    cpu::multiplyTransposed(pool_, l.down_t.weight, up_.view(), out, choice_.mode == sparse::Mode::all);
    addBias(out, l.down_t.bias, l.down_t.scale);
}

/// out [1, d] from the neurons in listed_: of those, the ones that fire.
void Steps::listedNeurons(uint32_t i, MatrixView<float> out) {
    const LayerWeights& l = w_.layers[i];
    const Linear& decides = l.gate ? l.gate : l.up;
    Matrix<float>& values = l.gate ? gate_ : up_;
    const size_t neurons = l.up.weight.rows, asked = listed_.size();
    if (hasThreshold(i)) scores_.resize(1, neurons);
    if (asked < neurons) std::fill_n(values.row(0), neurons, 0.0f);
    {
        const Measurements::Scope scope(measurements_, l.gate ? "gate" : "up");
        applyListed(decides, act_, values.view());
    }
    const Measurements::Scope scope(measurements_, l.gate ? "neurons: up, down" : "neurons: down");
    cpu::Neurons fire;
    fire.hidden = up_.row(0);
    fire.down = l.down_t.weight;
    cutGates(i, values.view());
    if (l.gate) {
        listFiring(i, gate_.row(0));
        fire.up = l.up.weight;
        fire.up_bias = l.up.bias;
        fire.up_scale = l.up.scale;
        fire.x = &act_;
        fire.activation = d_.architecture.activation;
        fire.gate = gate_.row(0);
    } else {
        listFiring(i, up_.row(0));
        cpu::activate(d_.architecture.activation, up_.row(0), nullptr, up_.row(0), neurons);
    }
    fire.list = listed_;
    cpu::multiplyNeurons(pool_, fire, out.row(0));
    addBias(out, l.down_t.bias, l.down_t.scale);
    countListed(i);

    const uint64_t row = fire.down.row_bytes + (l.gate ? fire.up.row_bytes : 0);
    measurements_.read(listed_.size() * row);
    measurements_.neurons.all += neurons;
    measurements_.neurons.added += listed_.size();
    measurements_.neurons.bytes_saved +=
        (neurons - listed_.size()) * row + (neurons - asked) * decides.weight.row_bytes;
}

/// out [1, rows]: the rows in listed_, the others stay as they are.
void Steps::applyListed(const Linear& linear, cpu::Activations& x, MatrixView<float> out) {
    if (listed_.size() == linear.weight.rows) {
        apply({{linear, x, out}});
        return;
    }
    measurements_.read(listed_.size() * linear.weight.row_bytes);
    cpu::multiplyRows(pool_, linear.weight, x, listed_, out.row(0));
    for (const uint32_t j : listed_) {
        if (linear.scale != 1) out.row(0)[j] *= linear.scale;
        if (linear.bias != nullptr) out.row(0)[j] += linear.bias[j];
    }
}

/// expert_out_ [n·used, d] from the neurons in expert_up_, each expert's down-projection by neuron.
void Steps::expertDownByNeuron(uint32_t i) {
    const LayerWeights& l = w_.layers[i];
    for (uint32_t id = 0; id < d_.experts.count; ++id) {
        const size_t first = expert_begin_[id], count = expert_begin_[id + 1] - first;
        if (count == 0) continue;
        cpu::multiplyTransposed(pool_, l.expert_down_t[id].weight, expert_up_.view().slice(first, count),
                                expert_out_.view().slice(first, count), choice_.mode == sparse::Mode::all);
    }
}

}  // namespace hearth::model
