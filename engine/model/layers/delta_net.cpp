#include <algorithm>
#include <cmath>

#include "engine/model/layers/steps.h"

namespace hearth::model {

// Gated delta net (Yang et al., arXiv 2412.06464), in the form of formats §2.4: a short causal convolution over q, k and v,
// then a recurrent memory [state, state] for each value head. Tokens of a sequence go one after another; channels and
// heads are spread over the pool.

void Steps::deltaNet(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    const DeltaNetShape& s = d_.delta_net;
    const LayerWeights& l = w_.layers[i];
    const size_t n = x.rows;
    size_t index = 0;
    for (uint32_t j = 0; j < i; ++j) index += d_.shapes[j].recurrent;

    act_.set(x);
    channels_.resize(n, s.channels());
    z_.resize(n, s.inner);
    beta_.resize(n, s.value_heads);
    alpha_.resize(n, s.value_heads);
    apply({{l.delta_qkv, act_, channels_.view()},
           {l.delta_gate, act_, z_.view()},
           {l.delta_beta, act_, beta_.view()},
           {l.delta_alpha, act_, alpha_.view()}});
    deltaConvolution(i, index);
    heads_.resize(n, s.inner);
    deltaHeads(i, index);
    forRows(n, s.inner, [&](size_t t) {
        for (uint32_t h = 0; h < s.value_heads; ++h) {
            float* head = heads_.row(t) + h * s.state;
            cpu::rmsNorm(head, l.delta_norm.weight, head, s.state, d_.norm_eps);
        }
        cpu::activate(cpu::Activation::silu, z_.row(t), heads_.row(t), heads_.row(t), s.inner);
    });
    act2_.set(heads_.view());
    apply({{l.delta_out, act2_, out}});
}

/// convolved_ [n, channels] = silu of the causal convolution; the last inputs stay in the sequence. Queries and keys are
/// brought to length 1 (queries to 1/√state).
void Steps::deltaConvolution(uint32_t i, size_t index) {
    constexpr size_t channels_a_piece = 256;
    const DeltaNetShape& s = d_.delta_net;
    const float* kernel = w_.layers[i].delta_conv;
    const size_t channels = s.channels(), past = s.conv_width - 1,
                 pieces = (channels + channels_a_piece - 1) / channels_a_piece;
    convolved_.resize(rows_.size(), channels);
    pool_.run(pieces, [&](size_t piece) {
        const size_t begin = piece * channels_a_piece, end = std::min(channels, begin + channels_a_piece);
        for (size_t t = 0; t < rows_.size(); ++t) {
            float* held = rows_[t].sequence->recurrent_.conv.data() + index * past * channels;  // [past, channels]
            const float* in = channels_.row(t);
            for (size_t c = begin; c < end; ++c) {
                float sum = 0;
                for (size_t j = 0; j < past; ++j) sum += held[j * channels + c] * kernel[c * s.conv_width + j];
                convolved_.row(t)[c] = sum + in[c] * kernel[c * s.conv_width + past];
                for (size_t j = 0; j + 1 < past; ++j) held[j * channels + c] = held[(j + 1) * channels + c];
                if (past > 0) held[(past - 1) * channels + c] = in[c];
            }
        }
    });
    const float query_scale = 1 / std::sqrt(static_cast<float>(s.state));
    forRows(rows_.size(), channels, [&](size_t t) {
        float* row = convolved_.row(t);
        cpu::activate(cpu::Activation::silu, row, nullptr, row, channels);
        for (uint32_t h = 0; h < 2 * s.key_heads; ++h) {
            float* head = row + h * s.state;
            const float length = std::max(std::sqrt(cpu::dot(head, head, s.state)), d_.norm_eps);
            cpu::scale(head, (h < s.key_heads ? query_scale : 1.0f) / length, s.state);
        }
    });
}

/// heads_ [n, inner]: the memory's answers.
void Steps::deltaHeads(uint32_t i, size_t index) {
    const DeltaNetShape& s = d_.delta_net;
    const LayerWeights& l = w_.layers[i];
    const size_t key_dim = size_t{s.key_heads} * s.state, memory = size_t{s.state} * s.state;
    pool_.run(s.value_heads, [&](size_t h) {
        for (size_t t = 0; t < rows_.size(); ++t) {
            const float* row = convolved_.row(t);
            const size_t key_head = h % s.key_heads;
            const float rate = 1 / (1 + std::exp(-beta_.row(t)[h])), raw = alpha_.row(t)[h] + l.delta_dt[h];
            const float softplus = raw > 20 ? raw : std::log1p(std::exp(raw));
            float* state = rows_[t].sequence->recurrent_.memory.data() + (index * s.value_heads + h) * memory;
            cpu::deltaStep(state, row + key_head * s.state, row + key_dim + key_head * s.state,
                           row + 2 * key_dim + h * s.state, std::exp(softplus * l.delta_a[h]), rate,
                           heads_.row(t) + h * s.state, s.state);
        }
    });
}

}  // namespace hearth::model
