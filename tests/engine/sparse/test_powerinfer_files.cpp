#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "engine/sparse/powerinfer_files.h"
#include "engine/sparse/torch_file.h"
#include "tests/support/fixtures.h"

using namespace hearth;
namespace fs = std::filesystem;

namespace {

fs::path twelve() { return test::dataFolder() / "activation" / "twelve"; }
const std::vector<uint64_t> kNeurons(12, 24);

std::string readAll(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void writeAll(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string replaced(std::string bytes, const std::string& what, const std::string& by) {
    for (size_t at = 0; (at = bytes.find(what, at)) != bytes.npos; at += by.size()) bytes.replace(at, what.size(), by);
    return bytes;
}

}  // namespace

/// Files that PowerInfer keeps beside a model: tests/data/activation, and damaged ones.
class TestPowerInferFiles : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    fs::path path(const char* name) const { return fs::path(folder_->path().toStdString()) / name; }
    void copyTwelve() {
        fs::copy(twelve(), path("all"), fs::copy_options::recursive);
    }

private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    /// Twelve layers: sorted as words, 10 and 11 would come before 2.
    void layersAreNumbers() {
        std::vector<std::string> notes;
        const sparse::Profile profile = sparse::readActivationFolder(twelve(), kNeurons, &notes);
        QCOMPARE(profile.layers(), size_t{12});
        QVERIFY(notes.empty());
        for (uint64_t i = 0; i < 12; ++i) {
            QVERIFY(!profile.layer(i).rates);
            for (uint64_t j = 0; j < 24; ++j) QCOMPARE(profile.layer(i).fired[j], 1000 * i + 7 * j % 24);
        }
    }

    void strayFilesAreNamedAndLeftOut() {
        copyTwelve();
        writeAll(path("all/activation_12.pt"), "of a layer that is not there");
        writeAll(path("all/readme.txt"), "words");
        writeAll(path("all/activation_.pt"), "no number");
        std::vector<std::string> notes;
        const sparse::Profile profile = sparse::readActivationFolder(path("all"), kNeurons, &notes);
        QCOMPARE(notes.size(), size_t{3});
        QCOMPARE(profile.layer(11).fired[1], uint64_t{11007});
    }

    void missingOrDoubleLayersAreRefused() {
        copyTwelve();
        fs::copy(path("all/activation_7.pt"), path("all/activation_07.pt"));
        QVERIFY_THROWS_EXCEPTION(Error, sparse::readActivationFolder(path("all"), kNeurons));
        fs::remove(path("all/activation_07.pt"));
        fs::remove(path("all/activation_7.pt"));
        try {
            sparse::readActivationFolder(path("all"), kNeurons);
            QFAIL("a layer is missing");
        } catch (const Error& e) {
            QVERIFY2(QString(e.what()).contains("activation_7.pt"), e.what());
        }
        QVERIFY_THROWS_EXCEPTION(Error, sparse::readActivationFolder(twelve(), std::vector<uint64_t>(12, 25)));
        QVERIFY_THROWS_EXCEPTION(Error, sparse::readActivationFolder(path("nowhere"), kNeurons));
    }

    void hostileFilesAreRefused_data() {
        QTest::addColumn<QByteArray>("bytes");
        const std::string good = readAll(twelve() / "activation_3.pt");
        const auto row = [](const char* name, const std::string& bytes) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes);
        };
        row("empty", "");
        row("no zip", std::string(500, 'x'));
        row("another function", replaced(good, "ctorch._utils\n_rebuild_tensor_v2\n", "cposix.system\nxxx_rebuild_tensor_v\n"));
        row("another class", replaced(good, "LongStorage", "EvilStorage"));
        row("another key", replaced(good, std::string("X\1\0\0\0" "0", 6), std::string("X\1\0\0\0" "7", 6)));
        row("more numbers than it has", replaced(good, "K\x18", "K\x7f"));
        row("an operation of its own", replaced(good, "\x89" "ccollections", "\x93" "ccollections"));
        row("an endless string", replaced(good, std::string("X\7\0\0\0storage", 12), std::string("X\7\0\0\xffstorage", 12)));
        row("a memo that is not there", replaced(good, std::string("q\1"), std::string("h\xee")));
        row("compressed", [&] {
            std::string bytes = good;
            for (size_t at = 0; (at = bytes.find(std::string("PK\1\2"), at)) != bytes.npos; ++at) bytes[at + 10] = 8;
            return bytes;
        }());
        row("an entry beyond the end", [&] {
            std::string bytes = good;
            for (size_t at = 0; (at = bytes.find(std::string("PK\1\2"), at)) != bytes.npos; ++at) bytes[at + 44] = 0x7f;
            return bytes;
        }());
    }
    void hostileFilesAreRefused() {
        QFETCH(QByteArray, bytes);
        writeAll(path("activation_0.pt"), bytes.toStdString());
        QVERIFY_THROWS_EXCEPTION(Error, sparse::readTorchIntegers(path("activation_0.pt")));
    }

    /// Cut off anywhere it is refused, never read beyond.
    void cutOffFilesAreRefused() {
        const std::string good = readAll(twelve() / "activation_3.pt");
        QCOMPARE(sparse::readTorchIntegers(twelve() / "activation_3.pt").size(), size_t{24});
        for (size_t n = 0; n < good.size(); n += 13) {
            writeAll(path("short.pt"), good.substr(0, n));
            QVERIFY_THROWS_EXCEPTION(Error, sparse::readTorchIntegers(path("short.pt")));
        }
    }

    void ofAGpuIndexOnlyTheCountsAreTaken() {
        gguf::Writer writer(32, true);
        writer.set("general.architecture", "generic.gpu_index");
        const std::vector<int32_t> first{1, 0, 1, 1}, second{0, 0, 0, 1}, bucket{0, 2, 3};
        const uint64_t four[] = {4}, three[] = {3};
        writer.addTensor("blk.0.gpu_idx", gguf::Type::I32, four, std::as_bytes(std::span(first)));
        writer.addTensor("blk.0.gpu_bucket", gguf::Type::I32, three, std::as_bytes(std::span(bucket)));
        writer.addTensor("blk.1.gpu_idx", gguf::Type::I32, four, std::as_bytes(std::span(second)));
        writer.write(path("m.gguf.generated.gpuidx"));
        const std::vector<uint64_t> two{4, 4}, wrong{4, 5}, more{4, 4, 4};
        QCOMPARE(sparse::readGpuIndexCounts(path("m.gguf.generated.gpuidx"), two), (std::vector<uint64_t>{3, 1}));
        QVERIFY_THROWS_EXCEPTION(Error, sparse::readGpuIndexCounts(path("m.gguf.generated.gpuidx"), wrong));
        QVERIFY_THROWS_EXCEPTION(Error, sparse::readGpuIndexCounts(path("m.gguf.generated.gpuidx"), more));
    }
};

QTEST_APPLESS_MAIN(TestPowerInferFiles)
#include "test_powerinfer_files.moc"
