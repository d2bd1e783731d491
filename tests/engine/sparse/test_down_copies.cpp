#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <fstream>
#include <set>

#include "engine/base/error.h"
#include "engine/quant/quant.h"
#include "engine/sparse/checksum.h"
#include "engine/sparse/down_copies.h"

using namespace hearth;
namespace fs = std::filesystem;

class TestDownCopies : public QObject {
    Q_OBJECT

private slots:
    void init();
    void onlyWhatNeedsThem();
    void holdWhatTheFileHolds();
    void oneThatLacksACopyIsDeleted();
    void expertsHaveACopyEach();
    void aFlippedBitIsNoticed();
    void checksums();
    void stopLeavesNothing();

private:
    std::shared_ptr<const gguf::File> model();
    std::unique_ptr<QTemporaryDir> folder_;
    fs::path path_;
    const std::string identity_ = std::string(64, 'c');
};

namespace {

constexpr uint64_t kOutputs = 40, kNeurons = 256;
const std::vector<std::string> kNames = {"blk.0.ffn_down.weight", "blk.10.ffn_down.weight"};

/// Values that all differ from their neighbours, encoded.
std::vector<std::byte> encoded(gguf::Type type, float start) {
    std::vector<float> row(kNeurons);
    std::vector<std::byte> out(kOutputs * gguf::rowBytes(type, kNeurons));
    const size_t row_bytes = out.size() / kOutputs;
    for (uint64_t o = 0; o < kOutputs; ++o) {
        for (uint64_t j = 0; j < kNeurons; ++j) row[j] = start + static_cast<float>((o * 37 + j * 11) % 101) - 50;
        quant::encode(type, row, std::span(out).subspan(o * row_bytes, row_bytes));
    }
    return out;
}

}  // namespace

void TestDownCopies::init() {
    folder_ = std::make_unique<QTemporaryDir>();
    path_ = folder_->path().toStdString();
}

std::shared_ptr<const gguf::File> TestDownCopies::model() {
    const auto q4 = encoded(gguf::Type::Q4_0, 0.5f), q6 = encoded(gguf::Type::Q6_K, 2.0f),
               f16 = encoded(gguf::Type::F16, 0);
    const uint64_t ne[] = {kNeurons, kOutputs};
    gguf::Writer writer;
    writer.set("general.architecture", "llama");
    writer.addTensor(kNames[0], gguf::Type::Q4_0, ne, q4);
    writer.addTensor(kNames[1], gguf::Type::Q6_K, ne, q6);
    writer.addTensor("blk.2.ffn_down.weight", gguf::Type::F16, ne, f16);
    writer.addTensor("blk.3.ffn_down.weight", gguf::Type::Q4_0, ne, q4);   // has a row per neuron beside it
    writer.addTensor("blk.3.ffn_down_t.weight", gguf::Type::Q4_0, ne, q4);
    writer.addTensor("blk.4.ffn_up.weight", gguf::Type::Q4_0, ne, q4);
    writer.write(path_ / "model.gguf");
    return gguf::File::open(path_ / "model.gguf");
}

void TestDownCopies::onlyWhatNeedsThem() {
    const auto file = model();
    const auto found = sparse::DownCopies::candidates(*file);
    QCOMPARE(found.size(), size_t{2});
    for (size_t i = 0; i < 2; ++i) QCOMPARE(found[i]->name, kNames[i]);
    // A chunk of 32 outputs is 16 bytes in Q4_0, 24 in Q6_K; 40 outputs take two.
    QCOMPARE(sparse::DownCopies::bytesNeeded(*file),
             kNeurons * 32 + 8 * kOutputs * 2 + kNeurons * 48 + 16 * kOutputs + kOutputs * 2);
}

void TestDownCopies::holdWhatTheFileHolds() {
    const auto file = model();
    const sparse::Sidecars sidecars(path_ / "cache");
    std::string why;
    QVERIFY(!sparse::DownCopies::open(*file, identity_, sidecars, &why));
    uint64_t done = 0, total = 0;
    sparse::DownCopies::prepare(*file, identity_, sidecars, {}, [&](uint64_t d, uint64_t t) { done = d, total = t; });
    QVERIFY(total > 0);
    QCOMPARE(done, total);
    const auto copies = sparse::DownCopies::open(*file, identity_, sidecars, &why);
    QVERIFY2(copies, why.c_str());
    QVERIFY(!copies->find("blk.2.ffn_down.weight"));
    for (const std::string& name : kNames) {
        const gguf::Tensor& tensor = file->require(name);
        std::vector<float> want(kOutputs * kNeurons), got(kOutputs);
        quant::decode(tensor.type, {tensor.data, tensor.bytes}, want);
        const sparse::DownCopy* copy = copies->find(name);
        QVERIFY(copy);
        for (uint64_t j = 0; j < kNeurons; ++j) {
            sparse::decodeNeuron(copy->layout, copy->bytes, j, got);
            for (uint64_t o = 0; o < kOutputs; ++o)
                QCOMPARE(std::bit_cast<uint32_t>(got[o]), std::bit_cast<uint32_t>(want[o * kNeurons + j]));
        }
    }
}

