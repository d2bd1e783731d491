#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "engine/base/matrix.h"
#include "engine/base/thread_pool.h"
#include "engine/model/layer_steps.h"
#include "engine/model/measurements.h"
#include "engine/model/sequence.h"
#include "engine/model/weights.h"
#include "engine/sparse/loss_control.h"
#include "engine/sparse/profile.h"

namespace hearth::model {

/// New tokens of one sequence, to follow what it holds already.
struct Part {
    enum class Logits : uint8_t { none, last, all };
    Sequence* sequence = nullptr;
    std::span<const int32_t> tokens;
    Logits logits = Logits::last;
};

/// The forward pass of every architecture: ids in, logits out (DESIGN §3, A token).
/// Results do not depend on the number of threads, nor on what else is in the batch.
class Forward {
public:
    /// `context` chooses LongRoPE's factors; `max_batch` = most tokens of one run. Keeps references to all three.
    /// `choice`: automatic = exact where the weights allow it. Weights must have been read for the same mode.
    Forward(const Description& description, const Weights& weights, ThreadPool& pool, uint32_t context,
            uint32_t max_batch, const sparse::Choice& choice = {});
    ~Forward();

    /// Computes all parts in one pass and appends their tokens to their sequences. `logits` has a row [vocabulary] for each
    /// token that asked, in the order of the parts. Throws Error: a token id outside the vocabulary, a sequence that is
    /// full, a file damaged while mapped; Stopped when the pool's stop token asks. After an exception each sequence holds what
    /// it held before (a recurrent one what it held at its last checkpoint: ask length()).
    void run(std::span<const Part> parts, MatrixView<float> logits);

    /// Layers that are computed elsewhere from the next run() on. A sequence that has tokens already must have its keys and
    /// values where its layers are. Not for Architecture::altup.
    void place(Placing placing);

    /// In automatic mode: layers [layers] whose zeros do not pay and which run dense. Between two runs.
    void setDenseLayers(std::vector<bool> dense);
    uint32_t maxBatch() const;
    /// The mode, between two runs. Weights that were read for a sparse mode serve all of them that they have the layouts for.
    const sparse::Choice& choice() const;
    void setChoice(const sparse::Choice& choice);
    /// What Mode::predict and Mode::threshold go by, or nullptr. For the model's own sizes (layerSizes()).
    void setPredictors(std::shared_ptr<const class Predictors> predictors);
    /// Where neurons and experts that fire are counted, with as many layers as the model has; nullptr: nowhere.
    void setProfile(sparse::Profile* profile);
    /// Sees the input [n, d] of each dense feed-forward, from the thread that runs the pass.
    using Observer = std::function<void(uint32_t layer, MatrixView<const float> x)>;
    void setObserver(Observer observer);
    /// What lossy modes lost since the mode was set.
    const sparse::LossControl& loss() const;
    /// What the passes did since its last reset().
    Measurements& measurements();
    /// Bytes of working memory for runs of `batch` tokens (logits not included).
    static uint64_t scratchBytes(const Description& description, uint32_t batch,
                                 sparse::Mode mode = sparse::Mode::automatic);

private:
    std::unique_ptr<class Steps> steps_;
};

}  // namespace hearth::model
