#include <QCryptographicHash>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "engine/sparse/sidecar.h"

using namespace hearth;
namespace fs = std::filesystem;

class TestSidecar : public QObject {
    Q_OBJECT

private slots:
    void init();
    void identityIsASha256();
    void identityFollowsTheFile();
    void isReadBack();
    void wrongOnesAreDeleted_data();
    void wrongOnesAreDeleted();
    void areListedAndDeleted();
    void aFolderThatCannotBeMade();

private:
    fs::path path(const char* name) const { return fs::path(folder_->path().toStdString()) / name; }
    std::unique_ptr<QTemporaryDir> folder_;
};

namespace {

const std::string kOne(64, 'a'), kOther(64, 'b');
const sparse::SidecarKind kKind{"layout", 3};
const std::vector<std::byte> kData(100000, std::byte{7});

gguf::Writer content(std::span<const std::byte> data = kData) {
    gguf::Writer writer;
    const uint64_t ne[] = {data.size()};
    writer.addTensor("numbers", gguf::Type::I8, ne, data);
    return writer;
}

QByteArray readAll(const fs::path& path) {
    QFile file(QString::fromStdString(path.string()));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void writeAll(const fs::path& path, const QByteArray& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.constData(), bytes.size());
}

}  // namespace

void TestSidecar::init() {
    folder_ = std::make_unique<QTemporaryDir>();
    QVERIFY(folder_->isValid());
}

/// Against Qt's SHA-256, put together as the header says.
void TestSidecar::identityIsASha256() {
    std::vector<std::byte> data(300000);
    for (size_t i = 0; i < data.size(); ++i) data[i] = std::byte(static_cast<uint8_t>(i * 31 + i / 251));
    gguf::Writer writer = content(data);
    writer.set("general.architecture", "llama");
    writer.write(path("model.gguf"));
    const QByteArray bytes = readAll(path("model.gguf"));
    const auto file = gguf::File::open(path("model.gguf"));
    const auto start = static_cast<qsizetype>(file->require("numbers").file_offset), rest = bytes.size() - start;
    QCryptographicHash sum(QCryptographicHash::Sha256);
    for (const auto number : {static_cast<uint64_t>(bytes.size()), static_cast<uint64_t>(start)})
        sum.addData(QByteArray(reinterpret_cast<const char*>(&number), 8));
    sum.addData(bytes.first(start));
    for (qsizetype i = 0; i < 64; ++i) sum.addData(bytes.sliced(start + (rest - 4096) * i / 63, 4096));
    QCOMPARE(QByteArray::fromStdString(sparse::identityOf(*file)), sum.result().toHex());
}

void TestSidecar::identityFollowsTheFile() {
    const auto identity = [&](std::span<const std::byte> data, const char* name) {
        gguf::Writer writer = content(data);
        writer.set("general.architecture", "llama");
        writer.set("general.name", name);
        writer.write(path("model.gguf"));
        return sparse::identityOf(*gguf::File::open(path("model.gguf")));
    };
    const std::string first = identity(kData, "x");
    QCOMPARE(identity(kData, "x"), first);
    QVERIFY(identity(kData, "y") != first);
    std::vector<std::byte> changed = kData;
    changed.back() = std::byte{8};
    QVERIFY(identity(changed, "x") != first);
    const std::span<const std::byte> small = std::span(kData).first(5);
    QVERIFY(identity(small, "x") != first);
}

void TestSidecar::isReadBack() {
    const sparse::Sidecars sidecars(path("cache"));
    std::string why;
    QVERIFY(!sidecars.open(kOne, kKind, &why));
    QCOMPARE(why, std::string("there is none yet"));
    gguf::Writer writer = content();
    sidecars.write(kOne, kKind, writer);
    const auto file = sidecars.open(kOne, kKind, &why);
    QVERIFY2(file, why.c_str());
    QCOMPARE(file->require("numbers").bytes, uint64_t{100000});
    QVERIFY(std::equal(kData.begin(), kData.end(), file->require("numbers").data));
}

void TestSidecar::wrongOnesAreDeleted_data() {
    QTest::addColumn<QString>("what");
    for (const char* what : {"cut off", "empty", "no GGUF", "other model", "other kind", "other version", "no keys"})
        QTest::newRow(what) << what;
}

void TestSidecar::wrongOnesAreDeleted() {
    QFETCH(QString, what);
    const sparse::Sidecars sidecars(path("cache"));
    const fs::path at = path("cache") / kOne / "layout.gguf", elsewhere = path("cache") / kOther / "layout.gguf";
    gguf::Writer writer = content();
    sidecars.write(kOne, kKind, writer);
    const QByteArray right = readAll(at);
    QVERIFY(right.size() > 100000);
    if (what == "cut off") writeAll(at, right.first(right.size() - 40));
    if (what == "empty") writeAll(at, {});
    if (what == "no GGUF") writeAll(at, QByteArray(5000, 'x'));
    if (what == "other model") {
        sidecars.write(kOther, kKind, writer);
        fs::rename(elsewhere, at);
    }
    if (what == "other kind") {
        sidecars.write(kOne, {"profile", 3}, writer);
        fs::rename(path("cache") / kOne / "profile.gguf", at);
    }
    if (what == "other version") sidecars.write(kOne, {"layout", 2}, writer);
    if (what == "no keys") {
        gguf::Writer plain = content();
        plain.set("general.architecture", "llama");
        plain.write(at);
    }
    std::string why;
    QVERIFY(!sidecars.open(kOne, kKind, &why));
    QVERIFY(!why.empty());
    QVERIFY(!fs::exists(at));
}

void TestSidecar::areListedAndDeleted() {
    const sparse::Sidecars sidecars(path("cache"));
    QVERIFY(sidecars.list().empty());
    QCOMPARE(sidecars.remove(), uint64_t{0});
    gguf::Writer writer = content();
    sidecars.write(kOther, kKind, writer);
    sidecars.write(kOne, kKind, writer);
    sidecars.write(kOne, {"profile", 1}, writer);
    fs::create_directories(path("cache") / "machine");
    writeAll(path("cache") / "machine" / "speeds.gguf", "kept");
    const auto entries = sidecars.list();
    QCOMPARE(entries.size(), size_t{3});
    QCOMPARE(entries[1].identity, kOne);
    QCOMPARE(entries[1].kind, std::string("profile"));
    QCOMPARE(entries[2].identity, kOther);
    QCOMPARE(entries[0].bytes, static_cast<uint64_t>(readAll(entries[0].path).size()));

    QCOMPARE(sidecars.remove(kOne), entries[0].bytes + entries[1].bytes);
    QVERIFY(!fs::exists(path("cache") / kOne));
    QCOMPARE(sidecars.list().size(), size_t{1});
    QCOMPARE(sidecars.remove(), entries[2].bytes);
    QVERIFY(fs::exists(path("cache") / "machine" / "speeds.gguf"));
}

void TestSidecar::aFolderThatCannotBeMade() {
    writeAll(path("cache"), "a file");
    const sparse::Sidecars sidecars(path("cache"));
    gguf::Writer writer = content();
    QVERIFY_THROWS_EXCEPTION(Error, sidecars.write(kOne, kKind, writer));
    QVERIFY(!sidecars.open(kOne, kKind));
    QVERIFY(sidecars.list().empty());
}

QTEST_APPLESS_MAIN(TestSidecar)
#include "test_sidecar.moc"
