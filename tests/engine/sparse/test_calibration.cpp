#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/base/error.h"
#include "engine/quant/quant.h"
#include "engine/sparse/calibration.h"
#include "engine/sparse/loss_control.h"
#include "engine/sparse/two_bits.h"

using namespace hearth;
using namespace hearth::sparse;

namespace {

const std::string kModel(64, 'd');
const std::vector<LayerSize> kSizes{{4, 64}, {0, 0}};

Estimator::Matrix matrix(gguf::Type type, uint64_t rows, uint64_t cols) {
    return {type, rows, cols, std::vector<std::byte>(gguf::rowBytes(type, cols) * rows)};
}

LayerFindings findings() {
    LayerFindings f;
    Estimator low;
    low.in = matrix(gguf::Type::Q8_0, 32, 64);
    low.out = matrix(gguf::Type::Q4_0, 4, 32);
    low.cuts = {1, 2, 3, 4};
    low.spreads = {0.5f, 0.5f, 0.5f, 0.5f};
    low.lost = 0.04f;
    low.flagged = 0.3f;
    f.low_rank = low;
    f.weights = {1, 1, 2, 2};
    f.thresholds = {{0.1f, 1.0f}, {0.3f, 2.0f}};
    f.firing = 0.25f;
    return f;
}

}  // namespace

class TestCalibration : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    Sidecars sidecars() const { return Sidecars(folder_->path().toStdString()); }

