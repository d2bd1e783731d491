// Files that must be refused, each with a sentence that says what is wrong: the cases of formats §1.4 and §1.5.
#include <QTest>
#include <limits>

#include "engine/base/error.h"
#include "engine/gguf/file.h"
#include "tests/engine/gguf/build_gguf.h"

using namespace build;
using hearth::Error;
using hearth::gguf::File;

namespace {

constexpr uint64_t top = std::numeric_limits<uint64_t>::max();

QString refusal(const std::filesystem::path& path) {
    try {
        File::open(path);
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

std::string edited(const std::function<void(FileParts&)>& edit) {
    FileParts parts = withOneTensor();
    edit(parts);
    return parts.file();
}
std::string withKeys(std::vector<std::string> keys) {
    return edited([&](FileParts& f) { f.keys = std::move(keys); });
}
std::string withTensor(const TensorEntry& tensor) {
    return edited([&](FileParts& f) { f.tensors = {entry(tensor)}; });
}
std::string withTensors(const TensorEntry& a, const TensorEntry& b) {
    return edited([&](FileParts& f) {
        f.tensors = {entry(a), entry(b)};
        f.data.resize(4096);
    });
}
std::string replaced(std::string file, size_t at, std::string_view with) { return file.replace(at, with.size(), with); }

void add(const char* name, const std::string& file, const char* says) {
    QTest::newRow(name) << QByteArray::fromStdString(file) << QString(says);
}

void headers() {
    const std::string good = withOneTensor().file();
    add("empty", "", "the file is empty");
    add("text file", "hello, this is a letter\nand not a model\n", "it is a text file");
    add("web page", "<!DOCTYPE html><html><body>404</body></html>", "it is a web page");
    add("git lfs pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n", "pointer");
    add("safetensors", Bytes().u64(64).raw("{\"__metadata__\":{}}").data + std::string(64, '\x01'), "safetensors");
    add("zip", "PK\x03\x04" + std::string(64, '\x01'), "zip");
    add("old ggml", "tjgg" + std::string(64, '\x01'), "GGML");
    add("zeros", std::string(4096, '\0'), "only zeros");
    add("bad magic", replaced(good, 0, "GGUX"), "it is not a GGUF file");
    add("magic only", "GGUF", "truncated");
    add("three bytes", "GGU", "truncated");
    add("version 0", edited([](FileParts& f) { f.version = 0; }), "version 0");
    add("version 1", edited([](FileParts& f) { f.version = 1; }), "version 1");
    add("version 4", edited([](FileParts& f) { f.version = 4; }), "version 4");
    add("version 77", edited([](FileParts& f) { f.version = 77; }), "version 77");
    add("big-endian", edited([](FileParts& f) { f.version = 0x03000000; }), "big-endian");
    add("big-endian, version 2", edited([](FileParts& f) { f.version = 0x02000000; }), "big-endian");
    add("too many tensors", edited([](FileParts& f) { f.n_tensors = uint64_t{1} << 62; }),
        "announces 4611686018427387904 tensors");
    add("negative tensors", edited([](FileParts& f) { f.n_tensors = top; }), "tensors");
    add("one tensor too many", edited([](FileParts& f) { f.n_tensors = 2; }), "the name of tensor 2");
    add("too many keys", edited([](FileParts& f) { f.n_keys = uint64_t{1} << 63; }),
        "announces 9223372036854775808 keys");
    add("negative keys", edited([](FileParts& f) { f.n_keys = top; }), "keys");
}

void keys() {
    const auto first = [](const std::string& key) { return withKeys({key}); };
    add("key length 2^60", first(Bytes().u64(uint64_t{1} << 60).raw("a").data), "length of 1152921504606846976");
    add("key length 2^64-1", first(Bytes().u64(top).raw("a").data), "the name of key 1");
    add("key longer than 64 KiB", first(u32Key(std::string(65536, 'k'), 1)), "at most 65535");
    add("empty key", first(u32Key("", 1)), "is empty");
    add("control characters in a key", first(u32Key("a\x1b[2Jb", 1)), "control characters");
    add("value type 13", first(key("k", 13, Bytes().u64(1))), "unknown type 13");
    add("value type -1", first(key("k", -1, Bytes().u64(1))), "unknown type -1");
    add("duplicate key", withKeys({u32Key("k", 1), u32Key("k", 2)}), "stands in it twice");
    add("text longer than 16 MiB",
        first(key("k", 8, Bytes().u64((16u << 20) + 1).raw(std::string((16u << 20) + 1, 'x')))), "at most 16777216");
    add("text length 2^64-1", first(key("k", 8, Bytes().u64(top).raw("x"))), "length of 18446744073709551615");
    add("text past the end", first(key("k", 8, Bytes().u64(5000).raw("x"))), "truncated");
    add("neither true nor false", first(key("k", 7, Bytes().u8(2))), "neither true nor false");
    add("list of neither", first(key("k", 9, Bytes().i32(7).u64(3).u8(0).u8(1).u8(7))), "neither true nor false");
    add("list of unknown type", first(key("k", 9, Bytes().i32(99).u64(1).u64(0))), "unknown type 99");
    add("list of lists", first(key("k", 9, Bytes().i32(9).u64(1).i32(4).u64(1).u32(5))), "list of lists");
    add("list of 2^61 f64", first(key("k", 9, Bytes().i32(12).u64(uint64_t{1} << 61).u64(0))),
        "a list of 2305843009213693952");
    add("list of 2^64-1 u8", first(key("k", 9, Bytes().i32(0).u64(top).u64(0))), "a list of 18446744073709551615");
    add("list of 2^60 texts", first(key("k", 9, Bytes().i32(8).u64(uint64_t{1} << 60).u64(0))), "a list of");
    add("text in a list past the end", first(key("k", 9, Bytes().i32(8).u64(1).u64(9000).raw("x"))), "truncated");
    add("text in a list too long", first(key("k", 9, Bytes().i32(8).u64(1).u64(uint64_t{1} << 50))),
        "length of 1125899906842624");
    add("alignment 0", withKeys({u32Key("general.alignment", 0)}), "alignment");
    add("alignment 1", withKeys({u32Key("general.alignment", 1)}), "alignment");
    add("alignment 24", withKeys({u32Key("general.alignment", 24)}), "not a power of two");
    add("alignment 2 MiB", withKeys({u32Key("general.alignment", 2u << 20)}), "alignment");
    add("alignment 2^31", withKeys({u32Key("general.alignment", 1u << 31)}), "alignment");
    add("alignment as text", withKeys({textKey("general.alignment", "32")}), "is of type string, not u32");
    add("alignment as u64", withKeys({key("general.alignment", 10, Bytes().u64(32))}), "is of type u64, not u32");
    add("alignment as a list", withKeys({key("general.alignment", 9, Bytes().i32(4).u64(1).u32(32))}),
        "is of type array, not u32");
}

void tensors() {
    add("tensor name empty", withTensor({.name = ""}), "is empty");
    add("tensor name of 65 bytes", withTensor({.name = std::string(65, 'n')}), "longer than 64 bytes");
    add("tensor name length 2^63",
        edited([](FileParts& f) { f.tensors = {Bytes().u64(uint64_t{1} << 63).raw("a").data + std::string(40, 'x')}; }),
        "the name of tensor 1");
    add("tensor name with a newline", withTensor({.name = "a\nb"}), "control characters");
    add("5 dimensions", withTensor({.ne = {1, 1, 1, 1, 8}}), "has 5 dimensions");
    add("2^32-1 dimensions", withTensor({.n_dims = 0xffffffffu}), "has 4294967295 dimensions");
    add("dimension 0", withTensor({.ne = {8, 0}}), "a dimension of 0");
    add("first dimension 0", withTensor({.ne = {0}}), "a dimension of 0");
    add("negative dimension", withTensor({.ne = {top}}), "too large");
    add("product past 2^64", withTensor({.ne = {uint64_t{1} << 32, uint64_t{1} << 32, 4}}), "too large");
    add("product past 2^63", withTensor({.ne = {uint64_t{1} << 31, uint64_t{1} << 32}}), "too large");
    add("bytes past 2^63", withTensor({.ne = {uint64_t{1} << 30, uint64_t{1} << 31}}), "too large");
    add("2^42 values", withTensor({.ne = {uint64_t{1} << 42}}), "truncated");
    add("row of 31 in Q4_0", withTensor({.ne = {31}, .type = 2}), "not a multiple of the 32 in a block of Q4_0");
    add("row of 128 in Q4_K", withTensor({.ne = {128, 2}, .type = 12}), "not a multiple of the 256 in a block of Q4_K");
    add("offset off the alignment", withTensor({.offset = 8}), "not a multiple of the alignment 32");
    add("offset past the end", withTensor({.offset = 32768}), "outside of the file");
    add("offset near 2^64", withTensor({.offset = top - 31}), "outside of any possible file");
    add("offset 2^63", withTensor({.offset = uint64_t{1} << 63}), "outside of the file");
    add("duplicate tensor", withTensors({.name = "t"}, {.name = "t", .offset = 32}), "stands in it twice");
    add("overlap", withTensors({.name = "t", .ne = {16}}, {.name = "u", .offset = 32}), "overlap");
    add("same place", withTensors({.name = "t"}, {.name = "u"}), "overlap");
    add("data cut", edited([](FileParts& f) { f.data.pop_back(); }), "truncated");
    add("no data", edited([](FileParts& f) { f.data.clear(); }), "truncated");
    add("bytes that add up past 2^64", edited([](FileParts& f) {
            f.tensors.clear();
            for (int i = 0; i < 5; ++i) {
                f.tensors.push_back(
                    entry({.name = std::string(1, static_cast<char>('a' + i)), .ne = {(uint64_t{1} << 61) - 8}}));
            }
        }),
        "do not fit in 64 bits");
    add("padding that wraps", edited([](FileParts& f) {   // two of 2^63 - 1: only padding takes the sum past 2^64
            f.keys = {u32Key("general.alignment", 1u << 20)};
            f.tensors = {entry({.name = "a", .ne = {(uint64_t{1} << 63) - 1}, .type = 24}),
                         entry({.name = "b", .ne = {(uint64_t{1} << 63) - 1}, .type = 24})};
        }),
        "do not fit in 64 bits");
    add("wrong alignment for the offsets", edited([](FileParts& f) {
            f.keys = {u32Key("general.alignment", 64)};
            f.tensors = {entry({.name = "a"}), entry({.name = "b", .offset = 32})};
        }),
        "not a multiple of the alignment 64");
    add("old experts", withTensor({.name = "blk.12.ffn_gate.7.weight"}), "each expert as a tensor of its own");
    add("old experts, down", withTensor({.name = "blk.0.ffn_down.0.weight"}), "each expert as a tensor of its own");
}

void types() {
    const struct {
        int32_t id;
        const char* name;
        const char* says;
    } refused[] = {
        {4, "Q4_2", "removed from the format"},
        {5, "Q4_3", "removed from the format"},
        {31, "Q4_0_4_4", "removed from the format"},
        {33, "Q4_0_8_8", "removed from the format"},
        {36, "IQ4_NL_4_4", "removed from the format"},
        {9, "Q8_1", "never stands in a file"},
        {15, "Q8_K", "never stands in a file"},
        {16, "IQ2_XXS", "IQ1, IQ2 and IQ3 families"},
        {17, "IQ2_XS", "IQ1, IQ2 and IQ3 families"},
        {18, "IQ3_XXS", "IQ1, IQ2 and IQ3 families"},
        {19, "IQ1_S", "IQ1, IQ2 and IQ3 families"},
        {21, "IQ3_S", "IQ1, IQ2 and IQ3 families"},
        {22, "IQ2_S", "IQ1, IQ2 and IQ3 families"},
        {29, "IQ1_M", "IQ1, IQ2 and IQ3 families"},
        {133, "Q6_0", "only the ik_llama.cpp program"},
        {139, "IQ4_K", "only the ik_llama.cpp program"},
        {144, "IQ4_KS", "only the ik_llama.cpp program"},
        {158, "IQ1_KT", "only the ik_llama.cpp program"},
        {202, "row-interleaved", "only the ik_llama.cpp program"},
        {399, "row-interleaved", "only the ik_llama.cpp program"},
        {43, "43", "is not known"},
        {1000, "1000", "is not known"},
        {-1, "-1", "is not known"},
        {std::numeric_limits<int32_t>::min(), "-2147483648", "is not known"},
    };
    for (const auto& type : refused) {
        const std::string file = withTensor({.name = "blk.0.ffn_up.weight", .ne = {256}, .type = type.id});
        const QByteArray id = "type " + QByteArray::number(type.id);
        QTest::newRow(id + ": its name") << QByteArray::fromStdString(file) << QString(type.name);
        QTest::newRow(id + ": why") << QByteArray::fromStdString(file) << QString(type.says);
        QTest::newRow(id + ": where") << QByteArray::fromStdString(file) << QString("\"blk.0.ffn_up.weight\"");
    }
}

}  // namespace

class TestGgufRefuse : public QObject {
    Q_OBJECT
    Folder folder_;

private slots:
    void says_data() {
        QTest::addColumn<QByteArray>("file");
        QTest::addColumn<QString>("says");
        headers();
        keys();
        tensors();
        types();
    }
    void says() {
        QFETCH(QByteArray, file);
        QFETCH(QString, says);
        const auto path = folder_.write("bad.gguf", {file.data(), static_cast<size_t>(file.size())});
        const QString said = refusal(path);
        QVERIFY2(said.contains(says), qPrintable("it said: " + said));
        QVERIFY2(said.startsWith("cannot open " + QString::fromStdString(path.string()) + ": "), qPrintable(said));
        QVERIFY2(said.size() < 500 && !said.contains('\n') && said.endsWith('.'), qPrintable(said));
    }

    void everyTruncationIsNamed() {
        FileParts parts = withOneTensor();
        parts.keys.push_back(
            key("tokenizer.ggml.tokens", 9, Bytes().i32(8).u64(3).text("one").text("two").text("three")));
        parts.keys.push_back(key("scores", 9, Bytes().i32(6).u64(2).f32(1).f32(2)));
        const std::string good = parts.file();
        QCOMPARE(refusal(folder_.write("good.gguf", good)), QString());
        QStringList wrong;
        for (size_t n = 1; n < good.size(); ++n) {
            const QString said = refusal(folder_.write("cut.gguf", std::string_view(good).substr(0, n)));
            if (!said.contains("truncated")) wrong << QString("%1 bytes: %2").arg(n).arg(said);
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    /// Any change of any byte is either harmless or refused in words; nothing else is ever thrown.
    void noByteIsTrusted() {
        FileParts parts = withOneTensor();
        parts.keys.push_back(key("tokens", 9, Bytes().i32(8).u64(2).text("one").text("two")));
        parts.tensors.push_back(entry({.name = "q", .ne = {32, 1, 2}, .type = 8, .offset = 32}));
        parts.data.resize(32 + 68);
        const std::string good = parts.file();
        int opened = 0, refused = 0;
        for (size_t at = 0; at < parts.header().size(); ++at) {
            std::string values{'\0', '\x7f', '\x80', '\xff'};
            for (int bit = 0; bit < 8; ++bit) values += static_cast<char>(good[at] ^ (1 << bit));
            for (const char value : values) {
                const std::string bad = replaced(good, at, std::string(1, value));
                try {
                    const auto file = File::fromMemory(bytes(bad), bad.size());
                    for (const auto& [name, v] : file->values()) {
                        if (v.elementType() == hearth::gguf::ValueType::String)
                            QVERIFY(v.strings().size() == v.count());
                    }
                    for (const auto& tensor : file->tensors()) QVERIFY(tensor.file_offset + tensor.bytes <= bad.size());
                    ++opened;
                } catch (const Error&) {
                    ++refused;
                }
            }
        }
        QVERIFY(opened > 0 && refused > 0);
    }

    void aHeaderMayComeInPieces() {
        const FileParts parts = withOneTensor();
        const std::string whole = parts.file();
        const size_t header = parts.header().size();
        for (size_t n = 0; n < header; ++n) {
            QVERIFY_THROWS_EXCEPTION(hearth::gguf::HeaderTooShort,
                                     File::fromMemory(bytes(whole.substr(0, n)), whole.size()));
        }
        const auto file = File::fromMemory(bytes(whole.substr(0, header)), whole.size());
        QCOMPARE(file->tensors().size(), size_t{1});
        QVERIFY(file->tensors()[0].data == nullptr);
        QCOMPARE(file->fileBytes(), uint64_t{whole.size()});
    }
};

QTEST_GUILESS_MAIN(TestGgufRefuse)
#include "test_gguf_refuse.moc"
