#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <sstream>

#include "engine/convert/mix.h"
#include "tests/engine/convert/peer_mixes.h"
#include "tests/engine/convert/tiny_model.h"

using namespace hearth;
using convert::FileType;
using gguf::Type;

class TestConvertMix : public QObject {
    Q_OBJECT

private slots:
    void likePeer_data();
    void likePeer();
    void fusedAttention();
    void pureLeavesNoExceptions();
    void smallTensorsStayF32();
    void namesAndNumbers();
    void bytesAreThoseOfTheTypes();

private:
    std::shared_ptr<const gguf::File> model(const made::Shape& shape);
    QTemporaryDir folder_;
};

namespace {

made::Shape shapeOf(const std::string& name) {
    if (name == "dense16") return {.layers = 16, .rows = 2};
    if (name == "tied11") return {.layers = 11, .tied = true, .rows = 2};
    if (name == "experts8") return {.layers = 16, .experts = 8, .rows = 2};
    if (name == "experts4") return {.layers = 9, .experts = 4, .rows = 2};
    if (name == "narrow") return {.width = 288, .inner = 160, .layers = 16, .rows = 2};
    return {.width = 48, .inner = 80, .layers = 8, .rows = 2};   // "odd"
}

/// "blk.3.attn_v.weight" → {"attn_v", 3}; other tensors have layer −1.
std::pair<std::string, int> shortName(const std::string& name) {
    std::istringstream parts(name);
    std::string first, layer, last;
    std::getline(parts, first, '.');
    if (first != "blk") return {first, -1};
    std::getline(parts, layer, '.');
    std::getline(parts, last, '.');
    return {last, std::stoi(layer)};
}

/// The type that `others` gives a tensor, else `base`.
std::string expectedType(const made::PeerMix& mix, const std::string& tensor, int layer) {
    std::istringstream entries(mix.others);
    for (std::string entry; std::getline(entries, entry, ';');) {
        std::istringstream words(entry);
        std::string name, type, layers;
        words >> name >> type >> layers;
        if (name != tensor) continue;
        if (layers.empty() || ("," + layers + ",").find("," + std::to_string(layer) + ",") != std::string::npos)
            return type;
    }
    return mix.base;
}

}  // namespace

std::shared_ptr<const gguf::File> TestConvertMix::model(const made::Shape& shape) {
    const std::vector<std::byte> zeros(4096);
    gguf::Writer writer;
    made::addModel(writer, shape, Type::F32, zeros);
    const std::filesystem::path path = folder_.filePath("model.gguf").toStdString();
    writer.write(path);
    return gguf::File::open(path);
}

void TestConvertMix::likePeer_data() {
    QTest::addColumn<size_t>("at");
    for (size_t i = 0; i < std::size(made::kPeerMixes); ++i)
        QTest::addRow("%s %s", made::kPeerMixes[i].shape, made::kPeerMixes[i].file_type) << i;
}

void TestConvertMix::likePeer() {
    QFETCH(size_t, at);
    const made::PeerMix& mix = made::kPeerMixes[at];
    const auto file = model(shapeOf(mix.shape));
    const auto plan = convert::planTypes(*file, convert::fileTypeByName(mix.file_type).value());
    QCOMPARE(plan.size(), file->tensors().size());
    std::string wrong;
    for (const convert::TensorPlan& part : plan) {
        const auto [name, layer] = shortName(part.tensor->name);
        const std::string want = part.tensor->n_dims == 1 ? "F32" : expectedType(mix, name, layer);
        const std::string got(gguf::typeInfo(part.type).name);
        if (got != want) wrong += part.tensor->name + " is " + got + ", not " + want + "; ";
    }
    QVERIFY2(wrong.empty(), wrong.c_str());
}

void TestConvertMix::fusedAttention() {
    const auto file = model({.layers = 8, .fused = true, .rows = 2});
    const std::map<FileType, Type> want{{FileType::Q4_K_M, Type::Q5_K},
                                        {FileType::Q5_K_M, Type::Q6_K},
                                        {FileType::Q4_K_S, Type::Q4_K},
                                        {FileType::Q6_K, Type::Q6_K}};
    for (const auto& [file_type, type] : want)
        for (const convert::TensorPlan& part : convert::planTypes(*file, file_type))
            if (part.tensor->name.ends_with("attn_qkv.weight")) QCOMPARE(part.type, type);
}

