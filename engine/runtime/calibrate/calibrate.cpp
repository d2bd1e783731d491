#include "engine/runtime/calibrate/calibrate.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "engine/base/error.h"
#include "engine/model/predictors.h"
#include "engine/quant/quant.h"
#include "engine/runtime/calibrate/cuts.h"
#include "engine/runtime/calibrate/inputs.h"
#include "engine/runtime/calibrate/low_rank.h"
#include "engine/sparse/two_bits.h"

namespace hearth::runtime {
namespace {

using gguf::Type;

/// A matrix as it is stored: whole rows of blocks.
template <typename Encode>
sparse::Estimator::Matrix encoded(Type type, MatrixView<const float> values, Encode encode) {
    const uint64_t row = gguf::rowBytes(type, values.cols);
    sparse::Estimator::Matrix m{type, values.rows, values.cols, std::vector<std::byte>(row * values.rows)};
    for (size_t r = 0; r < values.rows; ++r) encode(values.rowSpan(r), std::span(m.data).subspan(r * row, row));
    return m;
}
sparse::Estimator::Matrix quantised(Type type, MatrixView<const float> values) {
    std::vector<float> row(values.cols);
    return encoded(type, values, [&](std::span<const float> in, std::span<std::byte> out) {
        quant::encode(type, in, out);
    });
}

model::Linear linear(const sparse::Estimator::Matrix& m) {
    return {{m.type, m.data.data(), m.rows, m.cols, gguf::rowBytes(m.type, m.cols)}, nullptr, 1};
}

/// All that is learned about one layer.
class LayerFit {
public:
    /// `x`, `before`: the inputs of this layer and of the one before (or none) on all tokens; `fit` of them to fit on, the rest
    /// to cut on.
    LayerFit(Model& model, uint32_t layer, const CalibrateOptions& options, Matrix<float> x, Matrix<float> before,
             size_t fit)
        : d_(model.description()),
          l_(model.weights().layers[layer]),
          pool_(model.pool()),
          options_(options),
          x_(std::move(x)),
          before_(std::move(before)),
          fit_(fit),
          sample_(d_, l_, pool_, cutRows(x_)) {}

    sparse::LayerFindings findings() {
        sparse::LayerFindings f;
        f.weights = sample_.weights();
        f.firing = static_cast<float>(sample_.firing());
        f.thresholds = fitThresholds(sample_);
        if (!d_.activationHasZeros()) return f;
        const Matrix<float> gate = decoded(decides().weight);
        if (d_.width % 32 == 0) {
            f.low_rank = lowRank(gate, false);
            if (before_.rows() > 0) f.look_ahead = lowRank(gate, true);
        }
        if (d_.width % 64 == 0) f.bit_plane = bitPlane(gate);
        return f;
    }

private:
    const model::Linear& decides() const { return l_.gate ? l_.gate : l_.up; }
    MatrixView<const float> cutRows(const Matrix<float>& x) const {
        return x.view().slice(fit_, x.rows() - fit_);
    }

    Matrix<float> decoded(const cpu::Weight& weight) {
        Matrix<float> out(weight.rows, weight.cols);
        pool_.run((weight.rows + 63) / 64, [&](size_t piece) {
            for (size_t r = piece * 64; r < std::min<size_t>(weight.rows, piece * 64 + 64); ++r)
                cpu::decodeRow(weight, r, out.row(r));
        });
        return out;
    }

