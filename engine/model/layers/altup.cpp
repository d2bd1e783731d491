#include <algorithm>
#include <cmath>

#include "engine/model/layers/steps.h"

namespace hearth::model {

// Gemma 3n: S residual streams of which one is computed a layer while the others are predicted and corrected (AltUp,
// arXiv 2301.13310), a low-rank side branch (LAuReL, arXiv 2411.07501), and an embedding of each token for each layer.

namespace {

float length(const float* x, size_t n) { return std::sqrt(cpu::dot(x, x, n)); }

/// y brought to the length of x.
void matchLength(const float* x, float* y, size_t n) {
    constexpr float least = 1e-30f;   // a stream of zeros stays one
    cpu::scale(y, length(x, n) / std::max(length(y, n), least), n);
}

}  // namespace

/// streams_ from the embeddings in x_, and per_layer_ [n, layers·P].
void Steps::altupBegin() {
    const size_t n = rows_.size(), d = d_.width, per = d_.altup.per_layer, streams = d_.altup.streams;
    streams_.resize(streams);
    predicted_.resize(streams);
    for (size_t j = 0; j < streams; ++j) {
        streams_[j].resize(n, d);
        predicted_[j].resize(n, d);
    }
    per_layer_.resize(n, per * d_.layers);
    act_.set(x_.view());
    apply({{w_.per_layer_model_proj, act_, per_layer_.view()}});
    std::vector<float> own(per * d_.layers);
    for (size_t t = 0; t < n; ++t) {
        float* row = per_layer_.row(t);
        cpu::decodeRow(w_.per_layer_embedding.weight, static_cast<uint64_t>(tokens_[t]), own.data());
        cpu::scale(row, 1 / std::sqrt(static_cast<float>(d)), own.size());
        for (uint32_t i = 0; i < d_.layers; ++i) normRow(w_.per_layer_proj_norm, row + i * per, row + i * per, per);
        cpu::axpy(std::sqrt(static_cast<float>(per)), own.data(), row, own.size());
        cpu::scale(row, std::sqrt(0.5f), own.size());
    }
    for (size_t j = 0; j < streams; ++j) {
        if (j == d_.altup.active) {
            for (size_t t = 0; t < n; ++t) std::copy_n(x_.row(t), d, streams_[j].row(t));
            continue;
        }
        apply({{w_.altup_proj[j < d_.altup.active ? j : j - 1], act_, streams_[j].view()}});
        for (size_t t = 0; t < n; ++t) matchLength(x_.row(t), streams_[j].row(t), d);
    }
}

/// mood_ [n, S] = tanh of the router on x: what predictions and corrections depend on.
void Steps::altupMood(const LayerWeights& l, MatrixView<const float> x) {
    normRows(l.altup_router_norm, x, normed_.view());
    for (size_t t = 0; t < x.rows; ++t) cpu::scale(normed_.row(t), 1 / static_cast<float>(d_.width), d_.width);
    mood_.resize(x.rows, d_.altup.streams);
    act_.set(normed_.view());
    apply({{l.altup_router, act_, mood_.view()}});
    for (size_t t = 0; t < x.rows; ++t)
        for (size_t j = 0; j < d_.altup.streams; ++j) mood_.row(t)[j] = std::tanh(mood_.row(t)[j]);
    act3_.set(mood_.view());
}

void Steps::altupLayer(uint32_t i) {
    const LayerWeights& l = w_.layers[i];
    const size_t n = rows_.size(), d = d_.width, streams = d_.altup.streams, active = d_.altup.active,
                 per = d_.altup.per_layer;

    altupMood(l, streams_[active].view());
    coefficients_.resize(n, streams * streams);
    apply({{l.altup_predict, act3_, coefficients_.view()}});
    for (size_t t = 0; t < n; ++t)
        for (size_t j = 0; j < streams; ++j) {
            std::copy_n(streams_[j].row(t), d, predicted_[j].row(t));
            for (size_t k = 0; k < streams; ++k)
                cpu::axpy(coefficients_.row(t)[j * streams + k], streams_[k].row(t), predicted_[j].row(t), d);
        }

    // x_ = (prediction + attention branch + side branch) / √2, then the feed-forward on top.
    Matrix<float>& now = predicted_[active];
    normRows(l.attn_norm, now.view(), normed_.view());
    attention(i, Rows::normed, Rows::branch);
    side_.resize(n, l.laurel_l.weight.rows);
    act_.set(normed_.view());
    apply({{l.laurel_l, act_, side_.view()}});
    act2_.set(side_.view());
    apply({{l.laurel_r, act2_, branch2_.view()}});
    for (size_t t = 0; t < n; ++t) {
        float* x = x_.row(t);
        normRow(l.attn_post_norm, branch_.row(t), branch_.row(t), d);
        normRow(l.laurel_norm, branch2_.row(t), branch2_.row(t), d);
        std::copy_n(now.row(t), d, x);
        for (const float* part : {branch_.row(t), normed_.row(t), branch2_.row(t)}) cpu::add(x, part, d);
        cpu::scale(x, std::sqrt(0.5f), d);
    }
    normRows(l.ffn_norm, x_.view(), normed_.view());
    feedForward(i, normed_.view(), branch_.view());
    addBranch(branch_.view(), l.ffn_post_norm);

    altupMood(l, x_.view());
    coefficients_.resize(n, streams);
    apply({{l.altup_correct, act3_, coefficients_.view()}});
    for (size_t t = 0; t < n; ++t) {
        float* change = branch_.row(t);
        std::copy_n(x_.row(t), d, change);
        cpu::axpy(-1, now.row(t), change, d);
        for (size_t j = 0; j < streams; ++j) {
            std::copy_n(predicted_[j].row(t), d, streams_[j].row(t));
            cpu::axpy(coefficients_.row(t)[j] + 1, change, streams_[j].row(t), d);
        }
        std::copy_n(streams_[active].row(t), d, normed_.row(t));
        cpu::multiply(normed_.row(t), l.altup_correct_scale, d);
    }

    act_.set(normed_.view());
    per_layer_hidden_.resize(n, per);
    apply({{l.per_layer_gate, act_, per_layer_hidden_.view()}});
    for (size_t t = 0; t < n; ++t)
        cpu::activate(cpu::Activation::gelu, per_layer_hidden_.row(t), per_layer_.row(t) + i * per,
                      per_layer_hidden_.row(t), per);
    act2_.set(per_layer_hidden_.view());
    apply({{l.per_layer_proj, act2_, branch_.view()}});
    for (size_t t = 0; t < n; ++t) {
        normRow(l.per_layer_norm, branch_.row(t), branch_.row(t), d);
        for (size_t j = 0; j < streams; ++j)
            if (j != active) cpu::add(streams_[j].row(t), branch_.row(t), d);
    }
}

/// x_ = mean of all streams, each brought back to the active one's length.
void Steps::altupEnd() {
    const size_t n = rows_.size(), d = d_.width, streams = d_.altup.streams, active = d_.altup.active;
    for (size_t t = 0; t < n; ++t) std::copy_n(streams_[active].row(t), d, x_.row(t));
    for (size_t j = 0; j < streams; ++j) {
        if (j == active) continue;
        act_.set(streams_[j].view());
        apply({{w_.altup_unembd[j < active ? j : j - 1], act_, branch_.view()}});
        for (size_t t = 0; t < n; ++t) {
            matchLength(streams_[active].row(t), branch_.row(t), d);
            cpu::add(x_.row(t), branch_.row(t), d);
        }
    }
    for (size_t t = 0; t < n; ++t) cpu::scale(x_.row(t), 1 / static_cast<float>(streams), d);
}

}  // namespace hearth::model