void TestConvertMix::pureLeavesNoExceptions() {
    const auto file = model({.layers = 16, .experts = 8, .tied = true, .rows = 2});
    for (const convert::TensorPlan& part : convert::planTypes(*file, FileType::Q4_K_M, true)) {
        const bool kept = part.tensor->n_dims == 1 || part.tensor->name.find("ffn_gate_inp") != std::string::npos;
        QCOMPARE(part.type, kept ? Type::F32 : Type::Q4_K);
    }
}

void TestConvertMix::smallTensorsStayF32() {
    const std::vector<std::byte> zeros(1 << 16);
    gguf::Writer writer;
    writer.set("general.architecture", "llama");
    const std::vector<uint64_t> matrix{256, 16}, vector{256}, one_row{256, 1}, kernel{4, 256};
    const auto add = [&](const char* name, Type type, const std::vector<uint64_t>& ne) {
        uint64_t rows = 1;
        for (size_t d = 1; d < ne.size(); ++d) rows *= ne[d];
        writer.addTensor(name, type, ne, std::span(zeros).first(rows * gguf::rowBytes(type, ne[0])));
    };
    const std::vector<std::pair<const char*, std::vector<uint64_t>>> kept{
        {"blk.0.attn_q_norm.weight", matrix}, {"blk.0.ffn_gate_inp.weight", matrix},
        {"position_embd.weight", matrix},     {"blk.0.attn_q.bias", matrix},
        {"blk.0.ffn_up.bias", vector},        {"blk.0.ffn_gate_inp_shexp.weight", one_row},
        {"blk.0.ssm_conv1d.weight", kernel}};
    for (const auto& [name, ne] : kept) add(name, Type::F16, ne);
    add("blk.0.ffn_up.weight", Type::F16, matrix);
    add("blk.0.attn_sinks.weight", Type::I32, matrix);
    const std::filesystem::path path = folder_.filePath("small.gguf").toStdString();
    writer.write(path);
    const auto file = gguf::File::open(path);
    for (const convert::TensorPlan& part : convert::planTypes(*file, FileType::Q4_0)) {
        const Type want = part.tensor->name == "blk.0.ffn_up.weight"       ? Type::Q4_0
                          : part.tensor->name == "blk.0.attn_sinks.weight" ? Type::I32
                                                                           : Type::F32;
        QVERIFY2(part.type == want, part.tensor->name.c_str());
    }
}

void TestConvertMix::namesAndNumbers() {
    // Numbers of general.file_type, formats §1.6.
    const std::map<std::string, uint32_t> numbers{{"F32", 0},     {"F16", 1},     {"Q4_0", 2},  {"Q4_1", 3},
                                                  {"Q8_0", 7},    {"Q5_0", 8},    {"Q5_1", 9},  {"Q4_K_S", 14},
                                                  {"Q4_K_M", 15}, {"Q5_K_M", 17}, {"Q6_K", 18}, {"BF16", 32}};
    QCOMPARE(convert::fileTypes().size(), numbers.size());
    for (const auto& [name, number] : numbers) {
        const auto type = convert::fileTypeByName(name);
        QVERIFY2(type, name.c_str());
        QCOMPARE(static_cast<uint32_t>(*type), number);
        QCOMPARE(std::string(convert::fileTypeName(*type)), name);
    }
    QVERIFY(convert::fileTypeByName("q4_k_m") == FileType::Q4_K_M);
    QVERIFY(!convert::fileTypeByName("Q4_K"));
    QVERIFY(!convert::fileTypeByName(""));
}

void TestConvertMix::bytesAreThoseOfTheTypes() {
    const auto file = model({.layers = 2});
    uint64_t bytes = 0;
    for (const convert::TensorPlan& part : convert::planTypes(*file, FileType::Q8_0)) bytes += part.bytes;
    // Two tables of 64 rows; per layer four matrices of 256 rows in attention, three in the feed-forward; five norms.
    QCOMPARE(bytes, uint64_t{(2 * 64 + 2 * 7 * 256) * 256 / 32 * 34 + 5 * 256 * 4});
}

QTEST_GUILESS_MAIN(TestConvertMix)
#include "test_convert_mix.moc"
