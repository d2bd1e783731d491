#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/runtime/evaluate.h"
#include "engine/sparse/calibration.h"

namespace hearth::runtime {

/// What reading a byte costs, in seconds: of predictors, and of the neurons' rows. On one processor both cost the same; with
/// a card, predictors may lie where bytes are cheaper.
struct Prices {
    double predictor = 1, neurons = 1;
};

struct CalibrateOptions {
    /// What the model reads to be calibrated (windowsOf()), at least four windows.
    std::vector<std::vector<text::Token>> windows;
    double budget = 0.05;      ///< lost share (CETT) that the predictors' cuts are made for
    Prices prices;             ///< choose the rank of each layer
    uint32_t most_rank = 512;
    /// Where parts and result are kept.
    const sparse::Sidecars* sidecars = nullptr;
    struct Progress {
        std::string what;      ///< "reading the text", "layer 3 of 22"
        double share = 0, seconds_left = 0;
    };
    std::function<void(const Progress&)> progress = {};
};

/// How text is divided: windows to fit on, to cut on, and to judge on.
struct CalibrationText {
    std::vector<std::vector<text::Token>> fit, cut, judge;
};
/// Throws Error when there are fewer than four.
CalibrationText divideText(std::span<const std::vector<text::Token>> windows);

/// Learns predictors, cuts and thresholds for all layers with a dense feed-forward, and writes the model's calibration
/// (sparse/calibration.h). Each layer is kept as soon as it is known: called again after a stop with the same options, it goes on.
/// The model may be loaded in any mode. Throws Error: no dense feed-forward, too little text; Stopped.
void calibrate(Model& model, const CalibrateOptions& options);

/// One row of the table that says what each way costs and gives.
struct ModeFigures {
    sparse::Choice mode;
    double active = 1;             ///< share of neurons whose down row was read while decoding
    double tokens_per_second = 0;  ///< decoding, this machine
    Evaluation evaluation;         ///< against Mode::off
};
/// Judges modes, one after another, on windows of text. Throws Error, Stopped.
std::vector<ModeFigures> judgeModes(Model& model, std::span<const std::vector<text::Token>> windows,
                                    std::span<const sparse::Choice> modes, uint32_t decoded_tokens = 32,
                                    const std::function<void(size_t done)>& progress = {});

}  // namespace hearth::runtime
