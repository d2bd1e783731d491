#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/model/layers/steps.h"

namespace hearth::model {
namespace {

/// Indices of the `k` greatest values, greatest first, lower index first on ties.
void topK(std::span<const float> values, std::span<uint32_t> top) {
    std::vector<uint32_t> order(values.size());
    std::iota(order.begin(), order.end(), 0u);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top.size()), order.end(),
                      [&](uint32_t a, uint32_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
    std::copy_n(order.begin(), top.size(), top.begin());
}

/// Leaves only the `keep` groups with the best sum of their two greatest values; the others become −∞.
void keepBestGroups(std::span<float> values, uint32_t groups, uint32_t keep) {
    const size_t size = values.size() / groups;
    std::vector<float> best(groups);
    for (uint32_t g = 0; g < groups; ++g) {
        float first = -INFINITY, second = -INFINITY;
        for (const float v : values.subspan(g * size, size)) {
            if (v > first) second = std::exchange(first, v);
            else second = std::max(second, v);
        }
        best[g] = first + second;
    }
    std::vector<uint32_t> kept(keep);
    topK(best, kept);
    for (uint32_t g = 0; g < groups; ++g)
        if (std::ranges::find(kept, g) == kept.end()) std::ranges::fill(values.subspan(g * size, size), -INFINITY);
}

}  // namespace

/// expert_ids_ and expert_weights_ [n, used] for all tokens, from the router's input x.
void Steps::route(uint32_t i, MatrixView<const float> x) {
    const LayerWeights& l = w_.layers[i];
    const ExpertShape& e = d_.experts;
    act3_.set(x);
    router_.resize(x.rows, e.count);
    apply({{l.router, act3_, router_.view()}});
    expert_ids_.resize(x.rows * e.used);
    expert_weights_.resize(x.rows, e.used);
    for (size_t t = 0; t < x.rows; ++t)
        chooseExperts(router_.row(t), l.router_bias, expert_ids_.data() + t * e.used, expert_weights_.row(t));
}

/// One token's choice (formats §2.1, MoE forward order): ids [used] and their weights [used].
void Steps::chooseExperts(const float* logits, const float* bias, uint32_t* ids, float* weights) {
    const ExpertShape& e = d_.experts;
    std::vector<float> probabilities(logits, logits + e.count);
    if (e.router == Router::softmax) cpu::softmax(probabilities.data(), e.count);
    if (e.router == Router::sigmoid)
        cpu::activate(cpu::Activation::sigmoid, logits, nullptr, probabilities.data(), e.count);
    std::vector<float> rank = probabilities;
    if (bias != nullptr) cpu::add(rank.data(), bias, e.count);
    if (e.groups > 0) keepBestGroups(rank, e.groups, e.groups_used);
    topK(rank, {ids, e.used});
    for (uint32_t s = 0; s < e.used; ++s) weights[s] = probabilities[ids[s]];
    if (e.router == Router::late_softmax) cpu::softmax(weights, e.used);
    if (e.normalise) {
        constexpr float least = 6.103515625e-5f;   // the smallest normal half: what the models were trained with
        float sum = 0;
        for (uint32_t s = 0; s < e.used; ++s) sum += weights[s];
        for (uint32_t s = 0; s < e.used; ++s) weights[s] /= std::max(sum, least);
    }
    if (e.scale != 1) cpu::scale(weights, e.scale, e.used);
}

void Steps::experts(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    const ExpertShape& e = d_.experts;
    const size_t n = x.rows;
    if (!d_.architecture.router_reads_layer_input) route(i, x);

    // Rows of (token, choice) sorted by expert, so that each expert's matrices are read once for all of its tokens.
    expert_begin_.assign(e.count + 1, 0);
    expert_rows_.resize(n * e.used);
    expert_slot_.resize(n * e.used);
    for (const uint32_t id : expert_ids_) ++expert_begin_[id + 1];
    std::partial_sum(expert_begin_.begin(), expert_begin_.end(), expert_begin_.begin());
    std::vector<uint32_t> next(expert_begin_.begin(), expert_begin_.end() - 1);
    for (size_t slot = 0; slot < n * e.used; ++slot) {
        const uint32_t row = next[expert_ids_[slot]]++;
        expert_rows_[row] = static_cast<uint32_t>(slot / e.used);
        expert_slot_[slot] = row;
    }
    expertProducts(i, x);
    forRows(n, d_.width * e.used, [&](size_t t) {
        float* y = out.row(t);
        std::fill_n(y, d_.width, 0.0f);
        for (uint32_t s = 0; s < e.used; ++s)
            cpu::axpy(expert_weights_.row(t)[s], expert_out_.row(expert_slot_[t * e.used + s]), y, d_.width);
    });
    if (e.shared_width > 0) sharedExpert(i, x, out);
}

/// expert_out_ [n·used, d], in the order of expert_rows_.
void Steps::expertProducts(uint32_t i, MatrixView<const float> x) {
    const LayerWeights& l = w_.layers[i];
    const ExpertShape& e = d_.experts;
    const size_t all = expert_rows_.size();
    gathered_.resize(all, d_.width);
    expert_gate_.resize(all, e.width);
    expert_up_.resize(all, e.width);
    expert_out_.resize(all, d_.width);
    forRows(all, d_.width, [&](size_t r) { std::copy_n(x.row(expert_rows_[r]), d_.width, gathered_.row(r)); });

    const auto forExperts = [&](auto&& body) {
        for (uint32_t id = 0; id < e.count; ++id)
            if (const size_t first = expert_begin_[id], count = expert_begin_[id + 1] - first; count > 0)
                body(id, first, count);
    };
    // One token's zeros are its own; many tokens together need most rows.
    const bool lists = isSparse(i) && x.rows == 1;
    const Measurements::Scope scope(measurements_, "experts");
    forExperts([&](uint32_t, size_t, size_t) {
        measurements_.read((lists ? 1 : 2) * e.width * l.expert_gate.first.row_bytes + (lists ? 0 : l.expert_down.stride));
    });
    act_.set(gathered_.view());
    products_.clear();
    forExperts([&](uint32_t id, size_t first, size_t count) {
        products_.push_back({l.expert_gate[id].weight, &act_, first, count, expert_gate_.view().slice(first, count)});
        if (!lists)
            products_.push_back({l.expert_up[id].weight, &act_, first, count, expert_up_.view().slice(first, count)});
    });
    cpu::multiply(pool_, products_);
    forExperts([&](uint32_t id, size_t first, size_t count) {
        addBias(expert_gate_.view().slice(first, count), l.expert_gate[id].bias, l.expert_gate[id].scale);
        if (!lists) addBias(expert_up_.view().slice(first, count), l.expert_up[id].bias, l.expert_up[id].scale);
    });
    cutGates(i, expert_gate_.view());
    if (lists) {
        expertNeurons(i);
    } else {
        forRows(all, e.width, [&](size_t r) {
            cpu::activate(d_.architecture.activation, expert_gate_.row(r), expert_up_.row(r), expert_up_.row(r), e.width);
        });
        act2_.set(expert_up_.view());
        products_.clear();
        forExperts([&](uint32_t id, size_t first, size_t count) {
            products_.push_back(
                {l.expert_down[id].weight, &act2_, first, count, expert_out_.view().slice(first, count)});
        });
        cpu::multiply(pool_, products_);
    }
    countExperts(i, x.rows, lists);
    forExperts([&](uint32_t id, size_t first, size_t count) {
        addBias(expert_out_.view().slice(first, count), l.expert_down[id].bias, l.expert_down[id].scale);
    });
}

/// Adds the expert that every token uses, scaled by its own gate where it has one.
void Steps::sharedExpert(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    const LayerWeights& l = w_.layers[i];
    const size_t n = x.rows, width = d_.experts.shared_width;
    act_.set(x);
    shared_gate_.resize(n, width);
    shared_up_.resize(n, width);
    shared_scale_.resize(n, 1);
    if (l.shared_router)
        apply({{l.shared_gate, act_, shared_gate_.view()},
               {l.shared_up, act_, shared_up_.view()},
               {l.shared_router, act_, shared_scale_.view()}});
    else apply({{l.shared_gate, act_, shared_gate_.view()}, {l.shared_up, act_, shared_up_.view()}});
    cutGates(i, shared_gate_.view());
    forRows(n, width, [&](size_t t) {
        cpu::activate(d_.architecture.activation, shared_gate_.row(t), shared_up_.row(t), shared_up_.row(t), width);
    });
    act2_.set(shared_up_.view());
    side_.resize(n, d_.width);
    apply({{l.shared_down, act2_, side_.view()}});
    forRows(n, d_.width, [&](size_t t) {
        float weight = 1;
        if (l.shared_router) weight = 1 / (1 + std::exp(-shared_scale_.row(t)[0]));
        cpu::axpy(weight, side_.row(t), out.row(t), d_.width);
    });
}

}  // namespace hearth::model
