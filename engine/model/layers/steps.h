#pragma once

#include <functional>
#include <vector>

#include "engine/model/forward.h"
#include "engine/model/layer_steps.h"
#include "engine/model/predictors.h"

namespace hearth::model {

/// The forward pass: the steps of layers as the processor computes them, their working memory, and the way from tokens to
/// logits. n = tokens of the batch; names of sizes as in weights.h.
/// Every step reads and writes rows of tokens; nothing here grows with the square of the context.
class Steps : public LayerSteps, private ColdHalf {
public:
    Steps(const Description& description, const Weights& weights, ThreadPool& pool, uint32_t context,
          uint32_t max_batch, const sparse::Choice& choice);
    void run(std::span<const Part> parts, MatrixView<float> logits);
    void place(Placing placing) { placing_ = std::move(placing); }
    uint32_t maxBatch() const { return max_batch_; }
    const sparse::Choice& choice() const { return choice_; }
    void setChoice(const sparse::Choice& choice);
    void setPredictors(std::shared_ptr<const Predictors> predictors) { predictors_ = std::move(predictors); }
    void setProfile(sparse::Profile* profile) { profile_ = profile; }
    void setObserver(Forward::Observer observer) { observer_ = std::move(observer); }
    const sparse::LossControl& loss() const { return loss_; }
    Measurements& measurements() { return measurements_; }
    void setDenseLayers(std::vector<bool> dense) { dense_layers_ = std::move(dense); }

private:
    struct Use {                     ///< out [n, rows] = x · linearᵀ (+ bias)
        const Linear& linear;
        cpu::Activations& x;
        MatrixView<float> out;
    };

    // forward.cpp
    size_t prepare(std::span<const Part> parts);
    void pass(std::span<const Part> parts, MatrixView<float> logits);
    void moveTo(ElsewhereSteps* place);
    void output(std::span<const Part> parts, MatrixView<float> logits);
    void outputRows(MatrixView<float> logits);
    void beginElsewhere();
    void embed();
    void apply(std::initializer_list<Use> uses);
    void normRows(const NormWeights& norm, MatrixView<const float> in, MatrixView<float> out);
    void normRow(const NormWeights& norm, const float* in, float* out, size_t n) const;
    void addBranch(MatrixView<float> branch, const NormWeights& post_norm);
    MatrixView<float> view(Rows rows);
    // The steps of LayerSteps, by the functions below.
    void norm(const NormWeights& norm, Rows from, Rows to) override { normRows(norm, view(from), view(to)); }
    void projectHeads(uint32_t i, Rows from) override { projectHeads(i, view(from)); }
    void rotateAndStore(uint32_t i) override;
    void attendHeads(uint32_t i) override;
    void gateHeads(uint32_t i) override;
    void projectOutput(uint32_t i, Rows to) override;
    void latentAttention(uint32_t i, Rows from, Rows to) override { latentAttention(i, view(from), view(to)); }
    void deltaNet(uint32_t i, Rows from, Rows to) override { deltaNet(i, view(from), view(to)); }
    void route(uint32_t i, Rows from) override { route(i, view(from)); }
    void feedForward(uint32_t i, Rows from, Rows to) override { feedForward(i, view(from), view(to)); }
    void addBranch(Rows branch, const NormWeights& post_norm) override { addBranch(view(branch), post_norm); }
    /// body(row) for all rows, on the pool where the work is worth it.
    void forRows(size_t rows, size_t cols, const std::function<void(size_t)>& body);
    static void addBias(MatrixView<float> out, const float* bias, float scale);

    // attention.cpp
    void projectHeads(uint32_t i, MatrixView<const float> x);
    void normHeads(const NormWeights& norm, float* heads, size_t count, size_t width, size_t stride) const;
    void rotateHeads(uint32_t i, size_t t, float* heads, size_t count, size_t stride, size_t width);
    cpu::Attention cellsOf(uint32_t i, const TokenRow& row) const;
    void attendHeads(uint32_t i, MatrixView<const float> q, size_t q_stride, MatrixView<float> out);
    size_t queryStride(uint32_t i) const;

    // latent_attention.cpp
    void latentAttention(uint32_t i, MatrixView<const float> x, MatrixView<float> out);
    void latentProject(uint32_t i, MatrixView<const float> x);
    void latentStore(uint32_t i);
    void latentQueries(uint32_t i);
    void latentValues(uint32_t i);

    // delta_net.cpp
    void deltaNet(uint32_t i, MatrixView<const float> x, MatrixView<float> out);
    void deltaConvolution(uint32_t i, size_t index);
    void deltaHeads(uint32_t i, size_t index);

    // feed_forward.cpp, experts.cpp: out [n, d] = feed-forward of layer i on x [n, d]
    void feedForward(uint32_t i, MatrixView<const float> x, MatrixView<float> out);
    void denseFeedForward(uint32_t i, MatrixView<const float> x, MatrixView<float> out);
    void hiddenOf(uint32_t i, MatrixView<const float> x);
    void cutGates(uint32_t i, MatrixView<float> gate);
    void cutBelowDeviation(MatrixView<float> gate, float cut);
    void down(uint32_t i, MatrixView<float> out);

