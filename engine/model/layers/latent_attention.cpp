#include <algorithm>

#include "engine/model/layers/steps.h"

namespace hearth::model {

// Latent attention (DeepSeek-V2, arXiv 2405.04434, §2.1), absorbed: the cache keeps one compressed row a token, keys and
// values of all heads are linear in it, so their matrices move over to the query and to the output.

void Steps::latentAttention(uint32_t i, MatrixView<const float> x, MatrixView<float> out) {
    const LayerShape& s = d_.shapes[i];
    latentProject(i, x);
    latentStore(i);
    latentQueries(i);
    k_.resize(x.rows, size_t{s.heads} * d_.latent.kv_rank);  // compressed outputs of the heads
    attendHeads(i, absorbed_.view(), s.key_width, k_.view());
    latentValues(i);
    act2_.set(heads_.view());
    apply({{w_.layers[i].attn_output, act2_, out}});
}

/// q_ [n, H·(nope + rope)] and low_ [n, kv_rank + rope].
void Steps::latentProject(uint32_t i, MatrixView<const float> x) {
    const LayerWeights& l = w_.layers[i];
    act_.set(x);
    q_.resize(x.rows, l.q.weight.rows);
    low_.resize(x.rows, l.kv_a.weight.rows);
    if (!l.q_a) {
        apply({{l.q, act_, q_.view()}, {l.kv_a, act_, low_.view()}});
        return;
    }
    v_.resize(x.rows, l.q_a.weight.rows);
    apply({{l.q_a, act_, v_.view()}, {l.kv_a, act_, low_.view()}});
    forRows(x.rows, v_.cols(),
            [&](size_t t) { cpu::rmsNorm(v_.row(t), l.q_a_norm.weight, v_.row(t), v_.cols(), d_.norm_eps); });
    act2_.set(v_.view());
    apply({{l.q, act2_, q_.view()}});
}

void Steps::latentStore(uint32_t i) {
    const LatentShape& s = d_.latent;
    forRows(rows_.size(), low_.cols(), [&](size_t t) {
        float* row = low_.row(t);
        cpu::rmsNorm(row, w_.layers[i].kv_a_norm.weight, row, s.kv_rank, d_.norm_eps);
        rotateHeads(i, t, row + s.kv_rank, 1, s.rope, s.rope);
        KvLayer& cache = rows_[t].sequence->kv_[i];
        cpu::kvStore(rows_[t].sequence->kvType(), row,
                     cache.keys.data() + rows_[t].position % cache.cells * cache.key_bytes, low_.cols());
    });
}

/// absorbed_ [n, H·(kv_rank + rope)]: each head's query against compressed keys.
void Steps::latentQueries(uint32_t i) {
    const LatentShape& s = d_.latent;
    const LayerWeights& l = w_.layers[i];
    const size_t n = rows_.size(), heads = d_.shapes[i].heads, from = s.nope + s.rope, to = s.kv_rank + s.rope;
    absorbed_.resize(n, heads * to);
    head_acts_.resize(heads);
    products_.clear();
    for (size_t h = 0; h < heads; ++h) {
        const MatrixView<float> query = q_.view().columns(h * from, s.nope),
                                out = absorbed_.view().columns(h * to, s.kv_rank);
        if (l.k_b) {
            head_acts_[h].set(query);
            products_.push_back({l.k_b[h].weight, &head_acts_[h], 0, 0, out});
        } else {
            cpu::multiplyTransposed(pool_, l.kv_b.weight.slice(h * (s.nope + s.value), s.nope), query, out);
        }
    }
    cpu::multiply(pool_, products_);
    forRows(n, absorbed_.cols(), [&](size_t t) {
        for (size_t h = 0; h < heads; ++h) {
            float *query = q_.row(t) + h * from + s.nope, *out = absorbed_.row(t) + h * to + s.kv_rank;
            rotateHeads(i, t, query, 1, s.rope, s.rope);
            std::copy_n(query, s.rope, out);
        }
    });
}

/// heads_ [n, H·value] from the compressed outputs in k_.
void Steps::latentValues(uint32_t i) {
    const LatentShape& s = d_.latent;
    const LayerWeights& l = w_.layers[i];
    const size_t heads = d_.shapes[i].heads;
    heads_.resize(rows_.size(), heads * s.value);
    products_.clear();
    for (size_t h = 0; h < heads; ++h) {
        head_acts_[h].set(k_.view().columns(h * s.kv_rank, s.kv_rank));
        const cpu::Weight weight =
            l.v_b ? l.v_b[h].weight : l.kv_b.weight.slice(h * (s.nope + s.value) + s.nope, s.value);
        products_.push_back({weight, &head_acts_[h], 0, 0, heads_.view().columns(h * s.value, s.value)});
    }
    cpu::multiply(pool_, products_);
}

}  // namespace hearth::model
