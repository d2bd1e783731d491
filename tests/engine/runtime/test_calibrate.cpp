#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <random>

#include "engine/base/error.h"
#include "engine/model/predictors.h"
#include "engine/quant/quant.h"
#include "engine/runtime/calibrate/calibrate.h"
#include "engine/runtime/calibrate/low_rank.h"
#include "tests/bench/made_model.h"

using namespace hearth;
using runtime::Model;
using sparse::Mode, sparse::Predictor;
namespace fs = std::filesystem;

namespace {

using Table = std::vector<std::vector<double>>;

/// Eigenvalues of a symmetric matrix by Jacobi rotations, greatest first.
std::vector<double> eigenvalues(Table a) {
    const size_t n = a.size();
    for (int sweep = 0; sweep < 60; ++sweep)
        for (size_t p = 0; p < n; ++p)
            for (size_t q = p + 1; q < n; ++q) {
                if (std::abs(a[p][q]) < 1e-15) continue;
                const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]), c = std::cos(angle),
                             s = std::sin(angle);
                for (size_t k = 0; k < n; ++k) {
                    const double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; ++k) {
                    const double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
            }
    std::vector<double> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = a[i][i];
    std::ranges::sort(values, std::greater());
    return values;
}

Matrix<float> drawn(size_t rows, size_t cols, unsigned seed) {
    std::mt19937 bits(seed);
    std::normal_distribution<float> normal;
    Matrix<float> m(rows, cols);
    for (size_t i = 0; i < rows * cols; ++i) m.data()[i] = normal(bits);
    return m;
}

sparse::Choice predict(Predictor predictor, float max_loss = 0) {
    sparse::Choice choice(Mode::predict);
    choice.predictor = predictor;
    choice.max_loss = max_loss;
    return choice;
}

}  // namespace

/// A made model whose gates are a matrix of rank 32 with a little noise, nine tenths of them negative.
class TestCalibrate : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    fs::path path_ = fs::path(folder_.path().toStdString()) / "model.gguf";
    runtime::LoadOptions options_;
    std::vector<std::vector<text::Token>> windows_;

    std::shared_ptr<Model> load(const sparse::Choice& choice) {
        runtime::LoadOptions options = options_;
        options.sparse = choice;
        return Model::load(path_, options);
    }
    runtime::CalibrateOptions calibrateOptions() const {
        runtime::CalibrateOptions o;
        o.windows = windows_;
        o.sidecars = &options_.sidecars;
        o.most_rank = 64;
        return o;
    }
    std::vector<float> decode(Model& model, size_t tokens) {
        const auto sequence = model.newSequence();
        std::vector<float> all;
        Matrix<float> logits(1, model.description().vocabulary);
        for (size_t t = 0; t < tokens; ++t) {
            const model::Part part{sequence.get(), std::span(windows_[t / 64 % windows_.size()]).subspan(t % 64, 1),
                                   model::Part::Logits::last};
            model.forward().run({&part, 1}, logits.view());
            all.insert(all.end(), logits.row(0), logits.row(0) + logits.cols());
        }
        return all;
    }

