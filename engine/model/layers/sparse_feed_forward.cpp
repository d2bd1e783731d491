#include <algorithm>
#include <numeric>

#include "engine/model/layers/steps.h"

namespace hearth::model {

// Feed-forwards whose activation leaves most neurons at zero (PowerInfer, arXiv 2312.12456; sparsity §1.2). The gate decides;
// up rows and rows of the down-projection are read for the neurons that fire. What is left out is exactly zero, so `exact`
// and `all` give the same bits; only `predict` leaves out more.

/// Whether layer i runs by neuron. Without a down-projection by neuron there is nothing to skip.
bool Steps::isSparse(uint32_t i) const { return mode_ != sparse::Mode::off && d_.hasZeros(i) && w_.layers[i].down_t; }

void Steps::sparseFeedForward(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    const LayerWeights& l = w_.layers[i];
    const size_t n = x.rows, neurons = l.up.weight.rows;
    const bool predicted = mode_ == sparse::Mode::predict && l.predictor_in,
               lists = n == 1 && mode_ != sparse::Mode::all;
    const cpu::Activation activation = d_.architecture.activation;
    if (predicted) predictNeurons(i);
    up_.resize(n, neurons);
    gate_.resize(n, neurons);
    act_.set(x);
    const auto skip = [&](const float* decides, float* row) {
        for (size_t j = 0; j < neurons; ++j)
            if (predicted && decides[j] < d_.predictor_threshold) row[j] = 0;
    };
    if (!lists) {  // several tokens: together they need most rows
        const Measurements::Scope scope(measurements_, "gate, up");
        if (l.gate) apply({{l.gate, act_, gate_.view()}, {l.up, act_, up_.view()}});
        else apply({{l.up, act_, up_.view()}});
        if (l.gate && d_.shapes[i].gate_cut > 0) cutGates(gate_.view(), d_.shapes[i].gate_cut);
        forRows(n, neurons, [&](size_t t) {
            cpu::activate(activation, l.gate ? gate_.row(t) : up_.row(t), l.gate ? up_.row(t) : nullptr, up_.row(t),
                          neurons);
            if (predicted) skip(scores_.row(t), up_.row(t));
        });
    } else {
        listed_.resize(neurons);
        std::iota(listed_.begin(), listed_.end(), 0u);
        if (predicted) std::erase_if(listed_, [&](uint32_t j) { return scores_.row(0)[j] < d_.predictor_threshold; });
        return listedNeurons(i, out);
    }
    const Measurements::Scope scope(measurements_, "down by neuron");
    cpu::multiplyTransposed(pool_, l.down_t.weight, up_.view(), out, mode_ == sparse::Mode::all);
    addBias(out, l.down_t.bias, l.down_t.scale);
}

/// out [1, d] from the neurons in listed_: of those, the ones that fire.
void Steps::listedNeurons(uint32_t i, MatrixView<float> out) {
    const LayerWeights& l = w_.layers[i];
    const Linear& decides = l.gate ? l.gate : l.up;
    Matrix<float>& values = l.gate ? gate_ : up_;
    const size_t neurons = l.up.weight.rows, asked = listed_.size();
    if (asked < neurons) std::fill_n(values.row(0), neurons, 0.0f);
    {
        const Measurements::Scope scope(measurements_, l.gate ? "gate" : "up");
        applyListed(decides, act_, values.view());
    }
    const Measurements::Scope scope(measurements_, l.gate ? "neurons: up, down" : "neurons: down");
    cpu::Neurons fire;
    fire.hidden = up_.row(0);
    fire.down = l.down_t.weight;
    if (l.gate) {
        if (d_.shapes[i].gate_cut > 0) cutGates(gate_.view(), d_.shapes[i].gate_cut);
        fire.up = l.up.weight;
        fire.up_bias = l.up.bias;
        fire.up_scale = l.up.scale;
        fire.x = &act_;
        fire.activation = d_.architecture.activation;
        fire.gate = gate_.row(0);
    } else {
        cpu::activate(d_.architecture.activation, up_.row(0), nullptr, up_.row(0), neurons);
    }
    listed_.resize(neurons + 16);
    listed_.resize(cpu::listPositive(values.row(0), neurons, listed_.data()));
    fire.list = listed_;
    fire.out = out.row(0);
    cpu::multiplyNeurons(pool_, fire);
    addBias(out, l.down_t.bias, l.down_t.scale);

    const uint64_t row = fire.down.row_bytes + (l.gate ? fire.up.row_bytes : 0);
    measurements_.read(listed_.size() * row);
    measurements_.neurons.all += neurons;
    measurements_.neurons.added += listed_.size();
    measurements_.neurons.bytes_saved +=
        (neurons - listed_.size()) * row + (neurons - asked) * decides.weight.row_bytes;
}

/// scores_ [n, f] of PowerInfer's predictor: fc2 · relu(fc1 · h), h being the residual stream before the norm.
void Steps::predictNeurons(uint32_t i) {
    const Measurements::Scope scope(measurements_, "predictor");
    const LayerWeights& l = w_.layers[i];
    const size_t n = rows_.size(), rank = l.predictor_in.weight.rows;
    hidden_scores_.resize(n, rank);
    scores_.resize(n, l.predictor_out.weight.rows);
    act3_.set(x_.view());
    apply({{l.predictor_in, act3_, hidden_scores_.view()}});
    forRows(n, rank, [&](size_t t) {
        cpu::activate(cpu::Activation::relu, hidden_scores_.row(t), nullptr, hidden_scores_.row(t), rank);
    });
    act3_.set(hidden_scores_.view());
    apply({{l.predictor_out, act3_, scores_.view()}});
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
                                expert_out_.view().slice(first, count), mode_ == sparse::Mode::all);
    }
}

}  // namespace hearth::model