    /// The rank that costs least: a greater one reads more itself and lets fewer neurons through.
    std::optional<sparse::Estimator> lowRank(const Matrix<float>& gate, bool ahead) {
        const uint64_t row = decides().weight.row_bytes;
        const size_t most = std::min<size_t>({options_.most_rank, d_.width / 2, gate.rows() / 2}) / 32 * 32;
        if (most == 0) return {};
        const MatrixView<const float> x = (ahead ? before_ : x_).view();
        Moments moments = ahead ? momentsOf(pool_, x.slice(0, fit_), x_.view().slice(0, fit_))
                                : momentsOf(pool_, x.slice(0, fit_));
        const LowRank fit = fitLowRank(pool_, gate.view(), moments, most);
        std::optional<sparse::Estimator> best;
        double least = 0;
        for (size_t rank = std::min<size_t>(32, most); rank <= most; rank = rank < most ? std::min(2 * rank, most) : most + 1) {
            sparse::Estimator e;
            e.in = quantised(Type::Q8_0, fit.in.view().slice(0, rank));
            e.out = quantised(Type::Q4_0, fit.out.view().columns(0, rank));
            cut(e, cutRows(ahead ? before_ : x_));
            const double price = options_.prices.predictor * static_cast<double>(e.in.data.size() + e.out.data.size()) +
                                 options_.prices.neurons * e.flagged * static_cast<double>(row * gate.rows());
            if (best && price >= least) continue;
            least = price;
            best = std::move(e);
        }
        return best;
    }

    sparse::Estimator bitPlane(const Matrix<float>& gate) {
        sparse::Estimator e;
        e.in = encoded(Type::Q2_0, gate.view(), sparse::encodeTwoBits);
        cut(e, cutRows(x_));
        return e;
    }

    /// Estimates by the stored matrices, as they will be while running.
    void cut(sparse::Estimator& e, MatrixView<const float> x) {
        Matrix<float> estimates = sample_.times(linear(e.in), x);
        if (e.out.rows > 0) estimates = sample_.times(linear(e.out), estimates.view());
        Cuts cuts = fitCuts(sample_, d_.architecture.activation, estimates.view(), options_.budget);
        e.cuts = std::move(cuts.cuts);
        e.spreads = std::move(cuts.spreads);
        e.lost = static_cast<float>(cuts.lost);
        e.flagged = static_cast<float>(cuts.flagged);
    }