/// One of another version, with a copy that is too small, and without the second one.
void TestDownCopies::oneThatLacksACopyIsDeleted() {
    const auto file = model();
    const sparse::Sidecars sidecars(path_ / "cache");
    const std::vector<std::byte> data(sparse::DownCopies::bytesNeeded(*file));
    const auto whyNot = [&](uint32_t version, uint64_t bytes) {
        gguf::Writer writer;
        const uint64_t ne[] = {bytes};
        writer.addTensor(kNames[0], gguf::Type::I8, ne, std::span(data).first(bytes));
        sidecars.write(identity_, {"down-copies", version}, writer);
        gguf::Writer other;
        sidecars.write(identity_, {"profile", 1}, other);
        std::string why;
        if (sparse::DownCopies::open(*file, identity_, sidecars, &why)) return std::string("it was taken");
        return sidecars.list().size() == 1 ? why : std::string("the profile is gone, too");
    };
    QCOMPARE(whyNot(1, 100), std::string("another version of Hearth wrote it"));
    QCOMPARE(whyNot(2, 100), "it lacks the copy of " + kNames[0]);
    QCOMPARE(whyNot(2, 256 * 32 + 8 * 40 * 2), "it lacks the copy of " + kNames[1]);
}

void TestDownCopies::expertsHaveACopyEach() {
    constexpr uint64_t kExperts = 3;
    std::vector<std::byte> all;
    for (uint64_t e = 0; e < kExperts; ++e) {
        const auto one = encoded(gguf::Type::Q5_K, 3.0f * static_cast<float>(e));
        all.insert(all.end(), one.begin(), one.end());
    }
    const std::string name = "blk.0.ffn_down_exps.weight";
    const uint64_t ne[] = {kNeurons, kOutputs, kExperts};
    gguf::Writer writer;
    writer.set("general.architecture", "llama");
    writer.addTensor(name, gguf::Type::Q5_K, ne, all);
    writer.write(path_ / "model.gguf");
    const auto file = gguf::File::open(path_ / "model.gguf");
    const sparse::Sidecars sidecars(path_ / "cache");
    sparse::DownCopies::prepare(*file, identity_, sidecars);
    const auto copies = sparse::DownCopies::open(*file, identity_, sidecars);
    QVERIFY(copies);
    const sparse::DownCopy* copy = copies->find(name);
    QVERIFY(copy);
    QCOMPARE(copy->count, kExperts);
    std::vector<float> want(kExperts * kOutputs * kNeurons), got(kOutputs);
    quant::decode(gguf::Type::Q5_K, all, want);
    for (uint64_t e = 0; e < kExperts; ++e)
        for (uint64_t j = 0; j < kNeurons; ++j) {
            sparse::decodeNeuron(copy->layout, copy->matrix(e), j, got);
            for (uint64_t o = 0; o < kOutputs; ++o)
                QCOMPARE(std::bit_cast<uint32_t>(got[o]),
                         std::bit_cast<uint32_t>(want[(e * kOutputs + o) * kNeurons + j]));
        }
}

void TestDownCopies::aFlippedBitIsNoticed() {
    const auto file = model();
    const sparse::Sidecars sidecars(path_ / "cache");
    sparse::DownCopies::prepare(*file, identity_, sidecars);
    QVERIFY(sparse::DownCopies::open(*file, identity_, sidecars));
    const fs::path path = sidecars.list().at(0).path;
    {
        std::fstream sidecar(path, std::ios::binary | std::ios::in | std::ios::out);
        const auto middle = static_cast<std::streamoff>(fs::file_size(path) / 2);
        sidecar.seekg(middle);
        const int byte = sidecar.get();
        sidecar.seekp(middle);
        sidecar.put(static_cast<char>(byte ^ 4));
    }
    std::string why;
    QVERIFY(!sparse::DownCopies::open(*file, identity_, sidecars, &why));
    QCOMPARE(why, std::string("its content is damaged"));
    QVERIFY(sidecars.list().empty());
}

/// Every single bit changes the sum, pieces of any size do not.
void TestDownCopies::checksums() {
    std::vector<std::byte> data(203);
    for (size_t i = 0; i < data.size(); ++i) data[i] = std::byte(static_cast<uint8_t>(i * 37));
    const auto sumOf = [&](size_t piece) {
        sparse::Checksum sum;
        for (size_t at = 0; at < data.size(); at += piece)
            sum.add(std::span<const std::byte>(data).subspan(at, std::min(piece, data.size() - at)));
        return sum.value();
    };
    const uint64_t whole = sumOf(data.size());
    for (const size_t piece : {size_t{1}, size_t{7}, size_t{32}, size_t{33}, size_t{100}}) QCOMPARE(sumOf(piece), whole);
    std::set<uint64_t> sums{whole};
    for (size_t bit = 0; bit < data.size() * 8; ++bit) {
        const std::byte mask = std::byte{1} << (bit % 8);
        data[bit / 8] ^= mask;
        sums.insert(sumOf(data.size()));
        data[bit / 8] ^= mask;
    }
    QCOMPARE(sums.size(), data.size() * 8 + 1);
    data.push_back(std::byte{0});
    QVERIFY(!sums.contains(sumOf(data.size())));
}

void TestDownCopies::stopLeavesNothing() {
    const auto file = model();
    const sparse::Sidecars sidecars(path_ / "cache");
    std::stop_source stop;
    stop.request_stop();
    QVERIFY_THROWS_EXCEPTION(Stopped, sparse::DownCopies::prepare(*file, identity_, sidecars, stop.get_token()));
    QVERIFY(sidecars.list().empty());
    QVERIFY(!fs::exists(path_ / "cache" / identity_ / "down-copies.gguf.part"));
}

QTEST_APPLESS_MAIN(TestDownCopies)
#include "test_down_copies.moc"
