#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/model/weights.h"
#include "engine/sparse/sidecar.h"
#include "engine/sparse/zero_counts.h"
#include "engine/text/tokenizer.h"

namespace hearth::runtime {

enum class MakePrepared : uint8_t {
    no,    ///< only what is there already is used
    yes,   ///< what is missing is made and kept for the next start
};

/// What a sparse mode needs beside the model file.
struct Prepared {
    std::shared_ptr<const sparse::DownCopies> copies;   ///< or nullptr
    std::vector<bool> dense_layers;   ///< [layers] of Mode::automatic that run dense; empty = none
    std::string problem;              ///< why something is not there, for the user; empty if nothing was missing
};

/// Gets it from sidecars, or makes it: which layers have zeros that pay (Mode::automatic), counted on a short text that is
/// always the same, and the down-projections' copies by neuron.
class Preparation {
public:
    /// Of the whole work, in [0, 1].
    using Progress = std::function<void(double share)>;
    using Tokenizer = std::function<std::shared_ptr<const text::Tokenizer>()>;

    /// Whether a mode needs anything that the file does not have.
    static bool needed(const model::Description& description, sparse::Mode mode);

    /// Keeps references to the first two. `tokenizer` is asked only when zeros are to be counted.
    Preparation(const model::Description& description, const model::Weights& weights, sparse::Mode mode,
                sparse::Sidecars sidecars, unsigned threads, Tokenizer tokenizer);

    /// Some minutes for a large model that has nothing yet, else what reading the copies once takes. Throws Error (a damaged
    /// model file) and Stopped; a full disk is told in Prepared::problem.
    Prepared run(MakePrepared make, const std::stop_token& stop, const Progress& progress);

private:
    std::optional<sparse::ZeroCounts> zeroCounts(MakePrepared make, const std::stop_token& stop);
    sparse::ZeroCounts count(const std::stop_token& stop);
    std::vector<int32_t> countedTokens();
    void getCopies(Prepared& result, MakePrepared make, const std::stop_token& stop, const Progress& progress);

    const model::Description& d_;
    const model::Weights& weights_;
    sparse::Mode mode_;
    sparse::Sidecars sidecars_;
    unsigned threads_;
    Tokenizer tokenizer_;
    std::string identity_;
};

}  // namespace hearth::runtime
