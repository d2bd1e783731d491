#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/quant/quant.h"

using namespace hearth;

class TestQuantDecode : public QObject {
    Q_OBJECT

private slots:
    void ownBlocks_data() { listBlocks(QStringLiteral(HEARTH_SOURCE_DIR) + "/tests/data/blocks"); }
    void ownBlocks() { checkBlocks(); }
    void fixtureBlocks_data();
    void fixtureBlocks();
    void everyHalf();
    void everyBf16();
    void floatsAreCopied();
    void wrongSizes();
    void typesWithoutWeights();

private:
    static void listBlocks(const QString& folder);
    static void checkBlocks();
    static QByteArray read(const QString& path);
};

namespace {

QString fixtures() {
    const QString named = qEnvironmentVariable("HEARTH_FIXTURES");
    return (named.isEmpty() ? QStringLiteral(HEARTH_SOURCE_DIR) + "/../shared/fixtures" : named) + "/blocks";
}

std::span<const std::byte> bytesOf(const QByteArray& data) {
    return {reinterpret_cast<const std::byte*>(data.constData()), static_cast<size_t>(data.size())};
}

/// Equal, zeros of either sign alike, or apart by no more than 3e-8 of the value.
bool agrees(float got, float want) {
    return got == want || std::fabs(double(got) - want) <= 3e-8 * std::fabs(double(want));
}

}  // namespace

QByteArray TestQuantDecode::read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void TestQuantDecode::listBlocks(const QString& folder) {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QJsonObject>("info");
    const QJsonObject types = QJsonDocument::fromJson(read(folder + "/index.json")).object()["types"].toObject();
    for (auto it = types.begin(); it != types.end(); ++it)
        QTest::newRow(qPrintable(it.key())) << folder + "/" + it.key() << it.key() << it.value().toObject();
}

void TestQuantDecode::checkBlocks() {
    QFETCH(QString, path);
    QFETCH(QString, name);
    QFETCH(QJsonObject, info);
    const auto type = gguf::typeByName(name.toStdString());
    QVERIFY(type);
    QCOMPARE(static_cast<int>(*type), info["id"].toInt());
    const QByteArray raw = read(path + ".bin"), expected = read(path + ".f32");
    const size_t n = static_cast<size_t>(info["blocks"].toInt()) * static_cast<size_t>(info["elements"].toInt());
    QCOMPARE(raw.size(), info["blocks"].toInt() * info["bytes"].toInt());
    QCOMPARE(static_cast<size_t>(expected.size()), n * sizeof(float));
    std::vector<float> want(n), got(n, NAN);
    std::memcpy(want.data(), expected.constData(), n * sizeof(float));
    quant::decode(*type, bytesOf(raw), got);
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < n; ++i)
        if (!agrees(got[i], want[i]) && wrong++ == 0) first = i;
    QVERIFY2(wrong == 0, qPrintable(QString("%1: %2 of %3 values differ, the first is value %4: %5, not %6")
                                        .arg(name)
                                        .arg(wrong)
                                        .arg(n)
                                        .arg(first)
                                        .arg(double(got[first]))
                                        .arg(double(want[first]))));
}

void TestQuantDecode::fixtureBlocks_data() {
    listBlocks(fixtures());
    if (!QFile::exists(fixtures() + "/index.json")) QTest::newRow("absent") << QString() << QString() << QJsonObject();
}

void TestQuantDecode::fixtureBlocks() {
    QFETCH(QString, path);
    if (path.isEmpty()) QSKIP(qPrintable("the larger set of blocks is not there: " + fixtures()));
    checkBlocks();
}

void TestQuantDecode::everyHalf() {
    std::vector<uint16_t> bits(65536);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    std::vector<float> got(bits.size());
    quant::decode(gguf::Type::F16, std::as_bytes(std::span(bits)), got);
    int wrong = 0;
    for (int i = 0; i < 65536; ++i) {
        const int exponent = i >> 10 & 31, fraction = i & 1023;
        double want = exponent == 31  ? (fraction ? NAN : INFINITY)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
        if (i & 0x8000) want = -want;
        const double value = double(got[static_cast<size_t>(i)]);
        const bool same =
            std::isnan(want) ? std::isnan(value) : value == want && std::signbit(value) == std::signbit(want);
        wrong += same ? 0 : 1;
    }
    QCOMPARE(wrong, 0);
}

void TestQuantDecode::everyBf16() {
    std::vector<uint16_t> bits(65536);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
    std::vector<float> got(bits.size());
    quant::decode(gguf::Type::BF16, std::as_bytes(std::span(bits)), got);
    int wrong = 0;
    for (int i = 0; i < 65536; ++i) {
        const int exponent = i >> 7 & 255, fraction = i & 127;
        double want = exponent == 255 ? (fraction ? NAN : INFINITY)
                      : exponent == 0 ? std::ldexp(fraction, -133)
                                      : std::ldexp(128 + fraction, exponent - 134);
        if (i & 0x8000) want = -want;
        const double value = double(got[static_cast<size_t>(i)]);
        wrong += (std::isnan(want) ? std::isnan(value) : value == want) ? 0 : 1;
    }
    QCOMPARE(wrong, 0);
}

void TestQuantDecode::floatsAreCopied() {
    const std::vector<float> values{0.0f, -0.0f, 1.5f, -3e38f, 1e-45f, INFINITY};
    std::vector<float> got(values.size());
    quant::decode(gguf::Type::F32, std::as_bytes(std::span(values)), got);
    QVERIFY(std::memcmp(values.data(), got.data(), values.size() * sizeof(float)) == 0);
}

void TestQuantDecode::wrongSizes() {
    std::vector<std::byte> bytes(36);
    std::vector<float> out(64);
    const std::span<const std::byte> all(bytes);
    QVERIFY_THROWS_EXCEPTION(Error, quant::decode(gguf::Type::Q4_0, all, std::span(out).first(63)));
    QVERIFY_THROWS_EXCEPTION(Error, quant::decode(gguf::Type::Q4_0, all.first(35), out));
    QVERIFY_THROWS_EXCEPTION(Error, quant::decode(gguf::Type::Q4_0, all.first(18), out));
    QVERIFY_THROWS_EXCEPTION(Error, quant::decode(gguf::Type::Q4_0, all, std::span(out).first(32)));
    QVERIFY_THROWS_NO_EXCEPTION(quant::decode(gguf::Type::Q4_0, all, out));
    QVERIFY_THROWS_NO_EXCEPTION(quant::decode(gguf::Type::Q4_0, {}, {}));
}

void TestQuantDecode::typesWithoutWeights() {
    std::vector<std::byte> bytes(1024);
    std::vector<float> out(256);
    QVERIFY_THROWS_EXCEPTION(Error, quant::decode(gguf::Type::I32, bytes, out));
    QVERIFY_THROWS_EXCEPTION(Error, quant::decode(static_cast<gguf::Type>(16), bytes, out));
    QVERIFY_THROWS_EXCEPTION(Error, quant::decode(static_cast<gguf::Type>(-1), bytes, out));
}

QTEST_GUILESS_MAIN(TestQuantDecode)
#include "test_quant_decode.moc"