private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void goesOnWhereItWasAndIsReadBack() {
        const Sidecars all = sidecars();
        const CalibrationParts parts(kModel, all, kSizes, "settings");
        QVERIFY(!parts.has(0));
        parts.write(0, findings());
        QVERIFY(parts.has(0));
        QVERIFY(!CalibrationParts(kModel, all, kSizes, "others").has(0));
        QVERIFY_THROWS_EXCEPTION(Error, parts.finish());   // layer 1 is missing
        parts.write(1, {});
        parts.finish();
        QCOMPARE(all.list().size(), size_t{1});

        const auto calibration = Calibration::open(kModel, all, kSizes);
        QVERIFY(calibration != nullptr);
        const LayerView& layer = calibration->layer(0);
        QCOMPARE(layer.low_rank.in->ne[1], uint64_t{32});
        QCOMPARE(layer.low_rank.cuts[2], 3.0f);
        QCOMPARE(layer.low_rank.flagged, 0.3f);
        QCOMPARE(layer.firing, 0.25f);
        QVERIFY(!layer.bit_plane);
        QVERIFY(!calibration->layer(1).low_rank);
        QCOMPARE(layer.thresholdFor(0.05f), 0.5f);
        QCOMPARE(layer.thresholdFor(0.2f), 1.5f);
        QCOMPARE(layer.thresholdFor(0.9f), 2.0f);
    }

    void wrongOnesAreDeleted_data() {
        QTest::addColumn<int>("what");
        QTest::newRow("too few cuts") << 0;
        QTest::newRow("a predictor of another width") << 1;
        QTest::newRow("no number") << 2;
        QTest::newRow("a curve that falls") << 3;
        QTest::newRow("a type that is none of weights") << 4;
    }
    void wrongOnesAreDeleted() {
        QFETCH(int, what);
        const Sidecars all = sidecars();
        LayerFindings f = findings();
        if (what == 0) f.low_rank->cuts.pop_back();
        if (what == 1) f.low_rank->in = matrix(gguf::Type::Q8_0, 32, 32);
        if (what == 2) f.low_rank->spreads[1] = std::numeric_limits<float>::quiet_NaN();
        if (what == 3) f.thresholds = {{0.3f, 2.0f}, {0.1f, 1.0f}};
        if (what == 4) f.low_rank->out = matrix(gguf::Type::I8, 4, 32);
        gguf::Writer writer;
        {
            const CalibrationParts parts(kModel, all, kSizes, "settings");
            parts.write(0, f);
            QVERIFY(!parts.has(0));   // as a part it is not believed either
            parts.write(0, f);
            const auto file = all.open(kModel, {"calibration-layer-0", 1});
            QVERIFY(file != nullptr);
            for (const gguf::Tensor& t : file->tensors())
                writer.addTensor(t.name, t.type, std::span(t.ne).first(t.n_dims), std::span(t.data, t.bytes));
            all.write(kModel, {"calibration", 1}, writer);
        }
        std::string why;
        QVERIFY(Calibration::open(kModel, all, kSizes, &why) == nullptr);
        QVERIFY2(QString::fromStdString(why).contains("blk.0."), why.c_str());
        QVERIFY(all.open(kModel, {"calibration", 1}) == nullptr);
    }

    /// Checks: which layer when; the statistic; the dial under a budget.
    void lossIsHeld() {
        const LossControl watched(3);
        QVERIFY(watched.due(0, 0) && watched.due(1, 16) && watched.due(2, 32) && watched.due(0, 48));
        QVERIFY(!watched.due(0, 1) && !watched.due(1, 0) && !watched.due(0, 16));
        LossControl held(2, 0.1f);
        QCOMPARE(held.dial(), 0.0f);
        held.add(0, 0.4f);   // four times too much: two steps
        QCOMPARE(held.dial(), 2.0f);
        held.add(1, 0.2f);
        QCOMPARE(held.dial(), 3.0f);
        QVERIFY(std::abs(held.lost() - 0.3f) < 1e-6f);
        held.add(0, 0.0f);
        held.add(1, 0.0f);
        QVERIFY(held.dial() < 3.0f && held.dial() > 2.5f);   // slowly back
        LossControl free(2);
        free.add(0, 0.9f);
        QCOMPARE(free.dial(), 0.0f);
        QCOMPARE(free.lost(), 0.9f);
    }

    /// Values that lie on a grid −s, 0, s, 2 s come back as they were; others with the least error that the grid allows.
    void twoBits() {
        std::vector<float> grid(64), back(64);
        for (size_t i = 0; i < grid.size(); ++i) grid[i] = 0.25f * static_cast<float>(static_cast<int>(i % 4) - 1);
        std::vector<std::byte> bytes(18);
        encodeTwoBits(grid, bytes);
        quant::decode(gguf::Type::Q2_0, bytes, back);
        QCOMPARE(back, grid);
        std::vector<float> mirrored = grid;
        for (float& v : mirrored) v = -v;
        encodeTwoBits(mirrored, bytes);
        quant::decode(gguf::Type::Q2_0, bytes, back);
        QCOMPARE(back, mirrored);
        QVERIFY_THROWS_EXCEPTION(Error, encodeTwoBits(std::span(grid).first(32), std::span(bytes)));

        // Against an exhaustive search over steps.
        std::vector<float> drawn(64);
        uint32_t state = 1;
        for (float& v : drawn) {
            float sum = 0;
            for (int k = 0; k < 6; ++k) {
                state = state * 1664525 + 1013904223;
                sum += static_cast<float>(state >> 8) / (1 << 24) - 0.5f;
            }
            v = sum;
        }
        encodeTwoBits(drawn, bytes);
        quant::decode(gguf::Type::Q2_0, bytes, back);
        const auto errorOf = [&](auto&& approximation) {
            double error = 0;
            for (size_t i = 0; i < 64; ++i) error += std::pow(double{drawn[i]} - approximation(i), 2);
            return error;
        };
        double least = 1e9;
        for (double step = -2; step <= 2; step += 0.001)
            least = std::min(least, errorOf([&](size_t i) {
                double best = 1e9, value = 0;
                for (const int code : {-1, 0, 1, 2})
                    if (std::abs(drawn[i] - code * step) < best) {
                        best = std::abs(drawn[i] - code * step);
                        value = code * step;
                    }
                return value;
            }));
        QVERIFY(errorOf([&](size_t i) { return double{back[i]}; }) <= 1.1 * least);
    }
};

QTEST_APPLESS_MAIN(TestCalibration)
#include "test_calibration.moc"
