#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/model/layers/steps.h"

namespace hearth::model {

// Which neurons a token computes. Every way of finding them ends in scores_ [n, f]: those below zero are left out. Where
// the score is an estimate of the gate, the gate itself decides once more about what was let through.

namespace {

/// scores −= cuts − dial · spreads
void takeCutsOff(std::span<float> scores, const NeuronEstimator& e, float dial) {
    for (size_t j = 0; j < scores.size(); ++j) scores[j] -= e.cuts[j] - dial * e.spreads[j];
}

double euclideanNorm(std::span<const float> values) {
    double squares = 0;
    for (const float v : values) squares += double{v} * v;
    return std::sqrt(squares);
}

}  // namespace

sparse::Predictor Steps::predictorOf(uint32_t i) const {
    using sparse::Predictor;
    if (choice_.predictor != Predictor::best) return choice_.predictor;
    if (w_.layers[i].predictor_in) return Predictor::file;
    return predictors_ && !predictors_->layer(i).low_rank ? Predictor::bit_plane : Predictor::low_rank;
}

/// Fills scores_ for layer i before its gate is known; false: nothing is known, every neuron is worth its gate.
bool Steps::scoreBeforeGate(uint32_t i, MatrixView<const float> x) {
    using sparse::Predictor;
    // Gemma 3n's cut needs all gates of a row.
    if (choice_.mode != sparse::Mode::predict || !d_.hasZeros(i) || d_.shapes[i].gate_cut > 0) return false;
    const float dial = loss_.dial();
    switch (predictorOf(i)) {
        case Predictor::file: return scoreByFile(i, dial);
        case Predictor::oracle: return scoreByGate(i, x);
        case Predictor::look_ahead: {
            if (!predictors_ || ahead_of_ != i || !predictors_->layer(i).look_ahead) return false;
            std::swap(scores_, ahead_scores_);
            ahead_of_ = 0;
            forRows(scores_.rows(), scores_.cols(),
                    [&](size_t t) { takeCutsOff(scores_.view().rowSpan(t), predictors_->layer(i).look_ahead, dial); });
            return true;
        }
        case Predictor::bit_plane: return predictors_ && estimate(predictors_->layer(i).bit_plane, dial);
        default: return predictors_ && estimate(predictors_->layer(i).low_rank, dial);
    }
}

/// PowerInfer's predictor: fc2 · relu(fc1 · h) against a threshold, h being the residual stream before the norm.
bool Steps::scoreByFile(uint32_t i, float dial) {
    const LayerWeights& l = w_.layers[i];
    if (!l.predictor_in) return false;
    const Measurements::Scope scope(measurements_, "predictor");
    const size_t n = rows_.size(), rank = l.predictor_in.weight.rows, neurons = l.predictor_out.weight.rows;
    hidden_scores_.resize(n, rank);
    scores_.resize(n, neurons);
    act3_.set(x_.view());
    apply({{l.predictor_in, act3_, hidden_scores_.view()}});
    forRows(n, rank, [&](size_t t) {
        cpu::activate(cpu::Activation::relu, hidden_scores_.row(t), nullptr, hidden_scores_.row(t), rank);
    });
    act3_.set(hidden_scores_.view());
    apply({{l.predictor_out, act3_, scores_.view()}});
    forRows(n, neurons, [&](size_t t) {
        const std::span<float> scores = scores_.view().rowSpan(t);
        float cut = d_.predictor_threshold;
        // Its scores have no known spread; their own size stands in.
        if (dial > 0) cut -= dial * static_cast<float>(euclideanNorm(scores) / std::sqrt(static_cast<double>(neurons)));
        for (float& s : scores) s -= cut;
    });
    return true;
}

/// From the layer's input in act_.
bool Steps::estimate(const NeuronEstimator& e, float dial) {
    if (!e) return false;
    const Measurements::Scope scope(measurements_, "predictor");
    measurements_.neurons.bytes_added += e.bytes();
    estimateInto(e, scores_);
    forRows(scores_.rows(), scores_.cols(), [&](size_t t) { takeCutsOff(scores_.view().rowSpan(t), e, dial); });
    return true;
}

void Steps::estimateInto(const NeuronEstimator& e, Matrix<float>& scores) {
    const size_t n = act_.values().rows;
    if (!e.out) {
        scores.resize(n, e.in.weight.rows);
        apply({{e.in, act_, scores.view()}});
        return;
    }
    hidden_scores_.resize(n, e.in.weight.rows);
    scores.resize(n, e.out.weight.rows);
    apply({{e.in, act_, hidden_scores_.view()}});
    act3_.set(hidden_scores_.view());
    apply({{e.out, act3_, scores.view()}});
}

/// What a faultless predictor would say; its work is nobody's.
bool Steps::scoreByGate(uint32_t i, MatrixView<const float> x) {
    const LayerWeights& l = w_.layers[i];
    const size_t neurons = l.up.weight.rows;
    scores_.resize(x.rows, neurons);
    up_.resize(x.rows, neurons);
    apply({{l.up, act_, up_.view()}});
    if (l.gate) apply({{l.gate, act_, scores_.view()}});
    cutGates(i, l.gate ? scores_.view() : up_.view());
    forRows(x.rows, neurons, [&](size_t t) {
        float* scores = scores_.row(t);
        cpu::activate(d_.architecture.activation, l.gate ? scores : up_.row(t), l.gate ? up_.row(t) : nullptr, scores,
                      neurons);
        for (size_t j = 0; j < neurons; ++j) scores[j] = scores[j] != 0 ? 1.0f : -1.0f;
    });
    return true;
}

/// Fills scores_ row t from what decides (gate, or up where there is none): how far each neuron's part in the output lies
/// above the threshold.
void Steps::scoreByThreshold(uint32_t i, size_t t, const float* decides) {
    const LayerPredictors& p = predictors_->layer(i);
    const size_t neurons = w_.layers[i].up.weight.rows;
    const float cut = p.view->thresholdFor(choice_.lost_share) * std::exp2(-loss_.dial());
    float* scores = scores_.row(t);
    cpu::activate(d_.architecture.activation, decides, nullptr, scores, neurons);
    // Above zero is listed: what is not zero and reaches the cut.
    for (size_t j = 0; j < neurons; ++j) {
        const float part = std::abs(scores[j]) * p.weights[j];
        scores[j] = part > 0 && part >= cut ? 1.0f : -1.0f;
    }
}

bool Steps::hasThreshold(uint32_t i) const {
    return choice_.mode == sparse::Mode::threshold && !checking_ && predictors_ &&
           predictors_->layer(i).weights != nullptr && d_.shapes[i].gate_cut == 0;
}

/// Scores of the next layer, while this one's input is at hand.
void Steps::lookAhead(uint32_t i) {
    if (choice_.mode != sparse::Mode::predict || choice_.predictor != sparse::Predictor::look_ahead || !predictors_ ||
        i + 1 >= d_.layers || !predictors_->layer(i + 1).look_ahead)
        return;
    const Measurements::Scope scope(measurements_, "predictor");
    measurements_.neurons.bytes_added += predictors_->layer(i + 1).look_ahead.bytes();
    estimateInto(predictors_->layer(i + 1).look_ahead, ahead_scores_);
    ahead_of_ = i + 1;
}

/// What `out` [1, d] lacks of what all neurons give, where this token is one to be checked.
void Steps::checkLoss(uint32_t i, MatrixView<const float> out) {
    const bool lossy = choice_.mode == sparse::Mode::predict || choice_.mode == sparse::Mode::threshold;
    if (!lossy || !loss_.due(i, rows_[0].position)) return;
    const size_t neurons = w_.layers[i].up.weight.rows;
    checked_.resize(1, d_.width);
    listed_.resize(neurons);
    std::iota(listed_.begin(), listed_.end(), 0u);
    const Measurements::Neurons counted = measurements_.neurons;
    checking_ = true;
    listedNeurons(i, checked_.view());
    checking_ = false;
    measurements_.neurons = counted;  // what the check reads is not the mode's
    double lost = 0;
    for (size_t c = 0; c < d_.width; ++c) {
        const double missing = double{checked_.row(0)[c]} - out.row(0)[c];
        lost += missing * missing;
    }
    const double all = euclideanNorm(checked_.view().rowSpan(0));
    loss_.add(i, all > 0 ? static_cast<float>(std::sqrt(lost) / all) : 0.0f);
}

/// Counts which neurons of layer i fired, from their values [n, f] (zero: it did not).
void Steps::countNeurons(uint32_t i, MatrixView<const float> values) {
    if (profile_ == nullptr || !d_.hasZeros(i)) return;
    sparse::Profile::Layer& layer = profile_->layer(i);
    layer.tokens += values.rows;
    for (size_t t = 0; t < values.rows; ++t) sparse::Profile::count(layer, 0, {values.row(t), values.cols});
}

/// The same of one token, whose neurons that may have fired are listed_.
void Steps::countListed(uint32_t i) {
    if (profile_ == nullptr || !d_.hasZeros(i)) return;
    sparse::Profile::Layer& layer = profile_->layer(i);
    ++layer.tokens;
    sparse::Profile::count(layer, 0, up_.view().rowSpan(0), listed_);
}

/// Counts the choice of experts in expert_ids_, and in those that have zeros the neurons in expert_up_ (of those `listed`
/// the ones in expert_listed_).
void Steps::countExperts(uint32_t i, size_t tokens, bool listed) {
    if (profile_ == nullptr) return;
    const ExpertShape& e = d_.experts;
    sparse::Profile::Layer& layer = profile_->layer(i);
    layer.tokens += tokens;
    layer.chosen.resize(e.count);
    for (const uint32_t id : expert_ids_) ++layer.chosen[id];
    if (!d_.activationHasZeros()) return;
    layer.fired.resize(size_t{e.count} * e.width);
    for (uint32_t id = 0; id < e.count; ++id)
        for (uint32_t r = expert_begin_[id]; r < expert_begin_[id + 1]; ++r) {
            const std::span<const float> values{expert_up_.row(r), e.width};
            if (listed) sparse::Profile::count(layer, size_t{id} * e.width, values, expert_listed_[r]);
            else sparse::Profile::count(layer, size_t{id} * e.width, values);
        }
}

}  // namespace hearth::model
