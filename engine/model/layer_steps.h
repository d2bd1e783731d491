#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/matrix.h"
#include "engine/model/cold_half.h"
#include "engine/model/rope.h"
#include "engine/model/sequence.h"
#include "engine/model/weights.h"

namespace hearth::model {

/// A token of a batch.
struct TokenRow {
    Sequence* sequence = nullptr;
    uint32_t position = 0;
};

/// What a layer is made of, in which order: the one description of a layer for all architectures, wherever it runs. A step
/// works on all tokens of the batch; its arithmetic and memory belong to whoever computes: the processor (Steps) or a
/// graphics device (runtime/hybrid). Names of sizes as in weights.h, n = tokens of the batch.
class LayerSteps {
public:
    /// The rows of tokens that steps hand to each other, [n, d].
    enum class Rows : uint8_t { x, normed, branch, branch2 };   ///< x = the residual stream

    virtual ~LayerSteps() = default;
    /// x of layer i + 1 from x of layer i. Not for Architecture::altup.
    void layer(uint32_t i);

protected:
    LayerSteps(const Description& description, const Weights& weights) : d_(description), w_(weights) {}
    /// `to` = attention of layer i on `from`, keys and values stored.
    void attention(uint32_t i, Rows from, Rows to);
    /// Whether a query head brings its gate along, right behind it.
    bool gatedHeads(uint32_t i) const {
        return w_.layers[i].q.weight.rows != uint64_t{d_.shapes[i].heads} * d_.shapes[i].key_width;
    }

    virtual void norm(const NormWeights& norm, Rows from, Rows to) = 0;
    virtual void projectHeads(uint32_t i, Rows from) = 0;   ///< queries, keys, values
    virtual void rotateAndStore(uint32_t i) = 0;            ///< norms of heads, rope, temperature; the KV cache
    virtual void attendHeads(uint32_t i) = 0;
    virtual void gateHeads(uint32_t i) = 0;                 ///< head × sigmoid of its gate
    virtual void projectOutput(uint32_t i, Rows to) = 0;
    virtual void latentAttention(uint32_t i, Rows from, Rows to) = 0;
    virtual void deltaNet(uint32_t i, Rows from, Rows to) = 0;
    virtual void route(uint32_t i, Rows from) = 0;          ///< chooses experts before the attention
    virtual void feedForward(uint32_t i, Rows from, Rows to) = 0;
    /// x += residual_scale · norm(branch); without a norm, the branch as it is. Changes the branch.
    virtual void addBranch(Rows branch, const NormWeights& post_norm) = 0;

    const Description& d_;
    const Weights& w_;
};

/// Layers that run beside the processor. A pass begins with begin(); then the residual stream comes and goes as the order
/// of layers wants it. What it remembers of a sequence lies in Sequence::memoryOf(*this).
class ElsewhereSteps : public LayerSteps {
public:
    using LayerSteps::LayerSteps;
    /// `rows` and the angles for them stay as they are until the pass ends. `cold` computes what the device does not have.
    virtual void begin(std::span<const TokenRow> rows, const RopeTable& rope, const RopeTable& window_rope,
                       ColdHalf& cold) = 0;
    virtual void take(MatrixView<const float> x) = 0;   ///< x [n, d]
    virtual void give(MatrixView<float> x) = 0;
    /// logits [rows, vocabulary] of some tokens of the batch, by the last norm and the output matrix alone.
    virtual void output(std::span<const uint32_t> rows, MatrixView<float> logits) = 0;
};

/// What queries of a token at `position` are multiplied with: 1 + β ln(1 + ⌊position / original⌋).
float queryTemperature(const Description& description, uint32_t position);

/// Who computes what. Null = the processor.
struct Placing {
    std::vector<ElsewhereSteps*> layers = {};   ///< [layers], or empty: all with the processor
    ElsewhereSteps* output = nullptr;
};

}  // namespace hearth::model
