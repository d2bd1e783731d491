#include <QTest>

#include <cmath>
#include <cstring>
#include <string>

#include "engine/base/error.h"
#include "engine/quant/encode_levels.h"
#include "engine/quant/quant.h"
#include "tests/engine/quant/made_tensors.h"
#include "tests/engine/quant/peer_figures.h"

using namespace hearth;
using gguf::Type;

namespace {

constexpr Type kQuantised[] = {Type::Q8_0, Type::Q4_0, Type::Q4_1, Type::Q5_0,
                               Type::Q5_1, Type::Q4_K, Type::Q5_K, Type::Q6_K};

std::vector<std::byte> encoded(Type type, std::span<const float> values, std::span<const float> importance = {}) {
    std::vector<std::byte> bytes(gguf::rowBytes(type, values.size()));
    quant::encode(type, values, bytes, importance);
    return bytes;
}

std::vector<float> roundTrip(Type type, std::span<const float> values, std::span<const float> importance = {}) {
    std::vector<float> out(values.size());
    quant::decode(type, encoded(type, values, importance), out);
    return out;
}

/// sqrt(Σ w e² / Σ w); w empty: all 1.
double error(std::span<const float> got, std::span<const float> want, std::span<const float> w = {}) {
    double sum = 0, weights = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double e = double(got[i]) - double(want[i]), wi = w.empty() ? 1.0 : double(w[i]);
        sum += wi * e * e;
        weights += wi;
    }
    return std::sqrt(sum / weights);
}

std::vector<float> importanceOfAll() {
    const std::vector<float> columns = made::importance();
    std::vector<float> all(made::kRows * made::kColumns);
    for (size_t i = 0; i < all.size(); ++i) all[i] = columns[i % made::kColumns];
    return all;
}

std::string nameOf(Type type) { return std::string(gguf::typeInfo(type).name); }

}  // namespace

class TestQuantEncode : public QObject {
    Q_OBJECT

private slots:
    void madeTensorsAreThoseOfTheFigures();
    void asGoodAsPeer_data();
    void asGoodAsPeer();
    void importanceHelps();
    void levelsWriteTheSame_data();
    void levelsWriteTheSame();
    void halvesAreNearest();
    void zerosStayZero();
    void oneLevelOnly();
    void anyMagnitudeStaysFinite();
    void valuesThatCountForNothing();
    void badInputIsRefused();
};

/// Sums of the tensors in float64, by the program that made the peer's figures.
void TestQuantEncode::madeTensorsAreThoseOfTheFigures() {
    const auto sum = [](const std::vector<float>& values) {
        double total = 0;
        for (const float v : values) total += double(v);
        return total;
    };
    QVERIFY(std::fabs(sum(made::tensor("gaussian")) + 5.493925866510693) < 1e-6);
    QVERIFY(std::fabs(sum(made::tensor("laplace")) + 15.859286269779464) < 1e-6);
    QVERIFY(std::fabs(sum(made::tensor("outlier")) - 1.1122782860932112) < 1e-6);
    QVERIFY(std::fabs(sum(made::importance()) - 1232.727316249162) < 1e-4);
}

void TestQuantEncode::asGoodAsPeer_data() {
    QTest::addColumn<size_t>("at");
    for (size_t i = 0; i < std::size(made::kPeerFigures); ++i)
        QTest::addRow("%s %s", made::kPeerFigures[i].type, made::kPeerFigures[i].tensor) << i;
}

void TestQuantEncode::asGoodAsPeer() {
    QFETCH(size_t, at);
    const made::PeerFigures& peer = made::kPeerFigures[at];
    const Type type = gguf::typeByName(peer.type).value();
    const std::vector<float> values = made::tensor(peer.tensor), w = importanceOfAll();
    const double plain = error(roundTrip(type, values), values);
    const double weighted = error(roundTrip(type, values, w), values, w);
    QVERIFY2(plain <= 1.02 * peer.rmse, qPrintable(QString("%1 against %2").arg(plain).arg(peer.rmse)));
    QVERIFY2(weighted <= 1.02 * peer.weighted_rmse,
             qPrintable(QString("weighted: %1 against %2").arg(weighted).arg(peer.weighted_rmse)));
    // A result much better than any quantiser of these bits can reach would mean that the measure is broken.
    QVERIFY(plain >= 0.8 * peer.rmse);
}

