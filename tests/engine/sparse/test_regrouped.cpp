#include <QTest>

#include <bit>
#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/quant/quant.h"
#include "engine/sparse/regrouped.h"
#include "tests/support/fixtures.h"

using namespace hearth;
using gguf::Type;

/// A copy with a row per neuron holds what the file holds.
class TestRegrouped : public QObject {
    Q_OBJECT

private slots:
    void everyBlockType();
    void ownBlocks_data() { listBlocks(test::dataFolder() / "blocks"); }
    void ownBlocks() { checkBlocks(); }
    void fixtureBlocks_data();
    void fixtureBlocks();
    void sizes_data();
    void sizes();
    void partsMayComeInAnyOrder();
    void aNeuronIsAlone();
    void whatDoesNotFitIsRefused();

private:
    static void listBlocks(const std::filesystem::path& folder);
    static void checkBlocks();
};

namespace {

std::vector<std::byte> readBytes(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path.string());
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    std::vector<std::byte> out(bytes.size());
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

/// A matrix [outputs, neurons] of Q4_K blocks, all bytes random; scales are kept finite.
std::vector<std::byte> randomQ4K(uint64_t outputs, uint64_t neurons) {
    std::vector<std::byte> bytes(outputs * gguf::rowBytes(Type::Q4_K, neurons));
    uint32_t state = 12345;
    for (std::byte& b : bytes) {
        state = state * 1664525u + 1013904223u;
        b = std::byte(state >> 24);
    }
    for (size_t at = 0; at < bytes.size(); at += 144)
        for (const size_t high : {at + 1, at + 3}) bytes[high] &= std::byte{0x3f};
    return bytes;
}

std::vector<std::byte> regrouped(const sparse::Regrouped& layout, std::span<const std::byte> matrix) {
    std::vector<std::byte> copy(layout.bytes, std::byte{0xa5});
    sparse::regroup(layout, matrix, 0, layout.neurons, copy);
    return copy;
}

/// The first place [output, neuron] where the copy's value has other bits than `want` [outputs, neurons]; −1: none.
int64_t firstDifference(const sparse::Regrouped& layout, std::span<const std::byte> copy, std::span<const float> want) {
    std::vector<float> column(layout.outputs);
    for (uint64_t j = 0; j < layout.neurons; ++j) {
        sparse::decodeNeuron(layout, copy, j, column);
        for (uint64_t o = 0; o < layout.outputs; ++o)
            if (std::bit_cast<uint32_t>(column[o]) != std::bit_cast<uint32_t>(want[o * layout.neurons + j]))
                return static_cast<int64_t>(o * layout.neurons + j);
    }
    return -1;
}

/// Equal, zeros of either sign alike, or apart by no more than 3e-8 of the value.
bool agrees(float got, float want) {
    return got == want || std::fabs(double(got) - want) <= 3e-8 * std::fabs(double(want));
}

}  // namespace

void TestRegrouped::everyBlockType() {
    int types = 0;
    for (int id = 0; id < 64; ++id) {
        const auto type = static_cast<Type>(id);
        const gguf::TypeInfo* info = gguf::findType(type);
        if (info == nullptr) continue;
        QVERIFY2(sparse::canRegroup(type) == (info->block_elements > 1), std::string(info->name).c_str());
        types += sparse::canRegroup(type);
    }
    QCOMPARE(types, 18);
}

void TestRegrouped::listBlocks(const std::filesystem::path& folder) {
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("id");
    const nlohmann::json index = test::readJson(folder / "index.json");
    for (const auto& [name, info] : index["types"].items())
        if (info["elements"].get<int>() > 1)
            QTest::newRow(name.c_str()) << QString::fromStdString((folder / name).string()) << info["id"].get<int>();
}

void TestRegrouped::fixtureBlocks_data() {
    if (!test::fixturesFolder().empty()) return listBlocks(test::fixturesFolder() / "blocks");
    QTest::addColumn<QString>("path");
    QTest::newRow("none") << QString();
}

void TestRegrouped::fixtureBlocks() {
    QFETCH(QString, path);
    if (path.isEmpty()) QSKIP("the larger fixtures are not here (HEARTH_FIXTURES)");
    checkBlocks();
}

/// All blocks of the file side by side and one below the other, and in rows of three.
void TestRegrouped::checkBlocks() {
    QFETCH(QString, path);
    QFETCH(int, id);
    const auto type = static_cast<Type>(id);
    const std::vector<std::byte> blocks = readBytes(path.toStdString() + ".bin");
    const std::vector<float> expected = test::readFloats(path.toStdString() + ".f32");
    const gguf::TypeInfo& info = gguf::typeInfo(type);
    const uint64_t count = blocks.size() / info.block_bytes;
    QVERIFY(count >= 3);
    for (const uint64_t across : {count, uint64_t{1}, uint64_t{3}}) {
        const sparse::Regrouped layout(type, count / across, across * info.block_elements);
        const auto matrix = std::span(blocks).first(count / across * across * info.block_bytes);
        const std::vector<std::byte> copy = regrouped(layout, matrix);
        std::vector<float> file(layout.outputs * layout.neurons), column(layout.outputs);
        quant::decode(type, matrix, file);
        QCOMPARE(firstDifference(layout, copy, file), -1);
        for (uint64_t j = 0; j < layout.neurons; ++j) {
            sparse::decodeNeuron(layout, copy, j, column);
            for (uint64_t o = 0; o < layout.outputs; ++o) QVERIFY(agrees(column[o], expected[o * layout.neurons + j]));
        }
    }
}