private slots:
    void initTestCase() {
        bench::Recipe recipe;
        recipe.shape = {"small", "llama", 128, 512, 3, 4, 4, 32, 512};
        recipe.types.base = gguf::Type::Q8_0;
        recipe.zeros = 0.9;
        recipe.rank = 32;
        recipe.noise = 0.05;
        recipe.down_transposed = true;
        bench::writeModel(recipe, path_);
        options_.ctx = 512;
        options_.batch = 64;
        options_.threads = 2;
        options_.sidecars = sparse::Sidecars(fs::path(folder_.path().toStdString()) / "cache");
        std::mt19937 bits(3);
        for (int w = 0; w < 40; ++w) {
            windows_.emplace_back(64);
            for (text::Token& t : windows_.back()) t = static_cast<text::Token>(bits() % 512);
        }
    }

    /// The error of the fit is what linear algebra says the best matrix of its rank has: the eigenvalues beyond it.
    void lowRankIsTheBestOfItsRank() {
        constexpr size_t d = 24, f = 40, n = 4000, rank = 6;
        ThreadPool pool(2);
        const Matrix<float> gate = drawn(f, d, 1), raw = drawn(n, d, 2), mix = drawn(d, d, 3);
        Matrix<float> x(n, d);
        for (size_t t = 0; t < n; ++t)
            for (size_t c = 0; c < d; ++c) {
                x.row(t)[c] = 3;   // a mean, which does not count
                for (size_t k = 0; k < d; ++k) x.row(t)[c] += raw.row(t)[k] * mix.row(k)[c] / (1.0f + static_cast<float>(k));
            }
        runtime::Moments moments = runtime::momentsOf(pool, x.view());
        const runtime::LowRank fit = runtime::fitLowRank(pool, gate.view(), moments, rank);
        QCOMPARE(fit.in.rows(), rank);
        // Covariance of the gates and of the fit's error, in double precision.
        std::vector<double> mean(d);
        for (size_t t = 0; t < n; ++t)
            for (size_t c = 0; c < d; ++c) mean[c] += x.row(t)[c] / double{n};
        Table covariance(f, std::vector<double>(f));
        double error = 0, all = 0;
        for (size_t t = 0; t < n; ++t) {
            std::vector<double> g(f), z(rank);
            for (size_t j = 0; j < f; ++j)
                for (size_t c = 0; c < d; ++c) g[j] += gate.row(j)[c] * (x.row(t)[c] - mean[c]);
            for (size_t r = 0; r < rank; ++r)
                for (size_t c = 0; c < d; ++c) z[r] += fit.in.row(r)[c] * (x.row(t)[c] - mean[c]);
            for (size_t j = 0; j < f; ++j) {
                double estimate = 0;
                for (size_t r = 0; r < rank; ++r) estimate += fit.out.row(j)[r] * z[r];
                error += (g[j] - estimate) * (g[j] - estimate) / double{n};
                all += g[j] * g[j] / double{n};
                for (size_t k = 0; k < f; ++k) covariance[j][k] += g[j] * g[k] / double{n};
            }
        }
        const std::vector<double> values = eigenvalues(covariance);
        double best = 0;
        for (size_t r = rank; r < f; ++r) best += values[r];
        QVERIFY(best > 0.01 * all);
        QVERIFY2(error >= best * (1 - 1e-6) && error <= 1.05 * best,
                 qPrintable(QString("error %1, best %2, all %3").arg(error).arg(best).arg(all)));
    }

    void needsACalibration() {
        QVERIFY_THROWS_EXCEPTION(Error, load(predict(Predictor::low_rank)));
        QVERIFY_THROWS_EXCEPTION(Error, load(predict(Predictor::best)));
        QVERIFY_THROWS_EXCEPTION(Error, load(predict(Predictor::file)));
        QVERIFY_THROWS_EXCEPTION(Error, load(Mode::threshold));
    }

    /// Stopped after a layer it goes on there, and finds what it finds in one go.
    void goesOnAfterAStop() {
        const auto model = load(Mode::exact);
        std::stop_source stop;
        runtime::CalibrateOptions options = calibrateOptions();
        options.progress = [&](const auto& p) {
            if (p.what == "layer 3 of 3") stop.request_stop();
        };
        model->pool().setStop(stop.get_token());
        QVERIFY_THROWS_EXCEPTION(Stopped, runtime::calibrate(*model, options));
        model->pool().setStop({});
        QCOMPARE(options_.sidecars.list().size(), size_t{2});
        std::vector<std::string> seen;
        options.progress = [&](const auto& p) { seen.push_back(p.what); };
        runtime::calibrate(*model, options);
        QVERIFY(std::ranges::find(seen, "layer 3 of 3") != seen.end());
        QVERIFY(std::ranges::find(seen, "layer 2 of 3") == seen.end());
        QCOMPARE(options_.sidecars.list().size(), size_t{1});
        QVERIFY(model->usePredictors());
    }

    /// Gates of rank 32 are predicted by rank 32, with few false alarms; the planted share fires.
    void findsThePlantedRank() {
        const auto model = load(Mode::exact);
        const auto calibration = sparse::Calibration::open(model->identity(), options_.sidecars,
                                                           model::layerSizes(model->description()));
        QVERIFY(calibration != nullptr);
        for (size_t i = 0; i < 3; ++i) {
            const sparse::LayerView& layer = calibration->layer(i);
            QVERIFY2(std::abs(layer.firing - 0.1f) < 0.05f, qPrintable(QString::number(layer.firing)));
            QCOMPARE(layer.low_rank.in->ne[1], uint64_t{32});
            QVERIFY2(layer.low_rank.flagged < 1.5f * layer.firing, qPrintable(QString::number(layer.low_rank.flagged)));
            QVERIFY(layer.low_rank.lost <= 0.05f && layer.bit_plane.lost <= 0.05f);
            QVERIFY(bool(layer.look_ahead) == (i > 0));
        }
    }

    /// While decoding: what each predictor computes and loses.
    void predictorsWhileDecoding_data() {
        QTest::addColumn<int>("predictor");
        QTest::addColumn<double>("most_lost");
        QTest::newRow("low rank") << int(Predictor::low_rank) << 0.1;
        QTest::newRow("bit plane") << int(Predictor::bit_plane) << 0.1;
        QTest::newRow("look-ahead") << int(Predictor::look_ahead) << 0.1;
        QTest::newRow("oracle") << int(Predictor::oracle) << 0.0;
    }
    void predictorsWhileDecoding() {
        QFETCH(int, predictor);
        QFETCH(double, most_lost);
        const auto model = load(predict(Predictor(predictor)));
        model->forward().measurements().reset(false);
        const std::vector<float> got = decode(*model, 256);
        const auto& neurons = model->forward().measurements().neurons;
        QVERIFY(neurons.all == 256u * 3 * 512);
        const double added = static_cast<double>(neurons.added) / static_cast<double>(neurons.all);
        QVERIFY2(added > 0.05 && added < 0.15, qPrintable(QString::number(added)));
        QCOMPARE(model->forward().loss().checks(), uint64_t{16});
        QVERIFY2(model->forward().loss().lost() <= most_lost, qPrintable(QString::number(model->forward().loss().lost())));
        if (Predictor(predictor) == Predictor::oracle) QVERIFY(got == decode(*load(Mode::exact), 256));
    }

    /// Whatever is in the batch, a token's neurons are the same: masks hold in prompts too.
    void promptsAreMaskedAsSingleTokensAre() {
        for (const sparse::Choice& mode : {predict(Predictor::low_rank), predict(Predictor::look_ahead), [] {
                 sparse::Choice choice(Mode::threshold);
                 choice.lost_share = 0.2f;
                 return choice;
             }()}) {
            const auto model = load(mode);
            const std::vector<float> one = decode(*model, 64);
            const auto sequence = model->newSequence();
            const model::Part part{sequence.get(), windows_[0], model::Part::Logits::all};
            Matrix<float> logits(64, model->description().vocabulary);
            model->forward().run({&part, 1}, logits.view());
            double error = 0, size = 0;
            for (size_t i = 0; i < one.size(); ++i) {
                error += std::pow(double{one[i]} - logits.data()[i], 2);
                size += double{one[i]} * one[i];
            }
            QVERIFY2(error < 1e-9 * size, qPrintable(QString::number(error / size)));
        }
    }

    /// A threshold loses about what it was asked to lose, more for more.
    void thresholdsLoseWhatTheySay() {
        double before = 0;
        for (const float asked : {0.05f, 0.2f}) {
            sparse::Choice choice(Mode::threshold);
            choice.lost_share = asked;
            const auto model = load(choice);
            decode(*model, 256);
            const double lost = model->forward().loss().lost();
            QVERIFY2(lost > 0.4 * asked && lost < 2 * asked, qPrintable(QString("%1 for %2").arg(lost).arg(asked)));
            QVERIFY(lost > before);
            before = lost;
        }
    }

    /// A predictor that was spoilt: the statistic shows it, and with a budget the cuts give way within 64 tokens.
    void aSpoiltPredictorIsHeld() {
        const auto good = load(predict(Predictor::low_rank));
        const std::vector<sparse::LayerSize> sizes = model::layerSizes(good->description());
        const auto calibration = sparse::Calibration::open(good->identity(), options_.sidecars, sizes);
        const sparse::Sidecars spoilt(fs::path(folder_.path().toStdString()) / "spoilt");
        const sparse::CalibrationParts parts(good->identity(), spoilt, sizes, "spoilt");
        for (size_t i = 0; i < sizes.size(); ++i) {
            const sparse::EstimatorView& e = calibration->layer(i).low_rank;
            sparse::LayerFindings findings;
            sparse::Estimator worse;
            worse.in = {e.in->type, e.in->ne[1], e.in->ne[0], {e.in->data, e.in->data + e.in->bytes}};
            worse.out = {e.out->type, e.out->ne[1], e.out->ne[0], {e.out->data, e.out->data + e.out->bytes}};
            worse.cuts.assign(e.cuts.begin(), e.cuts.end());
            worse.spreads.assign(e.spreads.begin(), e.spreads.end());
            for (size_t j = 0; j < worse.cuts.size(); ++j) worse.cuts[j] += 12 * worse.spreads[j];
            findings.low_rank = worse;
            parts.write(i, findings);
        }
        parts.finish();
        runtime::LoadOptions before = options_;
        options_.sidecars = spoilt;
        const auto free = load(predict(Predictor::low_rank)), held = load(predict(Predictor::low_rank, 0.1f));
        options_ = before;
        decode(*free, 64);
        QVERIFY2(free->forward().loss().lost() > 0.2f, qPrintable(QString::number(free->forward().loss().lost())));
        QCOMPARE(free->forward().loss().dial(), 0.0f);
        decode(*held, 64);
        QVERIFY(held->forward().loss().dial() > 1);
        QVERIFY2(held->forward().loss().lost() <= 0.1f, qPrintable(QString::number(held->forward().loss().lost())));
    }

    /// Counted while decoding and while reading a prompt, by neuron and dense: the same neurons.
    void profilesCountTheSameEverywhere() {
        options_.count_neurons = true;
        const auto one = load(Mode::exact);
        decode(*one, 64);
        one->keepProfile();
        const sparse::Profile single = one->profile().value();
        QCOMPARE(single.layer(0).tokens, uint64_t{64});
        const auto dense = load(Mode::off);
        const auto sequence = dense->newSequence();
        const model::Part part{sequence.get(), windows_[0], model::Part::Logits::none};
        dense->forward().run({&part, 1}, {});
        dense->keepProfile();   // added to the first
        options_.count_neurons = false;
        const sparse::Profile both = one->profile().value();
        for (size_t i = 0; i < 3; ++i) {
            QCOMPARE(both.layer(i).tokens, uint64_t{128});
            uint64_t first = 0, other = 0;
            for (size_t j = 0; j < 512; ++j) {
                const uint64_t again = both.layer(i).fired[j] - single.layer(i).fired[j];
                first += single.layer(i).fired[j];
                other += again > single.layer(i).fired[j] ? again - single.layer(i).fired[j]
                                                          : single.layer(i).fired[j] - again;
            }
            QVERIFY(first > 64 * 512 / 20);
            QVERIFY2(other * 100 < first, "dense rounding may flip a gate here and there, no more");
        }
    }
};

QTEST_GUILESS_MAIN(TestCalibrate)
#include "test_calibrate.moc"
