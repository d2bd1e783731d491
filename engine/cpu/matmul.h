#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/matrix.h"
#include "engine/base/thread_pool.h"
#include "engine/cpu/jobs.h"
#include "engine/cpu/ops.h"
#include "engine/gguf/type.h"

namespace hearth::cpu {

/// A weight matrix [rows, cols] as it stands in the file: row r is cols values in blocks of `type` at data + r * row_bytes.
/// Owns nothing.
struct Weight {
    gguf::Type type = gguf::Type::F32;
    const std::byte* data = nullptr;
    uint64_t rows = 0, cols = 0, row_bytes = 0;

    /// Rows [first, first + n).
    Weight slice(uint64_t first, uint64_t n) const { return {type, data + first * row_bytes, n, cols, row_bytes}; }
};

/// A down-projection [neurons, outputs] regrouped by neuron (sparse/regrouped.h): where its codes, scales and common scales
/// stand, and how many neurons share a row of scales. Owns nothing.
struct RegroupedWeight {
    gguf::Type type = gguf::Type::F32;
    const std::byte *codes = nullptr, *scales = nullptr, *common = nullptr;
    uint64_t neurons = 0, outputs = 0;
    uint64_t group = 0, common_group = 0;   ///< group: at most 256, and 256 is a multiple of it
    uint64_t code_row_bytes = 0, scale_row_bytes = 0, common_row_bytes = 0;
    explicit operator bool() const { return codes != nullptr; }
};

/// The input of matrix products: [tokens, cols] float32, and the same rounded to 8 bits for quantised weights
/// (16 where a block stands out; blocks of 32 with a float32 scale and the block's sum), made once and shared by all matrices that read it.
class Activations {
public:
    /// Takes a view of x (not copied); forgets what was rounded before. Keeps its memory for the next call.
    /// fine_from: see kFineFrom; 0 for all blocks, where the product's noise matters more than its time.
    void set(MatrixView<const float> x, float fine_from = kFineFrom);
    MatrixView<const float> values() const { return x_; }

private:
    friend struct ActivationsAccess;
    MatrixView<const float> x_;
    bool rounded_ = false;
    float fine_from_ = kFineFrom;
    std::vector<XBlock> blocks_;  // [tokens, cols / 32], then as many for low codes
};

/// One product of a list: out [n, weight.rows] = x rows [first, first + n) · weightᵀ. Weights of F32, F16 and BF16 are
/// multiplied with float32 activations; block types with rounded ones.
struct Product {
    Weight weight;
    Activations* x = nullptr;
    size_t first = 0, n = 0;         ///< n = 0: all rows of x from `first`
    MatrixView<float> out;
};

/// Does all products of the list with one hand-out to the pool. Each output value is computed whole in one place, by the
/// same sequence of operations whatever the number of threads, of tokens in the batch and of products in the list: a row
/// of a batch has the bits that it has alone.
void multiply(ThreadPool& pool, std::span<const Product> products);
inline void multiply(ThreadPool& pool, const Product& product) { multiply(pool, std::span(&product, 1)); }

/// out[0 .. cols) = row `row` of `weight`, decoded (an embedding look-up).
void decodeRow(const Weight& weight, uint64_t row, float* out);

/// out [n, cols] += Σ over neurons j of coefficients[t, j] * row j of `weight` [neurons, cols]: a down-projection that is
/// stored with a row per neuron. Summed over fixed chunks of neuron numbers, ascending (DESIGN §4, Order of summation);
/// neurons whose coefficient is zero for every token are not read, unless `everything` is asked for; the bits are the same.
/// `out` is overwritten.
void multiplyTransposed(ThreadPool& pool, const Weight& weight, MatrixView<const float> coefficients, MatrixView<float> out,
                        bool everything = false);

/// out[r] = row r of `weight` times the one token in `x`, for the listed rows only (ascending); the other elements of
/// out [weight.rows] stay as they are. The bits are those that multiply() gives.
void multiplyRows(ThreadPool& pool, const Weight& weight, Activations& x, std::span<const uint32_t> rows, float* out);

/// A feed-forward of one token by neuron, from the point where it is known which neurons take part.
struct Neurons {
    std::span<const uint32_t> list;      ///< those that take part, ascending; all others count as zero
    Weight up;                           ///< [neurons, d]; without data `hidden` is given and not computed
    const float* up_bias = nullptr;      ///< [neurons]
    float up_scale = 1;
    Activations* x = nullptr;            ///< for `up`
    size_t x_row = 0;                    ///< the token's row of x
    Activation activation = Activation::relu;
    const float* gate = nullptr;         ///< [neurons], listed ones; nullptr: the activation is on `up` alone
    float* hidden = nullptr;             ///< [neurons], listed ones: act(gate) · up, bias and scale included
    Weight down;                         ///< [neurons, d], a row per neuron; without data `regrouped` is read instead
    RegroupedWeight regrouped;           ///< [neurons, d]
    float* out = nullptr;                ///< [d], overwritten
    bool everything = false;             ///< rows of zeros are read, too: for tests

    uint64_t neurons() const { return down.data != nullptr ? down.rows : regrouped.neurons; }
    uint64_t outputs() const { return down.data != nullptr ? down.cols : regrouped.outputs; }
};

/// For each of some feed-forwards: out = Σ over listed neurons of hidden · its row of the down-projection, in the order of
/// multiplyTransposed() and, from `down`, with the bits that it gives for these neurons; from `regrouped`, groups that share
/// scales are summed first (jobs.h, AddRegroupedJob). Neurons whose hidden value is zero change no bit, listed or not.
/// Computes `hidden` on the way, so that a neuron's rows are read in one hand-out to the pool; a neuron whose hidden value
/// turns out to be zero is read no further. Returns the number of neurons whose row of the down-projection was read.
uint64_t multiplyNeurons(ThreadPool& pool, std::span<const Neurons> all);
inline uint64_t multiplyNeurons(ThreadPool& pool, const Neurons& neurons) {
    return multiplyNeurons(pool, std::span(&neurons, 1));
}

}  // namespace hearth::cpu