void TestRegrouped::sizes_data() {
    QTest::addColumn<int>("id");
    QTest::addColumn<uint64_t>("bytes");
    // 4096 outputs, 256 neurons, by hand: bits of the codes, then scales (and minima), then the common numbers.
    const auto add = [](const char* name, Type type, double bits, double scales, double common) {
        QTest::newRow(name) << static_cast<int>(type)
                            << static_cast<uint64_t>(4096 * (256 * bits / 8 + scales + common));
    };
    add("Q4_0", Type::Q4_0, 4, 8 * 2, 0);
    add("Q4_1", Type::Q4_1, 4, 8 * 4, 0);
    add("Q5_0", Type::Q5_0, 5, 8 * 2, 0);
    add("Q8_0", Type::Q8_0, 8, 8 * 2, 0);
    add("Q2_K", Type::Q2_K, 2, 16 * 2, 4);
    add("Q3_K", Type::Q3_K, 3, 16, 2);
    add("Q4_K", Type::Q4_K, 4, 8 * 2, 4);
    add("Q6_K", Type::Q6_K, 6, 16, 2);
    add("IQ4_XS", Type::IQ4_XS, 4, 8, 2);
    add("MXFP4", Type::MXFP4, 4, 8, 0);
    add("NVFP4", Type::NVFP4, 4, 16, 0);
    add("TQ1_0", Type::TQ1_0, 2, 2, 0);
    add("Q1_0", Type::Q1_0, 1, 4, 0);
}

void TestRegrouped::sizes() {
    QFETCH(int, id);
    QFETCH(uint64_t, bytes);
    const sparse::Regrouped layout(static_cast<Type>(id), 4096, 256);
    QCOMPARE(layout.bytes, bytes);
}

void TestRegrouped::partsMayComeInAnyOrder() {
    const std::vector<std::byte> matrix = randomQ4K(37, 768);
    const sparse::Regrouped layout(Type::Q4_K, 37, 768);
    std::vector<std::byte> parts(layout.bytes, std::byte{0x5a});
    for (const uint64_t first : {512, 0, 256}) sparse::regroup(layout, matrix, first, first + 256, parts);
    QVERIFY(parts == regrouped(layout, matrix));   // and no byte is left unwritten
    std::vector<float> file(37 * 768);
    quant::decode(Type::Q4_K, matrix, file);
    QCOMPARE(firstDifference(layout, parts, file), -1);
}

/// Nothing of a neuron depends on the codes of another: a changed code is seen in one place only.
void TestRegrouped::aNeuronIsAlone() {
    std::vector<std::byte> matrix = randomQ4K(5, 256);
    const sparse::Regrouped layout(Type::Q4_K, 5, 256);
    const std::vector<std::byte> before = regrouped(layout, matrix);
    matrix[3 * 144 + 16 + 7] ^= std::byte{0x01};   // output 3, neuron 7: the low nibble of byte 7
    const std::vector<std::byte> after = regrouped(layout, matrix);
    size_t changed = 0, at = 0;
    for (size_t i = 0; i < before.size(); ++i)
        if (before[i] != after[i]) ++changed, at = i;
    QCOMPARE(changed, size_t{1});
    QCOMPARE(at / layout.code_row_bytes, size_t{7});
}

void TestRegrouped::whatDoesNotFitIsRefused() {
    QVERIFY(!sparse::canRegroup(Type::F16));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::Regrouped(Type::F16, 32, 32));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::Regrouped(Type::Q4_0, 32, 33));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::Regrouped(Type::Q4_0, 0, 32));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::Regrouped(Type::Q4_0, 32, 0));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::Regrouped(Type::Q4_0, uint64_t{1} << 40, uint64_t{1} << 40));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::Regrouped(Type::Q4_0, uint64_t{1} << 30, uint64_t{1} << 30));

    const sparse::Regrouped layout(Type::Q4_K, 4, 512);
    const std::vector<std::byte> matrix = randomQ4K(4, 512);
    std::vector<std::byte> copy(layout.bytes);
    const std::span<const std::byte> in(matrix);
    const std::span<std::byte> out(copy);
    QVERIFY_THROWS_EXCEPTION(Error, sparse::regroup(layout, in.first(in.size() - 1), 0, 512, out));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::regroup(layout, in, 0, 512, out.first(out.size() - 1)));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::regroup(layout, in, 0, 768, out));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::regroup(layout, in, 32, 512, out));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::regroup(layout, in, 512, 256, out));
    std::vector<float> column(4);
    QVERIFY_THROWS_EXCEPTION(Error, sparse::decodeNeuron(layout, copy, 512, column));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::decodeNeuron(layout, copy, 0, std::span(column).first(3)));
    QVERIFY_THROWS_EXCEPTION(Error, sparse::decodeNeuron(layout, std::span<const std::byte>(copy).first(9), 0, column));
}

QTEST_APPLESS_MAIN(TestRegrouped)
#include "test_regrouped.moc"
