#include <QTemporaryDir>
#include <QtTest>
#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "engine/placement/measure.h"
#include "tests/support/predictions.h"

using namespace hearth;
using placement::Curve;

namespace {

QTemporaryDir folder;

std::filesystem::path write(const char* name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / name;
    std::ofstream(path) << text;
    return path;
}

const std::string plain =
    R"({"architecture": "llama", "layers": 2, "width": 64, "heads": 2, "vocabulary": 100, "feed_forward": 96)";

}  // namespace

class TestShapes : public QObject {
    Q_OBJECT

private slots:
    /// Parameters as their makers publish them, in 10^9.
    void publishedSizes() {
        const std::pair<const char*, double> published[] = {
            {"llama-3.1-8b", 8.03},  {"llama-3.3-70b", 70.6},    {"mixtral-8x7b", 46.7}, {"gpt-oss-120b", 116.8},
            {"qwen3-30b-a3b", 30.5}, {"smallthinker-21b", 21.5}, {"opt-175b", 174.6}};
        for (const auto& [id, billions] : published) {
            const auto shape = placement::readShape(test::placementFile("models.json"), id);
            double values = double(shape.description.parameters());
            for (const auto& t : shape.description.file->tensors())
                if (t.name.find(".fc") != std::string::npos)
                    values -= double(t.ne[0] * t.ne[1]);  // PowerInfer's predictors
            QVERIFY2(std::abs(values / 1e9 / billions - 1) < 0.01, id);
        }
    }

    void bytesByHand() {
        const auto shape = placement::readShape(write("one.json", plain + "}"));
        // Q4_0: 18 bytes for 32 values. Attention 4 · 64 · 64 and feed-forward 3 · 64 · 96 a layer; embedding and output.
        uint64_t bytes = 0;
        for (const auto& t : shape.description.file->tensors()) bytes += t.bytes;
        QCOMPARE(bytes, uint64_t{(2 * (4 * 64 * 64 + 3 * 64 * 96) + 2 * 64 * 100) / 32 * 18 + 5 * 64 * 4});
        QCOMPARE(shape.activity.size(), size_t{2});
    }

