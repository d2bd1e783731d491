#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>
#include <cstdlib>
#include <limits>
#include <new>

#include "engine/base/error.h"
#include "engine/gguf/file.h"
#include "tests/engine/gguf/build_gguf.h"

using namespace build;
using hearth::Error;
using hearth::gguf::File;
using hearth::gguf::Type;
using hearth::gguf::ValueType;

namespace {

thread_local size_t allocations = 0, allocated_bytes = 0;   // of this thread: Qt Test has one of its own

/// One key of each type, scalar and list.
std::vector<std::string> allKinds() {
    return {
        textKey("general.architecture", "gemma"),
        key("u8", 0, Bytes().u8(200)),
        key("i8", 1, Bytes().number(int8_t{-100})),
        u16Key("u16", 60000),
        key("i16", 3, Bytes().number(int16_t{-30000})),
        u32Key("u32", 4000000000u),
        i32Key("i32", -2000000000),
        key("f32", 6, Bytes().f32(0.15625f)),
        key("yes", 7, Bytes().u8(1)),
        key("no", 7, Bytes().u8(0)),
        textKey("empty", ""),
        key("u64", 10, Bytes().u64(uint64_t{1} << 62)),
        key("huge", 10, Bytes().u64(std::numeric_limits<uint64_t>::max())),
        key("i64", 11, Bytes().number(int64_t{-5000000000})),
        key("f64", 12, Bytes().number(1e300)),
        key("texts", 9, Bytes().i32(8).u64(3).text("a").text("").text("\xe2\x96\x81the")),
        key("u16 list", 9, Bytes().i32(2).u64(3).number(uint16_t{1}).number(uint16_t{2}).number(uint16_t{65535})),
        key("f32 list", 9, Bytes().i32(6).u64(2).f32(-1.5f).f32(2.5f)),
        key("bool list", 9, Bytes().i32(7).u64(3).u8(1).u8(0).u8(1)),
        key("none", 9, Bytes().i32(8).u64(0)),
    };
}

}  // namespace

