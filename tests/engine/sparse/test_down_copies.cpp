#include <QTemporaryDir>
#include <QTest>

#include <bit>

#include "engine/base/error.h"
#include "engine/quant/quant.h"
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

void TestDownCopies::oneThatLacksACopyIsDeleted() {
    const auto file = model();
    const sparse::Sidecars sidecars(path_ / "cache");
    const std::vector<std::byte> data(sparse::DownCopies::bytesNeeded(*file));
    for (const bool short_copy : {false, true}) {
        gguf::Writer writer;
        const uint64_t ne[] = {short_copy ? 100u : 256 * 32 + 8 * 40 * 2};
        writer.addTensor(kNames[0], gguf::Type::I8, ne, std::span(data).first(ne[0]));
        sidecars.write(identity_, {"down-copies", 1}, writer);
        gguf::Writer other;
        sidecars.write(identity_, {"profile", 1}, other);
        std::string why;
        QVERIFY(!sparse::DownCopies::open(*file, identity_, sidecars, &why));
        QCOMPARE(why, "it lacks the copy of " + kNames[short_copy ? 0 : 1]);
        QCOMPARE(sidecars.list().size(), size_t{1});   // the profile stays
    }
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