void TestQuantEncode::importanceHelps() {
    const std::vector<float> w = importanceOfAll();
    for (const Type type : kQuantised) {
        for (const char* tensor : {"gaussian", "laplace", "outlier"}) {
            const std::vector<float> values = made::tensor(tensor);
            const double without = error(roundTrip(type, values), values, w),
                         with = error(roundTrip(type, values, w), values, w);
            // Q8_0 has no use for weights: its peak gets the largest code.
            const double limit = type == Type::Q8_0 ? 1.0 : 0.95;
            QVERIFY2(with <= limit * without, (nameOf(type) + " " + tensor).c_str());
        }
    }
}

void TestQuantEncode::levelsWriteTheSame_data() {
    using Level = quant::detail::EncodeLevel;
    QTest::addColumn<quant::detail::EncodeBlocks Level::*>("encoder");
    QTest::addColumn<Type>("type");
    QTest::newRow("Q4_0") << &Level::q4_0 << Type::Q4_0;
    QTest::newRow("Q4_1") << &Level::q4_1 << Type::Q4_1;
    QTest::newRow("Q5_0") << &Level::q5_0 << Type::Q5_0;
    QTest::newRow("Q5_1") << &Level::q5_1 << Type::Q5_1;
    QTest::newRow("Q8_0") << &Level::q8_0 << Type::Q8_0;
    QTest::newRow("Q4_K") << &Level::q4_k << Type::Q4_K;
    QTest::newRow("Q5_K") << &Level::q5_k << Type::Q5_K;
    QTest::newRow("Q6_K") << &Level::q6_k << Type::Q6_K;
}

void TestQuantEncode::levelsWriteTheSame() {
    using Level = quant::detail::EncodeLevel;
    QFETCH(quant::detail::EncodeBlocks Level::*, encoder);
    QFETCH(Type, type);
    const auto levels = quant::detail::encodeLevels();
    if (levels.size() < 2) QSKIP("this processor runs one instruction-set level only");
    const std::vector<float> w = importanceOfAll();
    for (const char* tensor : {"gaussian", "laplace", "outlier"}) {
        const std::vector<float> values = made::tensor(tensor);
        const size_t blocks = values.size() / gguf::typeInfo(type).block_elements;
        for (const float* importance : {static_cast<const float*>(nullptr), w.data()}) {
            std::vector<uint8_t> first(gguf::rowBytes(type, values.size())), other(first.size(), 0xa5);
            (levels[0]->*encoder)(values.data(), importance, blocks, first.data());
            for (const Level* level : levels.subspan(1)) {
                (level->*encoder)(values.data(), importance, blocks, other.data());
                QVERIFY2(first == other, std::string(level->name).c_str());
            }
        }
    }
}

/// No other 16-bit number is nearer than the one chosen.
void TestQuantEncode::halvesAreNearest() {
    std::vector<float> values = made::tensor("outlier");
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::ldexp(values[i], static_cast<int>(i % 40) - 24);
    for (const Type type : {Type::F16, Type::BF16}) {
        std::vector<std::byte> bytes = encoded(type, values);
        std::vector<uint16_t> bits(values.size());
        std::memcpy(bits.data(), bytes.data(), bytes.size());
        std::vector<float> got(values.size()), above(values.size()), below(values.size());
        const auto decoded = [&](int step, std::vector<float>& out) {
            std::vector<uint16_t> moved(bits);
            for (uint16_t& b : moved) b = static_cast<uint16_t>((b & 0x7fff) == 0 && step < 0 ? b : b + step);
            quant::decode(type, std::as_bytes(std::span(moved)), out);
        };
        decoded(0, got);
        decoded(1, above);
        decoded(-1, below);
        size_t wrong = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            const double v = double(values[i]), distance = std::fabs(double(got[i]) - v);
            if (distance > std::fabs(double(above[i]) - v) || distance > std::fabs(double(below[i]) - v)) ++wrong;
        }
        QVERIFY2(wrong == 0, (nameOf(type) + ": " + std::to_string(wrong)).c_str());
    }
}

void TestQuantEncode::zerosStayZero() {
    const std::vector<float> zeros(512, 0.0f), w(512, 1.0f);
    for (const Type type : kQuantised) {
        QVERIFY2(roundTrip(type, zeros) == zeros, nameOf(type).c_str());
        QVERIFY2(roundTrip(type, zeros, w) == zeros, nameOf(type).c_str());
    }
}

