#include "engine/model/forward.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/model/layers/steps.h"

namespace hearth::model {

Forward::Forward(const Description& description, const Weights& weights, ThreadPool& pool, uint32_t context,
                 uint32_t max_batch, const sparse::Choice& choice)
    : steps_(std::make_unique<Steps>(description, weights, pool, context, max_batch, choice)) {}
Forward::~Forward() = default;
void Forward::run(std::span<const Part> parts, MatrixView<float> logits) { steps_->run(parts, logits); }
void Forward::setDenseLayers(std::vector<bool> dense) { steps_->setDenseLayers(std::move(dense)); }
uint32_t Forward::maxBatch() const { return steps_->maxBatch(); }
void Forward::place(Placing placing) { steps_->place(std::move(placing)); }
const sparse::Choice& Forward::choice() const { return steps_->choice(); }
void Forward::setChoice(const sparse::Choice& choice) { steps_->setChoice(choice); }
void Forward::setPredictors(std::shared_ptr<const Predictors> predictors) {
    steps_->setPredictors(std::move(predictors));
}
void Forward::setProfile(sparse::Profile* profile) { steps_->setProfile(profile); }
void Forward::setObserver(Observer observer) { steps_->setObserver(std::move(observer)); }
const sparse::LossControl& Forward::loss() const { return steps_->loss(); }
Measurements& Forward::measurements() { return steps_->measurements(); }

Steps::Steps(const Description& description, const Weights& weights, ThreadPool& pool, uint32_t context,
             uint32_t max_batch, const sparse::Choice& choice)
    : LayerSteps(description, weights),
      pool_(pool),
      max_batch_(std::max(1u, max_batch)),
      choice_(choice),
      loss_(description.layers, choice.max_loss) {
    const float* factors = w_.rope_factors;
    if (w_.rope_long != nullptr && w_.rope_short != nullptr)
        factors = d_.rope_original_context > 0 && context > d_.rope_original_context ? w_.rope_long : w_.rope_short;
    rope_ = RopeTable(d_.rope, factors);
    window_rope_ = RopeTable(d_.window_rope, factors);
}

void Steps::setChoice(const sparse::Choice& choice) {
    if (choice == choice_) return;
    choice_ = choice;
    loss_ = sparse::LossControl(d_.layers, choice.max_loss);
}

void Steps::run(std::span<const Part> parts, MatrixView<float> logits) {
    try {
        prepare(parts);
        pass(parts, logits);
        d_.file->check();
        w_.checkCopies();
    } catch (...) {
        for (const Part& part : parts) part.sequence->recover();
        throw;
    }
    for (const Part& part : parts) part.sequence->advance(static_cast<uint32_t>(part.tokens.size()));
}

/// Lays the tokens of all parts out as rows and checks them. Returns their number.
size_t Steps::prepare(std::span<const Part> parts) {
    rows_.clear();
    positions_.clear();
    tokens_.clear();
    for (const Part& part : parts) {
        Sequence& s = *part.sequence;
        if (part.tokens.size() > s.context() - s.length())
            throw Error("the context is full",
                        std::to_string(s.length()) + " tokens are in it and " + std::to_string(part.tokens.size()) +
                            " more do not fit in " + std::to_string(s.context()),
                        "Choose a longer context or start a new chat");
        for (size_t t = 0; t < part.tokens.size(); ++t) {
            if (part.tokens[t] < 0 || static_cast<uint32_t>(part.tokens[t]) >= d_.vocabulary)
                throw Error("cannot compute", "token " + std::to_string(part.tokens[t]) +
                                                  " is outside of the vocabulary of " + std::to_string(d_.vocabulary));
            tokens_.push_back(part.tokens[t]);
            positions_.push_back(s.length() + static_cast<uint32_t>(t));
            rows_.push_back({&s, positions_.back()});
        }
    }
    if (rows_.size() > max_batch_) throw std::logic_error("more tokens than the batch holds");
    return rows_.size();
}

void Steps::pass(std::span<const Part> parts, MatrixView<float> logits) {
    const size_t n = rows_.size();
    if (n == 0) return;
    ahead_of_ = 0;
    rope_.fill(positions_);
    if (d_.window > 0) window_rope_.fill(positions_);
    for (Matrix<float>* m : {&x_, &normed_, &branch_, &branch2_}) m->resize(n, d_.width);
    embed();
    beginElsewhere();
    if (d_.architecture.altup) {
        altupBegin();
        for (uint32_t i = 0; i < d_.layers; ++i) altupLayer(i);
        altupEnd();
    } else {
        for (uint32_t i = 0; i < d_.layers; ++i) {
            moveTo(placing_.layers.empty() ? nullptr : placing_.layers[i]);
            if (at_ != nullptr) at_->layer(i);
            else layer(i);
        }
    }
    output(parts, logits);
}

void Steps::embed() {
    const Measurements::Scope scope(measurements_, "embedding");
    const uint64_t last = w_.position_embedding ? w_.position_embedding.weight.rows - 1 : 0;
    forRows(rows_.size(), d_.width, [&](size_t t) {
        float* x = x_.row(t);
        cpu::decodeRow(w_.token_embedding.weight, static_cast<uint64_t>(tokens_[t]), x);
        if (d_.embedding_scale != 1) cpu::scale(x, d_.embedding_scale, d_.width);
        if (w_.position_embedding) {
            cpu::decodeRow(w_.position_embedding.weight,
                           std::min<uint64_t>(positions_[t] + d_.architecture.position_offset, last), branch_.row(t));
            cpu::add(x, branch_.row(t), d_.width);
        }
    });
}

MatrixView<float> Steps::view(Rows rows) {
    switch (rows) {
        case Rows::normed: return normed_.view();
        case Rows::branch: return branch_.view();
        case Rows::branch2: return branch2_.view();
        case Rows::x: break;
    }
    return x_.view();
}

/// Tells everyone who takes part, once.
void Steps::beginElsewhere() {
    at_ = nullptr;
    std::vector<ElsewhereSteps*> all = placing_.layers;
    all.push_back(placing_.output);
    std::ranges::sort(all);
    const auto same = std::ranges::unique(all);
    all.erase(same.begin(), same.end());
    for (ElsewhereSteps* place : all)
        if (place != nullptr) place->begin(rows_, rope_, window_rope_, *this);
}

/// The residual stream goes on at `place`.
void Steps::moveTo(ElsewhereSteps* place) {
    if (place == at_) return;
    const Measurements::Scope scope(measurements_, "hand-over");
    if (at_ != nullptr) at_->give(x_.view());
    if (place != nullptr) place->take(x_.view());
    at_ = place;
}

/// x += residual_scale · norm(branch); without a norm, the branch as it is. Changes the branch.
void Steps::addBranch(MatrixView<float> branch, const NormWeights& post_norm) {
    const Measurements::Scope scope(measurements_, "residual");
    forRows(branch.rows, branch.cols, [&](size_t t) {
        float* y = branch.row(t);
        if (post_norm) normRow(post_norm, y, y, branch.cols);
        if (d_.residual_scale != 1) cpu::scale(y, d_.residual_scale, branch.cols);
        cpu::add(x_.row(t), y, branch.cols);
    });
}

void Steps::output(std::span<const Part> parts, MatrixView<float> logits) {
    wanted_.clear();
    uint32_t row = 0;
    for (const Part& part : parts) {
        const auto n = static_cast<uint32_t>(part.tokens.size());
        const uint32_t first = part.logits == Part::Logits::all || n == 0 ? 0 : n - 1;
        if (part.logits != Part::Logits::none)
            for (uint32_t t = first; t < n; ++t) wanted_.push_back(row + t);
        row += n;
    }
    if (wanted_.empty()) return;
    if (logits.rows < wanted_.size() || logits.cols != d_.vocabulary) throw std::logic_error("no room for the logits");
    const MatrixView<float> out = logits.slice(0, wanted_.size());
    moveTo(placing_.output);
    const Measurements::Scope scope(measurements_, "output");
    if (at_ != nullptr) at_->output(wanted_, out);
    else outputRows(out);
    forRows(out.rows, d_.vocabulary, [&](size_t t) {
        if (d_.logit_divisor != 1)
            for (float& value : out.rowSpan(t)) value /= d_.logit_divisor;
        if (d_.final_softcap > 0) cpu::softcap(out.row(t), d_.final_softcap, d_.vocabulary);
    });
}

/// out [wanted, vocabulary]
void Steps::outputRows(MatrixView<float> out) {
    for (size_t t = 0; t < wanted_.size(); ++t)
        normRow(w_.output_norm, x_.row(wanted_[t]), normed_.row(t), d_.width);
    act_.set(normed_.view().slice(0, wanted_.size()), 0);  // no later layer evens this rounding out, and few tokens are wanted
    apply({{w_.output, act_, out}});
}

void Steps::apply(std::initializer_list<Use> uses) {
    products_.clear();
    for (const Use& use : uses) {
        products_.push_back({use.linear.weight, &use.x, 0, 0, use.out});
        measurements_.read(use.linear.weight.rows * use.linear.weight.row_bytes);
    }
    cpu::multiply(pool_, products_);
    for (const Use& use : uses) addBias(use.out, use.linear.bias, use.linear.scale);
}

void Steps::addBias(MatrixView<float> out, const float* bias, float scale) {
    for (size_t t = 0; t < out.rows; ++t) {
        if (scale != 1) cpu::scale(out.row(t), scale, out.cols);
        if (bias != nullptr) cpu::add(out.row(t), bias, out.cols);
    }
}

void Steps::normRow(const NormWeights& norm, const float* in, float* out, size_t n) const {
    if (d_.architecture.norm == Norm::rms) cpu::rmsNorm(in, norm.weight, out, n, d_.norm_eps);
    else cpu::layerNorm(in, norm.weight, norm.bias, out, n, d_.norm_eps);
}

void Steps::normRows(const NormWeights& norm, MatrixView<const float> in, MatrixView<float> out) {
    const Measurements::Scope scope(measurements_, "norms");
    forRows(in.rows, in.cols, [&](size_t t) { normRow(norm, in.row(t), out.row(t), in.cols); });
}

void Steps::forRows(size_t rows, size_t cols, const std::function<void(size_t)>& body) {
    constexpr size_t worth_sharing = 1 << 15;   // values: below, waking the pool costs more than it saves
    if (rows > 1 && rows * cols >= worth_sharing) {
        pool_.run(rows, body);
    } else {
        for (size_t t = 0; t < rows; ++t) body(t);
    }
}

}  // namespace hearth::model
