#include <algorithm>
#include <cmath>

#include "engine/model/layers/steps.h"

namespace hearth::model {

float queryTemperature(const Description& d, uint32_t position) {
    if (d.q_temperature == 0) return 1;
    const double periods = std::floor(static_cast<double>(position) / d.q_temperature_original);
    return static_cast<float>(1 + d.q_temperature * std::log(1 + periods));
}

void Steps::projectOutput(uint32_t i, Rows to) {
    const Measurements::Scope scope(measurements_, "attention output");
    act2_.set(heads_.view());
    apply({{w_.layers[i].attn_output, act2_, view(to)}});
}

/// heads_ [n, H·v].
void Steps::attendHeads(uint32_t i) {
    const LayerShape& s = d_.shapes[i];
    heads_.resize(rows_.size(), size_t{s.heads} * s.value_width);
    attendHeads(i, q_.view(), queryStride(i), heads_.view());
}

/// Values from one query head to the next: twice the width where each head brings its gate along.
size_t Steps::queryStride(uint32_t i) const { return w_.layers[i].q.weight.rows / d_.shapes[i].heads; }

void Steps::projectHeads(uint32_t i, MatrixView<const float> x) {
    const Measurements::Scope scope(measurements_, "queries, keys, values");
    const LayerShape& s = d_.shapes[i];
    const LayerWeights& l = w_.layers[i];
    act_.set(x);
    q_.resize(x.rows, l.q.weight.rows);
    if (!l.k) {   // keys and values are those of an earlier layer
        apply({{l.q, act_, q_.view()}});
        return;
    }
    k_.resize(x.rows, size_t{s.kv_heads} * s.key_width);
    v_.resize(x.rows, size_t{s.kv_heads} * s.value_width);
    apply({{l.q, act_, q_.view()}, {l.k, act_, k_.view()}, {l.v, act_, v_.view()}});
}

/// Norms, rope, and the query's temperature; then keys and values go into the cache.
void Steps::rotateAndStore(uint32_t i) {
    const Measurements::Scope scope(measurements_, "rotation, KV store");
    const LayerShape& s = d_.shapes[i];
    const LayerWeights& l = w_.layers[i];
    const size_t q_stride = queryStride(i), key_row = cpu::kvRowBytes(rows_[0].sequence->kvType(), s.key_width),
                 value_row = cpu::kvRowBytes(rows_[0].sequence->kvType(), s.value_width);
    forRows(rows_.size(), q_.cols() + k_.cols(), [&](size_t t) {
        float* q = q_.row(t);
        normHeads(l.q_norm, q, s.heads, s.key_width, q_stride);
        rotateHeads(i, t, q, s.heads, q_stride, s.key_width);
        if (const float factor = queryTemperature(d_, positions_[t]); factor != 1) cpu::scale(q, factor, q_.cols());
        if (!l.k) return;
        float *k = k_.row(t), *v = v_.row(t);
        normHeads(l.k_norm, k, s.kv_heads, s.key_width, s.key_width);
        rotateHeads(i, t, k, s.kv_heads, s.key_width, s.key_width);
        if (d_.architecture.altup)   // Gemma 3n norms values too, without weights
            for (uint32_t h = 0; h < s.kv_heads; ++h)
                cpu::rmsNorm(v + h * s.value_width, nullptr, v + h * s.value_width, s.value_width, d_.norm_eps);
        KvLayer& cache = rows_[t].sequence->kv_[i];
        const size_t cell = rows_[t].position % cache.cells;
        const cpu::KvType type = rows_[t].sequence->kvType();
        for (uint32_t h = 0; h < s.kv_heads; ++h) {
            cpu::kvStore(type, k + h * s.key_width, cache.keys.data() + cell * cache.key_bytes + h * key_row,
                         s.key_width);
            cpu::kvStore(type, v + h * s.value_width, cache.values.data() + cell * cache.value_bytes + h * value_row,
                         s.value_width);
        }
    });
}

/// A norm of each head, or of all of them as one vector where the weights are that long. Absent: nothing.
void Steps::normHeads(const NormWeights& norm, float* heads, size_t count, size_t width, size_t stride) const {
    if (!norm) return;
    if (norm.size == count * width && count > 1) {
        cpu::rmsNorm(heads, norm.weight, heads, norm.size, d_.norm_eps);
        return;
    }
    for (size_t h = 0; h < count; ++h)
        cpu::rmsNorm(heads + h * stride, norm.weight, heads + h * stride, width, d_.norm_eps);
}

void Steps::rotateHeads(uint32_t i, size_t t, float* heads, size_t count, size_t stride, size_t width) {
    if (!d_.shapes[i].rotated) return;
    const RopeTable& table = d_.shapes[i].windowed ? window_rope_ : rope_;
    const size_t n_rot = std::min<size_t>(table.rotated(), width);
    for (size_t h = 0; h < count; ++h)
        cpu::rope(heads + h * stride, table.cosines(t), table.sines(t), n_rot, d_.architecture.rope);
}

/// The cells that a token attends to, its own included, without queries and output.
cpu::Attention Steps::cellsOf(uint32_t i, const TokenRow& row) const {
    const LayerShape& s = d_.shapes[i];
    const KvLayer& cache = row.sequence->kv_[s.kv_layer];
    cpu::Attention job;
    job.type = row.sequence->kvType();
    job.key_width = s.key_width;
    job.value_width = s.value_width;
    job.keys = cache.keys.data();
    job.key_stride = cache.key_bytes;
    job.values = cache.value_bytes > 0 ? cache.values.data() : cache.keys.data();
    job.value_stride = cache.value_bytes > 0 ? cache.value_bytes : cache.key_bytes;
    const size_t last = row.position, first = s.windowed && last + 1 > d_.window ? last + 1 - d_.window : 0;
    const size_t begin = first % cache.cells, count = last + 1 - first;
    job.begin[0] = begin;
    job.end[0] = std::min(begin + count, cache.cells);
    job.end[1] = count - (job.end[0] - begin);
    job.scale = d_.attention_scale;
    job.softcap = d_.attention_softcap;
    return job;
}

/// All heads of all tokens; a piece of work is some heads of one token that share a key/value head.
void Steps::attendHeads(uint32_t i, MatrixView<const float> q, size_t q_stride, MatrixView<float> out) {
    const Measurements::Scope scope(measurements_, "attention");
    constexpr size_t heads_a_piece = 8;
    const LayerShape& s = d_.shapes[i];
    const LayerWeights& l = w_.layers[i];
    const size_t group = s.heads / s.kv_heads, parts = (group + heads_a_piece - 1) / heads_a_piece;
    const size_t key_row = cpu::kvRowBytes(rows_[0].sequence->kvType(), s.key_width),
                 value_row = cpu::kvRowBytes(rows_[0].sequence->kvType(), s.value_width);
    for (const TokenRow& row : rows_) measurements_.read((row.position + 1) * s.kv_heads * (key_row + value_row));
    const auto piece = [&](size_t p) {
        const size_t t = p / (s.kv_heads * parts), kv_head = p / parts % s.kv_heads, part = p % parts;
        const size_t head = kv_head * group + part * heads_a_piece;
        cpu::Attention job = cellsOf(i, rows_[t]);
        job.heads = std::min(heads_a_piece, group - part * heads_a_piece);
        job.keys += kv_head * key_row;
        job.values += kv_head * value_row;
        job.q = q.row(t) + head * q_stride;
        job.q_stride = q_stride;
        job.sinks = l.sinks != nullptr ? l.sinks + head : nullptr;
        job.out = out.row(t) + head * s.value_width;
        job.out_stride = s.value_width;
        cpu::attend(job);
    };
    // A short text on a small model: waking the pool would take longer than the work.
    constexpr size_t worth_sharing = 1 << 16;
    const size_t pieces = rows_.size() * s.kv_heads * parts;
    if ((rows_.back().position + 1) * rows_.size() * s.heads * s.key_width >= worth_sharing) {
        pool_.run(pieces, piece);
    } else {
        for (size_t p = 0; p < pieces; ++p) piece(p);
    }
}

/// Each head × sigmoid of the gate that lies behind its query (qwen35).
void Steps::gateHeads(uint32_t i) {
    const LayerShape& s = d_.shapes[i];
    forRows(rows_.size(), heads_.cols(), [&](size_t t) {
        for (uint32_t h = 0; h < s.heads; ++h) {
            float *gate = q_.row(t) + (2 * h + 1) * size_t{s.key_width},
                  *head = heads_.row(t) + h * size_t{s.value_width};
            cpu::activate(cpu::Activation::sigmoid, gate, nullptr, gate, s.value_width);
            cpu::multiply(head, gate, s.value_width);
        }
    });
}

}  // namespace hearth::model