[[gnu::noinline]] void* operator new(size_t n) {
    ++allocations;
    allocated_bytes += n;
    if (void* p = std::malloc(n)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t n, const std::nothrow_t&) noexcept {
    ++allocations;
    allocated_bytes += n;
    return std::malloc(n);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }

class TestGgufRead : public QObject {
    Q_OBJECT
    Folder folder_;

    std::shared_ptr<const File> open(const FileParts& parts) {
        return File::open(folder_.write("model.gguf", parts.file()));
    }

private slots:
    void valuesOfEveryType() {
        FileParts parts;
        parts.keys = allKinds();
        const auto file = open(parts);
        QCOMPARE(file->values().size(), parts.keys.size());
        QVERIFY(file->values()[1].first == "u8");
        QVERIFY(*file->string("general.architecture") == "gemma");
        QVERIFY(*file->string("empty") == "");
        QCOMPARE(*file->integer("u8"), 200);
        QCOMPARE(*file->integer("i8"), -100);
        QCOMPARE(*file->integer("u16"), 60000);
        QCOMPARE(*file->integer("i16"), -30000);
        QCOMPARE(*file->integer("u32"), 4000000000);
        QCOMPARE(*file->integer("i32"), -2000000000);
        QCOMPARE(*file->integer("u64"), int64_t{1} << 62);
        QCOMPARE(*file->integer("i64"), -5000000000);
        QCOMPARE(*file->number("f32"), 0.15625);
        QCOMPARE(*file->number("f64"), 1e300);
        QCOMPARE(*file->number("i8"), -100.0);
        QCOMPARE(*file->number("huge"), 18446744073709551615.0);
        QCOMPARE(*file->boolean("yes"), true);
        QCOMPARE(*file->boolean("no"), false);
        QCOMPARE(*file->integer("yes"), 1);
        const auto texts = file->value("texts")->strings();
        QCOMPARE(texts.size(), size_t{3});
        QVERIFY(texts[0] == "a" && texts[1] == "" && texts[2] == "\xe2\x96\x81the");
        QVERIFY((file->value("u16 list")->integers() == std::vector<int64_t>{1, 2, 65535}));
        QVERIFY((file->value("u16 list")->numbers() == std::vector<double>{1, 2, 65535}));
        QVERIFY((file->value("f32 list")->numbers() == std::vector<double>{-1.5, 2.5}));
        QVERIFY((file->value("bool list")->integers() == std::vector<int64_t>{1, 0, 1}));
        QVERIFY(file->value("bool list")->boolean(2));
        QVERIFY(file->value("none")->strings().empty());
        QCOMPARE(file->value("u8")->integers().size(), size_t{1});
        QVERIFY(file->value("texts")->isArray() && file->value("texts")->elementType() == ValueType::String);
    }

    void absentIsNotAnError() {
        const auto file = open({});
        QVERIFY(!file->integer("nowhere") && !file->string("nowhere") && !file->number("nowhere") &&
                !file->boolean("nowhere"));
        QVERIFY(!file->value("nowhere") && !file->find("nowhere"));
        QVERIFY_THROWS_EXCEPTION(Error, file->require("nowhere"));
    }

    void anotherKindIsAnError() {
        FileParts parts;
        parts.keys = allKinds();
        const auto file = open(parts);
        QVERIFY_THROWS_EXCEPTION(Error, file->integer("f32"));
        QVERIFY_THROWS_EXCEPTION(Error, file->integer("empty"));
        QVERIFY_THROWS_EXCEPTION(Error, file->integer("huge"));
        QVERIFY_THROWS_EXCEPTION(Error, file->integer("u16 list"));
        QVERIFY_THROWS_EXCEPTION(Error, file->number("yes"));
        QVERIFY_THROWS_EXCEPTION(Error, file->number("empty"));
        QVERIFY_THROWS_EXCEPTION(Error, file->boolean("u8"));
        QVERIFY_THROWS_EXCEPTION(Error, file->string("u8"));
        QVERIFY_THROWS_EXCEPTION(Error, file->string("texts"));
        QVERIFY_THROWS_EXCEPTION(Error, file->value("u16 list")->strings());
        QVERIFY_THROWS_EXCEPTION(Error, file->value("texts")->integers());
        QVERIFY_THROWS_EXCEPTION(Error, file->value("u16 list")->integer(3));
        QVERIFY_THROWS_EXCEPTION(Error, file->value("f32 list")->number(2));
        QVERIFY_THROWS_EXCEPTION(Error, file->value("none")->integer());
    }

    void versionsAndMagic() {
        FileParts parts = withOneTensor();
        QVERIFY(!open(parts)->isPowerInfer());
        QCOMPARE(open(parts)->version(), 3u);
        parts.version = 2;
        QCOMPARE(open(parts)->version(), 2u);
        parts.magic = "PWRI";
        QVERIFY(open(parts)->isPowerInfer());
    }

    void tensorsLieWhereTheFileSays() {
        FileParts parts;
        parts.alignment = 64;
        parts.keys.push_back(u32Key("general.alignment", 64));
        parts.tensors = {entry({.name = "late", .ne = {3, 2}, .type = 0, .offset = 128}),
                         entry({.name = "blk.0.ffn_up.weight", .ne = {64, 1, 2}, .type = 8, .offset = 256}),
                         entry({.name = "single", .ne = {}, .type = 24, .offset = 0}),
                         entry({.name = std::string(64, 'n'), .ne = {2, 1, 1, 2}, .type = 27, .offset = 448})};
        parts.data.resize(448 + 32);   // the last one is not padded
        for (size_t i = 0; i < parts.data.size(); ++i) parts.data[i] = static_cast<char>(i * 7);
        const auto file = open(parts);
        QCOMPARE(file->alignment(), uint64_t{64});
        QCOMPARE(file->fileBytes(), uint64_t{parts.file().size()});
        const uint64_t start = parts.file().size() - parts.data.size();
        const struct {
            const char* name;
            uint64_t offset, bytes, rows, row_bytes;
        } wanted[] = {{"late", 128, 24, 2, 12}, {"blk.0.ffn_up.weight", 256, 136, 2, 68}, {"single", 0, 1, 1, 1}};
        for (const auto& w : wanted) {
            const auto& tensor = file->require(w.name);
            QCOMPARE(tensor.file_offset, start + w.offset);
            QCOMPARE(tensor.bytes, w.bytes);
            QCOMPARE(tensor.rows(), w.rows);
            QCOMPARE(tensor.rowBytes(), w.row_bytes);
            QVERIFY(std::memcmp(tensor.data, parts.data.data() + w.offset, w.bytes) == 0);
            QVERIFY(reinterpret_cast<uintptr_t>(tensor.data) % 64 == 0);
        }
        QVERIFY((file->require(std::string(64, 'n')).ne == std::array<uint64_t, 4>{2, 1, 1, 2}));
        QCOMPARE(file->tensors()[3].bytes, uint64_t{32});
    }

    /// Nothing is copied: a vocabulary ten times as large costs not one allocation more, and no memory.
    void aLargeVocabularyIsNotCopied() {
        const auto cost = [&](uint64_t tokens) {
            Bytes list;
            list.i32(8).u64(tokens);
            for (uint64_t i = 0; i < tokens; ++i) list.text("token" + std::to_string(i));
            FileParts parts;
            parts.keys.push_back(key("tokenizer.ggml.tokens", 9, list));
            const auto path = folder_.write("vocabulary.gguf", parts.file());
            const size_t count = allocations, bytes = allocated_bytes;
            const auto file = File::open(path);
            const std::pair result{allocations - count, allocated_bytes - bytes};
            const auto texts = file->value("tokenizer.ggml.tokens")->strings();
            if (texts.size() != tokens || texts.back() != "token" + std::to_string(tokens - 1)) qFatal("wrong tokens");
            return result;
        };
        cost(10);   // once for what is allocated only once in a program
        const auto small = cost(26214), large = cost(262144);
        QCOMPARE(large, small);
        QVERIFY2(large.second < 16384, qPrintable(QString("%1 bytes").arg(large.second)));
    }

    void typesHaveTheSizesOfTheFormat() {
        const struct {
            int32_t id;
            const char* name;
            uint32_t elements, bytes;
        } table[] = {{0, "F32", 1, 4},       {1, "F16", 1, 2},       {30, "BF16", 1, 2},       {2, "Q4_0", 32, 18},
                     {3, "Q4_1", 32, 20},    {6, "Q5_0", 32, 22},    {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},
                     {10, "Q2_K", 256, 84},  {11, "Q3_K", 256, 110}, {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
                     {14, "Q6_K", 256, 210}, {20, "IQ4_NL", 32, 18}, {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},
                     {25, "I16", 1, 2},      {26, "I32", 1, 4},      {27, "I64", 1, 8},        {28, "F64", 1, 8},
                     {34, "TQ1_0", 256, 54}, {35, "TQ2_0", 256, 66}, {39, "MXFP4", 32, 17},    {40, "NVFP4", 64, 36},
                     {41, "Q1_0", 128, 18},  {42, "Q2_0", 64, 18}};
        for (const auto& row : table) {
            const auto type = static_cast<Type>(row.id);
            QVERIFY(hearth::gguf::typeInfo(type).name == row.name);
            QCOMPARE(hearth::gguf::typeInfo(type).block_elements, row.elements);
            QCOMPARE(hearth::gguf::typeInfo(type).block_bytes, row.bytes);
            QVERIFY(hearth::gguf::typeByName(QString(row.name).toLower().toStdString()) == type);
            QCOMPARE(hearth::gguf::rowBytes(type, uint64_t{row.elements} * 5), uint64_t{row.bytes} * 5);
            if (row.elements > 1) QVERIFY_THROWS_EXCEPTION(Error, hearth::gguf::rowBytes(type, row.elements + 1));
        }
        int known = 0;
        for (int32_t id = -10; id < 500; ++id) known += hearth::gguf::findType(static_cast<Type>(id)) != nullptr;
        QCOMPARE(known, static_cast<int>(std::size(table)));
        QVERIFY(!hearth::gguf::typeByName("Q9_9") && !hearth::gguf::typeByName(""));
        QVERIFY_THROWS_EXCEPTION(Error, hearth::gguf::rowBytes(Type::F64, uint64_t{1} << 61));
        QVERIFY_THROWS_EXCEPTION(Error, hearth::gguf::typeInfo(static_cast<Type>(16)));
    }

    void blockFixturesAgree() {
        QFile index(QString::fromStdString((fixtures() / "blocks/index.json").string()));
        if (!index.open(QIODevice::ReadOnly)) QSKIP("the block fixtures are not here");
        const QJsonObject types = QJsonDocument::fromJson(index.readAll()).object()["types"].toObject();
        int checked = 0;
        for (auto it = types.begin(); it != types.end(); ++it) {
            const auto type = hearth::gguf::typeByName(it.key().toStdString());
            if (!type) continue;
            const QJsonObject facts = it.value().toObject();
            QCOMPARE(static_cast<int>(*type), facts["id"].toInt(-1));
            QCOMPARE(static_cast<int>(hearth::gguf::typeInfo(*type).block_elements), facts["elements"].toInt());
            QCOMPARE(static_cast<int>(hearth::gguf::typeInfo(*type).block_bytes), facts["bytes"].toInt());
            ++checked;
        }
        QVERIFY2(checked >= 20, qPrintable(QString("only %1 types found").arg(checked)));
    }

    void aFileThatIsCutLaterIsAnError() {
        FileParts parts = withOneTensor();
        parts.tensors.push_back(entry({.name = "big", .ne = {65536}, .offset = 32}));
        parts.data.resize(32 + 262144, 'x');
        const auto path = folder_.write("later.gguf", parts.file());
        const auto file = File::open(path);
        file->check();
        std::filesystem::resize_file(path, 4096);
        const auto& tensor = file->require("big");
        QVERIFY(tensor.data[tensor.bytes - 1] == std::byte{0});
        QVERIFY_THROWS_EXCEPTION(Error, file->check());
    }
};

QTEST_GUILESS_MAIN(TestGgufRead)
#include "test_gguf_read.moc"