    const model::Description& d_;
    const model::LayerWeights& l_;
    ThreadPool& pool_;
    const CalibrateOptions& options_;
    Matrix<float> x_, before_;
    size_t fit_;
    LayerSample sample_;
};

/// Everything that decides about the findings, in a few words.
std::string settingsOf(const Model& model, const CalibrateOptions& o) {
    std::string all;
    for (const std::vector<text::Token>& window : o.windows)
        all.append(reinterpret_cast<const char*>(window.data()), window.size() * sizeof(text::Token)) += '|';
    for (const double number : {o.budget, o.prices.predictor, o.prices.neurons, double(o.most_rank)})
        all += "\n" + std::to_string(std::bit_cast<uint64_t>(number));
    all += "\n" + std::to_string(static_cast<int>(model.description().architecture.activation));
    return sparse::identityOf(all);
}

bool canCalibrate(const model::Description& d, uint32_t layer) {
    return !d.expertLayer(layer) && d.shapes[layer].gate_cut == 0;
}

/// Says how far the work is and how long the rest takes at the pace so far.
class Pace {
public:
    explicit Pace(const CalibrateOptions& options) : options_(options), begin_(std::chrono::steady_clock::now()) {}
    void show(std::string what, double share) const {
        if (!options_.progress) return;
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin_;
        options_.progress({std::move(what), share, share > 0 ? time.count() * (1 - share) / share : 0});
    }

private:
    const CalibrateOptions& options_;
    std::chrono::steady_clock::time_point begin_;
};

}  // namespace

CalibrationText divideText(std::span<const std::vector<text::Token>> all) {
    if (all.size() < 4)
        throw Error("cannot calibrate on this text", "it has fewer than four windows of 512 tokens", "Use a longer text");
    const size_t judge = std::max<size_t>(1, all.size() / 6), cut = std::max<size_t>(1, all.size() / 5),
                 fit = all.size() - judge - cut;
    const auto part = [&](size_t first, size_t n) {
        const auto windows = all.subspan(first, n);
        return std::vector<std::vector<text::Token>>(windows.begin(), windows.end());
    };
    return {part(0, fit), part(fit, cut), part(fit + cut, judge)};
}

void calibrate(Model& model, const CalibrateOptions& options) {
    const model::Description& d = model.description();
    const std::vector<sparse::LayerSize> sizes = model::layerSizes(d);
    const sparse::CalibrationParts parts(model.identity(), *options.sidecars, sizes, settingsOf(model, options));
    std::vector<bool> missing(d.layers), wanted(d.layers);
    bool any = false;
    for (uint32_t i = 0; i < d.layers; ++i) {
        any |= canCalibrate(d, i);
        missing[i] = !parts.has(i);
        if (!missing[i] || !canCalibrate(d, i)) continue;
        wanted[i] = true;
        if (i > 0 && canCalibrate(d, i - 1) && d.activationHasZeros()) wanted[i - 1] = true;
    }
    if (!any)
        throw Error("cannot calibrate this model", "it has no dense feed-forward whose neurons could be predicted");
    const Pace pace(options);
    constexpr double reading = 0.3;   // of the time, about
    CalibrationText text = divideText(options.windows);
    const size_t windows = text.fit.size() + text.cut.size(), fit_tokens = text.fit.size() * text.fit[0].size();
    std::vector<std::vector<text::Token>> read = std::move(text.fit);
    read.insert(read.end(), text.cut.begin(), text.cut.end());
    LayerInputs inputs(model, read, wanted, [&](size_t done) {
        pace.show("reading the text", reading * static_cast<double>(done) / static_cast<double>(windows));
    });
    for (uint32_t i = 0; i < d.layers; ++i) {
        if (!missing[i]) continue;
        pace.show("layer " + std::to_string(i + 1) + " of " + std::to_string(d.layers),
                  reading + (1 - reading) * i / d.layers);
        if (!canCalibrate(d, i)) {
            parts.write(i, {});
            continue;
        }
        const auto all = [&](uint32_t layer) { return inputs.rows(layer, 0, inputs.tokens()); };
        const bool ahead = i > 0 && wanted[i - 1] && d.activationHasZeros() && canCalibrate(d, i - 1);
        LayerFit fit(model, i, options, all(i), ahead ? all(i - 1) : Matrix<float>(), fit_tokens);
        parts.write(i, fit.findings());
        if (i > 0) inputs.forget(i - 1);
    }
    parts.finish();
}

std::vector<ModeFigures> judgeModes(Model& model, std::span<const std::vector<text::Token>> windows,
                                    std::span<const sparse::Choice> modes, uint32_t decoded_tokens,
                                    const std::function<void(size_t)>& progress) {
    std::vector<ModeFigures> table;
    model::Forward& forward = model.forward();
    const sparse::Choice before = forward.choice();
    for (const sparse::Choice& mode : modes) {
        ModeFigures figures;
        figures.mode = mode;
        figures.evaluation = evaluate(model, windows, mode, sparse::Choice(sparse::Mode::off));
        forward.setChoice(mode);
        const auto sequence = model.newSequence();
        Matrix<float> logits(1, model.description().vocabulary);
        std::vector<double> times;
        forward.measurements().reset(false);
        const std::span<const text::Token> tokens = windows[0];
        for (uint32_t t = 0; t < std::min<size_t>(decoded_tokens, tokens.size()); ++t) {
            const auto begin = std::chrono::steady_clock::now();
            const model::Part part{sequence.get(), tokens.subspan(t, 1), model::Part::Logits::last};
            forward.run({&part, 1}, logits.view());
            times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        }
        std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
        figures.tokens_per_second = 1 / times[times.size() / 2];
        if (const auto& neurons = forward.measurements().neurons; neurons.all > 0)
            figures.active = static_cast<double>(neurons.added) / static_cast<double>(neurons.all);
        forward.setChoice(before);
        table.push_back(std::move(figures));
        if (progress) progress(table.size());
    }
    return table;
}

}  // namespace hearth::runtime
