#include <algorithm>
#include <numeric>

#include "engine/model/layers/steps.h"

namespace hearth::model {

// Feed-forwards whose activation leaves most neurons at zero (PowerInfer, arXiv 2312.12456; sparsity §1.2). The gate decides;
// up rows and rows of the down-projection are read for the neurons that fire. What is left out is exactly zero, so `exact`
// and `all` give the same bits; only `predict` leaves out more.

/// Whether layer i runs by neuron. Without a down-projection by neuron there is nothing to skip.
bool Steps::isSparse(uint32_t i) const {
    const LayerWeights& l = w_.layers[i];
    if (choice_.mode == sparse::Mode::off || !(d_.hasZeros(i) || hasThreshold(i))) return false;
    if (choice_.mode == sparse::Mode::automatic && i < dense_layers_.size() && dense_layers_[i]) return false;
    return l.down_t || l.down_regrouped || l.expert_down_t || l.expert_down_regrouped;
}

void Steps::sparseFeedForward(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    const size_t neurons = w_.layers[i].up.weight.rows;
    act_.set(x);
    const bool scored = scoreBeforeGate(i, x);
    lookAhead(i);
    if (x.rows > 1) {   // several tokens: together they need most rows
        hiddenOf(i, x);
        if (scored || hasThreshold(i))
            forRows(x.rows, neurons, [&](size_t t) {
                for (size_t j = 0; j < neurons; ++j)
                    if (scores_.row(t)[j] < 0) up_.row(t)[j] = 0;
            });
        countNeurons(i, up_.view());
        return down(i, out);
    }
    up_.resize(1, neurons);
    gate_.resize(1, neurons);
    listed_.resize(neurons);
    std::iota(listed_.begin(), listed_.end(), 0u);
    if (scored) std::erase_if(listed_, [&](uint32_t j) { return scores_.row(0)[j] < 0; });
    listedNeurons(i, out);
    countListed(i);
    checkLoss(i, out);
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
    fire.out = out.row(0);
    fire.down = l.down_t.weight;
    if (!l.down_t) fire.regrouped = l.down_regrouped;
    cutGates(i, values.view());
    const bool threshold = hasThreshold(i);
    if (threshold) {
        scores_.resize(1, neurons);
        scoreByThreshold(i, 0, values.row(0));
    }
    if (l.gate) {
        fire.up = l.up.weight;
        fire.up_bias = l.up.bias;
        fire.up_scale = l.up.scale;
        fire.x = &act_;
        fire.activation = d_.architecture.activation;
        fire.gate = gate_.row(0);
    } else {
        cpu::activate(d_.architecture.activation, up_.row(0), nullptr, up_.row(0), neurons);
    }
    listFiring(threshold ? scores_.row(0) : values.row(0), neurons, listed_);
    fire.list = listed_;
    fire.everything = choice_.mode == sparse::Mode::all;
    readNeurons({&fire, 1});
    const Linear& down = l.down_t ? l.down_t : l.down;
    addBias(out, down.bias, down.scale);
    measurements_.neurons.bytes_saved += (neurons - asked) * decides.weight.row_bytes;
}

/// The neurons whose value is above zero; in `all` mode, and when a layer is checked, every one.
void Steps::listFiring(const float* values, size_t neurons, std::vector<uint32_t>& list) const {
    list.resize(neurons + 16);
    if (choice_.mode == sparse::Mode::all || checking_) {
        list.resize(neurons);
        std::iota(list.begin(), list.end(), 0u);
    } else {
        list.resize(cpu::listPositive(values, neurons, list.data()));
    }
}

/// Multiplies, and counts what was read of up and down, and what was not.
void Steps::readNeurons(std::span<const cpu::Neurons> all) {
    const uint64_t added = cpu::multiplyNeurons(pool_, all);
    uint64_t neurons = 0, listed = 0, groups = 0;
    for (const cpu::Neurons& n : all) {
        neurons += n.neurons();
        listed += n.list.size();
        if (!n.regrouped) continue;
        for (size_t i = 0; i < n.list.size(); ++i)
            groups += i == 0 || n.list[i] / n.regrouped.group != n.list[i - 1] / n.regrouped.group;
    }
    // All sets of a layer have the same shapes.
    const cpu::Neurons& one = all.front();
    const uint64_t up = one.up.row_bytes, down = one.down.data != nullptr ? one.down.row_bytes : one.regrouped.code_row_bytes;
    uint64_t shared = 0, shared_all = 0;   // rows of scales
    if (one.regrouped) {
        shared = groups * one.regrouped.scale_row_bytes;
        shared_all = neurons / one.regrouped.group * one.regrouped.scale_row_bytes;
    }
    const uint64_t read = listed * up + added * down + shared;
    measurements_.read(read);
    measurements_.neurons.all += neurons;
    measurements_.neurons.added += added;
    measurements_.neurons.bytes_saved += neurons * (up + down) + shared_all - read;
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

/// expert_out_ [used, d] of one token whose gates are in expert_gate_ [used, width] and whose input is in act_: each
/// chosen expert's neurons that fire, all experts in one hand-out.
void Steps::expertNeurons(uint32_t i) {
    const LayerWeights& l = w_.layers[i];
    const size_t width = d_.experts.width;
    std::vector<cpu::Neurons> all;
    expert_listed_.resize(expert_rows_.size());
    for (uint32_t id = 0; id < d_.experts.count; ++id)
        for (size_t r = expert_begin_[id]; r < expert_begin_[id + 1]; ++r) {
            listFiring(expert_gate_.row(r), width, expert_listed_[r]);
            const Linear up = l.expert_up[id];
            cpu::Neurons& fire = all.emplace_back();
            fire.list = expert_listed_[r];
            fire.everything = choice_.mode == sparse::Mode::all;
            fire.up = up.weight;
            fire.up_bias = up.bias;
            fire.up_scale = up.scale;
            fire.x = &act_;
            fire.x_row = r;
            fire.activation = d_.architecture.activation;
            fire.gate = expert_gate_.row(r);
            fire.hidden = expert_up_.row(r);
            fire.out = expert_out_.row(r);
            if (l.expert_down_t) fire.down = l.expert_down_t[id].weight;
            else fire.regrouped = l.expert_down_regrouped[id];
        }
    readNeurons(all);
}

}  // namespace hearth::model