    // cold_feed_forward.cpp
    void coldNeurons(const ColdNeurons& cold, MatrixView<const float> x, MatrixView<float> out) override;
    void coldRange(const ColdNeurons& cold, size_t n, MatrixView<float> out);
    void coldListed(const ColdNeurons& cold, MatrixView<float> out);

    // sparse_feed_forward.cpp
    bool isSparse(uint32_t i) const;
    void sparseFeedForward(uint32_t i, MatrixView<const float> x, MatrixView<float> out);
    void listedNeurons(uint32_t i, MatrixView<float> out);
    void applyListed(const Linear& linear, cpu::Activations& x, MatrixView<float> out);
    void expertNeurons(uint32_t i);
    void listFiring(const float* values, size_t neurons, std::vector<uint32_t>& list) const;
    void readNeurons(std::span<const cpu::Neurons> all);

    // active_neurons.cpp: which neurons are worth computing
    sparse::Predictor predictorOf(uint32_t i) const;
    bool scoreBeforeGate(uint32_t i, MatrixView<const float> x);
    bool scoreByFile(uint32_t i, float dial);
    bool scoreByGate(uint32_t i, MatrixView<const float> x);
    void scoreByThreshold(uint32_t i, size_t t, const float* decides);
    bool hasThreshold(uint32_t i) const;
    bool estimate(const NeuronEstimator& e, float dial);
    void estimateInto(const NeuronEstimator& e, Matrix<float>& scores);
    void lookAhead(uint32_t i);
    void checkLoss(uint32_t i, MatrixView<const float> out);
    void countNeurons(uint32_t i, MatrixView<const float> values);
    void countListed(uint32_t i);
    void countExperts(uint32_t i, size_t tokens, bool listed);

    void route(uint32_t i, MatrixView<const float> x);
    void chooseExperts(const float* logits, const float* bias, uint32_t* ids, float* weights);
    void experts(uint32_t i, MatrixView<const float> x, MatrixView<float> out);
    void expertProducts(uint32_t i, MatrixView<const float> x);
    void sharedExpert(uint32_t i, MatrixView<const float> x, MatrixView<float> out);

    // altup.cpp: Gemma 3n
    void altupBegin();
    void altupLayer(uint32_t i);
    void altupMood(const LayerWeights& l, MatrixView<const float> x);
    void altupEnd();

    ThreadPool& pool_;
    uint32_t max_batch_;
    sparse::Choice choice_;
    Measurements measurements_;
    Placing placing_;
    ElsewhereSteps* at_ = nullptr;              // who holds the residual stream; null: x_

    std::vector<TokenRow> rows_;                // [n]
    std::vector<uint32_t> positions_;           // [n]
    std::vector<uint32_t> wanted_;              // rows whose logits are asked for
    std::vector<int32_t> tokens_;               // [n]
    RopeTable rope_, window_rope_;

    Matrix<float> x_;                           // [n, d] the residual stream
    Matrix<float> normed_, branch_, branch2_;   // [n, d]
    Matrix<float> q_, k_, v_, heads_;           // [n, H·w], [n, K·w], [n, K·v], [n, H·v]
    Matrix<float> low_, absorbed_;              // latent attention: [n, rank], [n, H·(kv_rank + rope)]
    Matrix<float> gate_, up_;                   // [n, f]
    Matrix<float> channels_, convolved_, z_;    // delta net
    Matrix<float> beta_, alpha_;
    Matrix<float> router_;                      // [n, E]
    Matrix<float> gathered_, expert_out_;       // [n·used, d]
    Matrix<float> expert_gate_, expert_up_;     // [n·used, width]
    std::vector<uint32_t> expert_ids_;          // [n, used]
    Matrix<float> expert_weights_;              // [n, used]
    std::vector<uint32_t> expert_begin_, expert_rows_, expert_slot_;
    Matrix<float> shared_gate_, shared_up_, shared_scale_;
    std::vector<Matrix<float>> streams_, predicted_;   // Gemma 3n: S × [n, d]
    Matrix<float> mood_, coefficients_, per_layer_, per_layer_hidden_, side_;
    std::shared_ptr<const Predictors> predictors_;
    sparse::LossControl loss_;
    bool checking_ = false;                     // a layer is computed in full to see what was lost
    sparse::Profile* profile_ = nullptr;
    Forward::Observer observer_;
    Matrix<float> scores_, hidden_scores_;      // predictor: [n, f], [n, rank]; scores below zero are left out
    Matrix<float> ahead_scores_;                // [n, f] of layer ahead_of_ (0: none)
    uint32_t ahead_of_ = 0;
    Matrix<float> checked_;                     // [1, d]
    std::vector<uint32_t> listed_;              // neurons to compute, ascending
    std::vector<std::vector<uint32_t>> expert_listed_;   // [used]: the same of each chosen expert
    std::vector<bool> dense_layers_;            // in automatic mode: zeros do not pay there
    cpu::Activations act_, act2_, act3_;
    std::vector<cpu::Activations> head_acts_;
    std::vector<cpu::Product> products_;
};

}  // namespace hearth::model