    void neuronsOfAShape() {
        const auto shape = placement::readShape(
            write("sparse.json", plain + R"(, "activation": "relu", "predictor_rank": 32, "active": 0.1, "curve": [
                {"layer": 0, "points": [[0.2, 0.8]]}, {"layer": 9, "points": [[0.5, 0.6]]}]})"));
        QVERIFY(shape.description.activationHasZeros());
        QVERIFY(shape.description.file->find("blk.0.fc2.weight") != nullptr &&
                shape.description.file->find("blk.0.ffn_down_t.weight") != nullptr);
        QCOMPARE(shape.activity[1].active, 0.1);
        QCOMPARE(shape.activity[1].curve.reads(0.2), 0.8);  // layer 1 is nearer to 0 than to 9
        QCOMPARE(shape.activity[1].curve.reads(0.1), 0.4);
    }

    void faultyFiles_data() {
        QTest::addColumn<QString>("text");
        const QString p = QString::fromStdString(plain);
        QTest::newRow("no JSON") << "{";
        QTest::newRow("a key is missing") << R"({"architecture": "llama"})";
        QTest::newRow("another kind")
            << R"({"architecture": 7, "layers": 2, "width": 64, "heads": 2, "vocabulary": 100})";
        QTest::newRow("unknown architecture")
            << R"({"architecture": "nobody", "layers": 2, "width": 64, "heads": 2, "vocabulary": 100})";
        QTest::newRow("no heads")
            << R"({"architecture": "llama", "layers": 2, "width": 64, "heads": 0, "vocabulary": 100})";
        QTest::newRow("too many layers")
            << R"({"architecture": "llama", "layers": 4000000000, "width": 64, "heads": 2, "vocabulary": 100})";
        QTest::newRow("negative")
            << R"({"architecture": "llama", "layers": -1, "width": 64, "heads": 2, "vocabulary": 100})";
        QTest::newRow("huge")
            << R"({"architecture": "llama", "layers": 2, "width": 4294967264, "heads": 2, "vocabulary": 4294967264, "feed_forward": 32})";
        QTest::newRow("unknown type") << p + R"(, "type": "Q9_9"})";
        QTest::newRow("no blocks")
            << R"({"architecture": "llama", "layers": 2, "width": 66, "heads": 2, "vocabulary": 100, "feed_forward": 96})";
        QTest::newRow("share above 1") << p + R"(, "active": 1.5})";
        QTest::newRow("curve that rises") << p + R"(, "curve": [{"layer": 0, "points": [[0.5, 0.1]]}]})";
        QTest::newRow("exponent") << p + R"(, "curve": -1})";
        QTest::newRow("expert of no kind") << p + R"(, "experts": {"count": 4}})";
        QTest::newRow("more used than there are") << p + R"(, "experts": {"count": 4, "used": 5, "width": 32}})";
        QTest::newRow("several") << "[" + p + "}," + p + "}]";
    }

    void faultyFiles() {
        QFETCH(QString, text);
        QVERIFY_THROWS_EXCEPTION(Error, placement::readShape(write("faulty.json", text.toStdString())));
    }

    void missingFile() { QVERIFY_THROWS_EXCEPTION(Error, placement::readShapes("/nowhere/shapes.json")); }

    void curves() {
        QCOMPARE(Curve().reads(0.3), 0.3);
        QCOMPARE(Curve::power(0.5).reads(0.25), 0.5);
        const double rates[] = {1, 0, 7, 2};
        const Curve counted = Curve::fromRates(rates);
        QCOMPARE(counted.reads(0.25), 0.7);
        QCOMPARE(counted.reads(0.5), 0.9);
        QCOMPARE(counted.reads(0.75), 1.0);
        QCOMPARE(counted.reads(1), 1.0);
        std::vector<double> many(10000);
        for (size_t i = 0; i < many.size(); ++i) many[i] = double((i * 7919) % many.size());
        // Rates 0 .. n − 1: the hottest half makes three quarters.
        QVERIFY(std::abs(Curve::fromRates(many).reads(0.5) - 0.75) < 1e-3);
        QCOMPARE(Curve::fromRates(std::vector<double>(50, 0.0)).reads(0.5), 0.5);
        QCOMPARE(Curve::fromRates(std::vector<double>(50, 3.0)).reads(0.5), 0.5);
    }

    /// ReLU as published for ReLU Llamas; the tail of a normal distribution beyond 1.645 deviations is 5 %.
    void assumptions() {
        auto shape = placement::readShape(write("relu.json", plain + R"(, "activation": "relu"})"));
        QCOMPARE(placement::assumedActivity(shape.description)[0].active, 0.33);
        shape.description.shapes[1].gate_cut = 1.6449f;
        QVERIFY(std::abs(placement::assumedActivity(shape.description)[1].active - 0.05) < 1e-4);
    }

    void speedsAreMeasuredOnceAndKept() {
        const std::filesystem::path cache = std::filesystem::path(folder.path().toStdString()) / "machine";
        ThreadPool pool(1);
        const gguf::Type types[] = {gguf::Type::F16};
        placement::Device first, second;
        placement::CpuSpeeds(pool, cache).describe(first, types);
        QVERIFY(first.read_bytes_per_s > 0 && first.flops > 0 && first.gather > 0 && first.gather <= 1 &&
                first.layer_s > 0);
        QVERIFY(first.rate(gguf::Type::F16) > 0 && first.type_bytes_per_s.contains(gguf::Type::F16));
        QCOMPARE(first.rate(gguf::Type::Q8_0), first.read_bytes_per_s);
        placement::CpuSpeeds again(pool, cache);
        again.describe(second, types);
        QCOMPARE(second.read_bytes_per_s, first.read_bytes_per_s);  // to the last bit: it was not measured twice
        QCOMPARE(second.type_bytes_per_s, first.type_bytes_per_s);
        // Damaged, or of another machine: measured anew, not used.
        const std::filesystem::path path = again.path();
        std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
        placement::CpuSpeeds(pool, cache).describe(second, types);
        QVERIFY(second.read_bytes_per_s > 0 && second.read_bytes_per_s != first.read_bytes_per_s);
        ThreadPool two(2);
        QVERIFY(placement::CpuSpeeds(two, cache).path() != path);
        placement::Device third;
        again.forget();
        again.describe(third, types);
        QVERIFY(third.read_bytes_per_s != first.read_bytes_per_s);
        // A folder that cannot be written costs the next start its second, nothing else.
        placement::Device fourth;
        placement::CpuSpeeds(pool, path / "below a file").describe(fourth, types);
        QVERIFY(fourth.read_bytes_per_s > 0);
    }
};

QTEST_GUILESS_MAIN(TestShapes)
#include "test_shapes.moc"
