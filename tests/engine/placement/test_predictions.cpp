#include <QtTest>
#include <cmath>

#include "tests/support/predictions.h"

using namespace hearth;
using test::Way;

namespace {

/// Tokens per second of sparsity §3.5, by another program: layer split, 4 hand-overs, 1 hand-over, lossless.
struct Row {
    const char* id;
    double vram_gb, cpu_gb_s;
    double tps[4];
};
constexpr Row rows[] = {
    {"prosparse-13b", 6, 55, {21.5, 133.7, 165.5, 142.8}}, {"prosparse-13b", 7, 55, {34.0, 144.7, 182.8, 157.0}},
    {"relullama-70b", 14, 55, {2.1, 23.1, 24.7, 6.7}},     {"relullama-70b", 20, 55, {2.7, 35.5, 39.6, 24.2}},
    {"relullama-70b", 24, 55, {3.3, 42.9, 48.9, 33.6}},    {"relullama-70b", 20, 220, {9.1, 53.2, 62.8, 38.6}},
};

}  // namespace

class TestPredictions : public QObject {
    Q_OBJECT

private slots:
    void withinFifteenPercentOfTheRoofline() {
        for (const Row& row : rows) {
            const placement::ModelShape shape = test::skewedShape(row.id);
            for (const Way way : {Way::layer_split, Way::four_handovers, Way::predictor, Way::lossless}) {
                const double want = row.tps[int(way)],
                             got = test::predict(shape, way, row.vram_gb, row.cpu_gb_s).decode_tps;
                const QString where = QStringLiteral("%1 at %2 GB, column %3: %4 instead of %5")
                                          .arg(row.id)
                                          .arg(row.vram_gb)
                                          .arg(int(way))
                                          .arg(got)
                                          .arg(want);
                QVERIFY2(std::abs(got / want - 1) <= 0.15, qPrintable(where));
            }
        }
    }

    void neuronsBeatLayers() {
        const auto tps = [](const char* id, Way way, double gb) {
            return test::predict(test::skewedShape(id), way, gb, 55).decode_tps;
        };
        QVERIFY(tps("prosparse-13b", Way::lossless, 6) >= 5 * tps("prosparse-13b", Way::layer_split, 6));
        QVERIFY(tps("relullama-70b", Way::predictor, 24) >= 8 * tps("relullama-70b", Way::layer_split, 24));
    }
};

QTEST_GUILESS_MAIN(TestPredictions)
#include "test_predictions.moc"