/// Blocks of one value, which leave a quantiser no range to measure.
void TestQuantEncode::oneLevelOnly() {
    for (const Type type : kQuantised) {
        for (const float value : {0.5f, -0.5f, 0.0123f, -1000.0f}) {
            const std::vector<float> values(512, value), got = roundTrip(type, values);
            // The scale is a half (2^-11), and coded against another one in the K types (1/126 at worst).
            const double limit =
                std::fabs(double(value)) * (gguf::typeInfo(type).block_elements == 256 ? 0.008 : 0.001);
            QVERIFY2(error(got, values) <= limit, (nameOf(type) + " " + std::to_string(value)).c_str());
        }
    }
}

void TestQuantEncode::anyMagnitudeStaysFinite() {
    const std::vector<float> base = made::tensor("gaussian");
    for (const Type type : kQuantised) {
        for (const int exponent : {-140, -100, -60, -30, -20, -10, 10, 20, 40, 100, 130}) {
            std::vector<float> values(base.begin(), base.begin() + 1024);
            for (float& v : values) v = std::ldexp(v, exponent);
            const std::vector<float> got = roundTrip(type, values);
            double largest = 0;
            for (size_t i = 0; i < got.size(); ++i) {
                QVERIFY2(std::isfinite(got[i]), (nameOf(type) + " 2^" + std::to_string(exponent)).c_str());
                largest = std::max(largest, double(std::fabs(values[i])));
            }
            if (exponent < -10) {  // scales may round to zero, but nothing may grow by more than the least half
                QVERIFY2(error(got, values) <= largest + 128 * 0x1p-24, nameOf(type).c_str());
            }
            if (exponent == -10 || exponent == 10)
                QVERIFY2(error(got, values) <= 0.1 * largest,
                         (nameOf(type) + " 2^" + std::to_string(exponent)).c_str());
        }
    }
}

void TestQuantEncode::valuesThatCountForNothing() {
    std::vector<float> values = made::tensor("laplace");
    values.resize(1024);
    std::vector<float> none(values.size(), 0.0f), half(values.size(), 0.0f), tiny(values.size(), 1e-40f);
    for (size_t i = 0; i < half.size() / 2; ++i) half[i] = 3.0f;
    for (const Type type : kQuantised) {
        // All weights zero, or all alike however small, say the same as no weights.
        QVERIFY2(encoded(type, values, none) == encoded(type, values), nameOf(type).c_str());
        QVERIFY2(encoded(type, values, tiny) == encoded(type, values), nameOf(type).c_str());
        // Blocks of zero weight beside weighted ones still come out near their values.
        const double plain = error(roundTrip(type, values), values);
        QVERIFY2(error(roundTrip(type, values, half), values) <= 1.5 * plain, nameOf(type).c_str());
    }
}

void TestQuantEncode::badInputIsRefused() {
    std::vector<float> values(256, 0.25f), w(256, 1.0f);
    std::vector<std::byte> out(gguf::rowBytes(Type::Q4_K, 256));
    const auto encode = [&](std::span<const float> v, std::span<const float> weights) {
        quant::encode(Type::Q4_K, v, out, weights);
    };
    QVERIFY_THROWS_NO_EXCEPTION(encode(values, w));
    QVERIFY_THROWS_EXCEPTION(Error, encode(std::span(values).first(255), {}));
    QVERIFY_THROWS_EXCEPTION(Error, encode(std::span(values).first(32), {}));
    QVERIFY_THROWS_EXCEPTION(Error, encode(values, std::span(w).first(255)));
    for (const float bad : {-1.0f, NAN, INFINITY}) {
        std::vector<float> spoilt = w;
        spoilt[17] = bad;
        QVERIFY_THROWS_EXCEPTION(Error, encode(values, spoilt));
    }
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
        std::vector<float> spoilt = values;
        spoilt[255] = bad;
        QVERIFY_THROWS_EXCEPTION(Error, encode(spoilt, {}));
    }
    QVERIFY(!quant::canEncode(Type::Q2_K));
    QVERIFY_THROWS_EXCEPTION(Error, quant::encode(Type::Q2_K, values, out));
    QVERIFY_THROWS_EXCEPTION(Error, quant::encode(static_cast<Type>(16), values, out));
}

QTEST_GUILESS_MAIN(TestQuantEncode)
#include "test_quant_encode.moc"
