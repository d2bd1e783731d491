#include <QCryptographicHash>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTest>
#include <cmath>
#include <numeric>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/gguf/writer.h"
#include "tests/engine/gguf/build_gguf.h"

using hearth::Error;
using hearth::Stopped;
using hearth::gguf::File;
using hearth::gguf::Type;
using hearth::gguf::Value;
using hearth::gguf::ValueType;
using hearth::gguf::Writer;

namespace {

using Shape = std::vector<uint64_t>;

QString md5(std::span<const std::byte> bytes) {
    const auto view = QByteArrayView(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
    return QCryptographicHash::hash(view, QCryptographicHash::Md5).toHex();
}

QString md5(const Value& value) {
    if (value.elementType() != ValueType::String) return md5(value.raw());
    std::string joined;
    for (const std::string_view text : value.strings()) joined.append(text).append("\n");
    if (!joined.empty()) joined.pop_back();
    return md5(std::as_bytes(std::span(joined)));
}

QString first(const Value& value) {
    if (value.elementType() == ValueType::String) return "-";
    if (value.count() == 0) return "-";
    const bool real = value.elementType() == ValueType::F32 || value.elementType() == ValueType::F64;
    return real ? QString::asprintf("%.17g", value.number()) : QString::number(value.integer());
}

/// What our reader says of a file, in the lines of parse_gguf.py, or of parse_with_package.py, which has no FIRST.
QStringList describe(const File& file, bool with_first) {
    QStringList lines;
    if (with_first)
        lines << QString("file %1 %2 %3")
                     .arg(file.isPowerInfer() ? "PWRI" : "GGUF")
                     .arg(file.version())
                     .arg(file.fileBytes());
    for (const auto& [key, value] : file.values()) {
        QString line = QString("key %1 %2 %3")
                           .arg(QString::fromUtf8(key.data(), static_cast<int>(key.size())))
                           .arg(static_cast<int>(value.elementType()))
                           .arg(value.isArray() ? static_cast<qint64>(value.count()) : -1);
        if (with_first) line += ' ' + first(value);
        lines << line + ' ' + md5(value);
    }
    for (const auto& tensor : file.tensors()) {
        QStringList ne;
        for (uint32_t d = 0; d < tensor.n_dims; ++d) ne << QString::number(tensor.ne[d]);
        lines << QString("tensor %1 %2 %3 %4 ")
                         .arg(QString::fromStdString(tensor.name))
                         .arg(static_cast<int>(tensor.type))
                         .arg(ne.join('x'))
                         .arg(tensor.file_offset) +
                     md5({tensor.data, tensor.bytes});
    }
    return lines;
}

struct Output {
    int code;
    QStringList lines;
    QString errors;
};

Output python(const char* script, const std::filesystem::path& file, const QStringList& options = {}) {
    QProcess process;
    const QString path = QString(HEARTH_SOURCE_DIR) + "/tests/engine/gguf/" + script;
    process.start("python3", QStringList{path, QString::fromStdString(file.string())} + options);
    if (!process.waitForFinished(120000)) return {-1, {}, "python3 did not finish"};
    const QString out = QString::fromUtf8(process.readAllStandardOutput()).trimmed();
    return {process.exitCode(), out.split('\n'), QString::fromUtf8(process.readAllStandardError())};
}

/// The first line that differs, or nothing.
QString difference(const QStringList& ours, const QStringList& theirs) {
    for (qsizetype i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
        if (ours.value(i, "(nothing)") != theirs.value(i, "(nothing)"))
            return "ours: " + ours.value(i) + "\ntheirs: " + theirs.value(i);
    }
    return {};
}

std::vector<std::byte> pattern(size_t n, int step) {
    std::vector<std::byte> bytes(n);
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * static_cast<size_t>(step) + 1);
    return bytes;
}

}  // namespace

class TestGgufWrite : public QObject {
    Q_OBJECT
    build::Folder folder_;
    const std::vector<std::byte> six_ = pattern(24, 3), blocks_ = pattern(68, 5), one_ = pattern(1, 1);

    /// A writer with a value of each type and some tensors, the second handed over in small pieces.
    Writer sample(uint64_t alignment = 32, bool power_infer = false) const {
        Writer writer(alignment, power_infer);
        writer.set("general.architecture", "llama");
        writer.set("u8", uint8_t{200});
        writer.set("i8", int8_t{-100});
        writer.set("u16", uint16_t{60000});
        writer.set("i16", int16_t{-30000});
        writer.set("u32", uint32_t{4000000000});
        writer.set("i32", int32_t{-2000000000});
        writer.set("f32", 0.15625f);
        writer.set("yes", true);
        writer.set("u64", uint64_t{1} << 62);
        writer.set("i64", int64_t{-5000000000});
        writer.set("f64", 1e300);
        const std::string texts[] = {"a", "", "\xe2\x96\x81the"};
        writer.setArray("texts", std::span<const std::string>(texts));
        const float scores[] = {-1.5f, 2.5f};
        writer.setArray("scores", std::span<const float>(scores));
        const int32_t kinds[] = {1, 2, 3};
        writer.setArray("kinds", std::span<const int32_t>(kinds));
        writer.setArray("none", std::span<const int32_t>());
        writer.addTensor("six", Type::F32, Shape{3, 2}, six_);
        writer.addTensor("blk.0.ffn_up.weight", Type::Q8_0, Shape{64, 1, 1, 1}, [this](const Writer::Sink& sink) {
            for (size_t i = 0; i < blocks_.size(); ++i) sink(std::span(blocks_).subspan(i, 1));
        });
        writer.addTensor("single", Type::I8, Shape{}, one_);
        return writer;
    }

    static QString refusal(const std::function<void()>& action) {
        try {
            action();
        } catch (const Error& error) {
            return QString::fromUtf8(error.what());
        }
        return {};
    }
    bool nothingLeft(const std::filesystem::path& path) const {
        return !std::filesystem::exists(path) && !std::filesystem::exists(path.string() + ".part");
    }

private slots:
    void comesBackAsWritten() {
        const auto path = folder_.path("out.gguf");
        const Writer writer = sample();
        writer.write(path);
        QCOMPARE(std::filesystem::file_size(path), writer.fileBytes());
        QVERIFY(!std::filesystem::exists(path.string() + ".part"));
        const auto file = File::open(path);
        QCOMPARE(file->version(), 3u);
        QCOMPARE(file->values().size(), size_t{16});
        QVERIFY(*file->string("general.architecture") == "llama");
        QCOMPARE(*file->integer("u8"), 200);
        QCOMPARE(*file->integer("i8"), -100);
        QCOMPARE(*file->integer("i16"), -30000);
        QCOMPARE(*file->integer("u64"), int64_t{1} << 62);
        QCOMPARE(*file->integer("i64"), -5000000000);
        QCOMPARE(*file->number("f32"), 0.15625);
        QCOMPARE(*file->number("f64"), 1e300);
        QVERIFY(*file->boolean("yes"));
        QVERIFY(file->value("u16")->type() == ValueType::U16 && file->value("yes")->type() == ValueType::Bool);
        QVERIFY((file->value("texts")->strings() == std::vector<std::string_view>{"a", "", "\xe2\x96\x81the"}));
        QVERIFY((file->value("scores")->numbers() == std::vector<double>{-1.5, 2.5}));
        QCOMPARE(file->value("none")->count(), uint64_t{0});
        QVERIFY(md5({file->require("six").data, 24}) == md5(six_));
        QVERIFY(md5({file->require("blk.0.ffn_up.weight").data, 68}) == md5(blocks_));
        QCOMPARE(file->require("blk.0.ffn_up.weight").n_dims, 1u);
        QCOMPARE(file->require("single").n_dims, 1u);
        QVERIFY(*file->require("single").data == std::byte{1});
    }

    void pythonReadsWhatWeWrite_data() {
        QTest::addColumn<int>("alignment");
        QTest::addColumn<bool>("power_infer");
        QTest::newRow("plain") << 32 << false;
        QTest::newRow("alignment 8") << 8 << false;
        QTest::newRow("alignment 4096") << 4096 << false;
        QTest::newRow("PWRI") << 32 << true;
    }
    void pythonReadsWhatWeWrite() {
        if (QStandardPaths::findExecutable("python3").isEmpty()) QSKIP("python3 is not installed");
        QFETCH(int, alignment);
        QFETCH(bool, power_infer);
        const auto path = folder_.path("python.gguf");
        sample(static_cast<uint64_t>(alignment), power_infer).write(path);
        const Output theirs = python("parse_gguf.py", path, {"--strict"});
        QVERIFY2(theirs.code == 0, qPrintable(theirs.errors));
        const QString differs = difference(describe(*File::open(path), true), theirs.lines);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
        QCOMPARE(theirs.lines.filter("key i32 5 -1 -2000000000 ").size(), 1);
        QCOMPARE(theirs.lines.filter("key f32 6 -1 0.15625 ").size(), 1);
        QVERIFY(theirs.lines.filter("tensor six 0 3x2 ").value(0).endsWith(md5(six_)));
    }

    void thePublicPackageReadsWhatWeWrite() {
        const auto path = folder_.path("package.gguf");
        sample().write(path);
        const Output theirs = python("parse_with_package.py", path);
        if (theirs.code == 77 || theirs.code < 0) QSKIP("the Python package gguf is not installed");
        QVERIFY2(theirs.code == 0, qPrintable(theirs.errors));
        QStringList ours = describe(*File::open(path), false);
        // The package gives an empty list no type.
        ours.replaceInStrings(QRegularExpression("^key none 5 0"), "key none ? 0");
        QStringList lines = theirs.lines;
        lines.replaceInStrings(QRegularExpression("^key none 5 0"), "key none ? 0");
        const QString differs = difference(ours, lines);
        QVERIFY2(differs.isEmpty(), qPrintable(differs));
    }

    void pythonReadsTheFixturesAlike() {
        const auto folder = build::fixtures() / "models";
        if (!std::filesystem::exists(folder)) QSKIP("the model fixtures are not here");
        if (QStandardPaths::findExecutable("python3").isEmpty()) QSKIP("python3 is not installed");
        int files = 0;
        QStringList wrong;
        for (const auto& item : std::filesystem::directory_iterator(folder)) {
            if (item.path().extension() != ".gguf") continue;
            const QString differs =
                difference(describe(*File::open(item.path()), true), python("parse_gguf.py", item.path()).lines);
            if (!differs.isEmpty()) wrong << QString::fromStdString(item.path().filename().string()) + ": " + differs;
            ++files;
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
        QVERIFY(files > 0);
    }

    void copiesTheKeysOfAFile() {
        const auto path = folder_.path("first.gguf"), again = folder_.path("again.gguf");
        Writer first = sample(64);
        first.set("split.count", uint16_t{1});
        first.write(path);
        const auto source = File::open(path);
        Writer second;
        second.copyValues(*source);
        for (const auto& tensor : source->tensors()) {
            second.addTensor(tensor.name, tensor.type, std::span(tensor.ne).first(tensor.n_dims),
                             std::span(tensor.data, tensor.bytes));
        }
        second.write(again);
        QVERIFY(!second.contains("split.count") && !second.contains("general.alignment"));
        sample().write(path);   // the file that was read stays mapped as it was
        QCOMPARE(QString::fromStdString(std::to_string(std::filesystem::file_size(again))),
                 QString::number(std::filesystem::file_size(path)));
        QFile a(QString::fromStdString(again.string())), b(QString::fromStdString(path.string()));
        QVERIFY(a.open(QIODevice::ReadOnly) && b.open(QIODevice::ReadOnly));
        QVERIFY(a.readAll() == b.readAll());
    }

    void aKeyIsReplacedInItsPlace() {
        Writer writer;
        writer.set("a", uint32_t{1});
        writer.set("b", uint32_t{2});
        writer.set("c", uint32_t{3});
        writer.set("a", "text now");
        writer.remove("b");
        writer.remove("b");
        writer.set("c", uint32_t{4});
        writer.write(folder_.path("keys.gguf"));
        const auto file = File::open(folder_.path("keys.gguf"));
        QCOMPARE(file->values().size(), size_t{2});
        QVERIFY(file->values()[0].first == "a" && *file->string("a") == "text now");
        QVERIFY(file->values()[1].first == "c" && *file->integer("c") == 4);
    }

    void refusesWhatAReaderWould() {
        Writer writer = sample();
        QVERIFY(refusal([&] { writer.set("", 1u); }).contains("is empty"));
        QVERIFY(refusal([&] { writer.set(std::string(65536, 'k'), 1u); }).contains("longer than 65535"));
        QVERIFY(refusal([&] { writer.set("k", std::string((16u << 20) + 1, 'x')); }).contains("16 MiB"));
        QVERIFY(refusal([&] { writer.set("general.alignment", 64u); }).contains("alignment"));
        QVERIFY(refusal([&] { writer.addTensor("six", Type::F32, Shape{6}, six_); }).contains("added twice"));
        QVERIFY(refusal([&] { writer.addTensor("", Type::F32, Shape{6}, six_); }).contains("is empty"));
        QVERIFY(refusal([&] {
                    writer.addTensor(std::string(65, 'n'), Type::F32, Shape{6}, six_);
                }).contains("longer than 64"));
        QVERIFY(refusal([&] {
                    writer.addTensor("t", Type::F32, Shape{1, 1, 1, 1, 6}, six_);
                }).contains("more than 4 dimensions"));
        QVERIFY(refusal([&] { writer.addTensor("t", Type::F32, Shape{6, 0}, six_); }).contains("a dimension of 0"));
        QVERIFY(refusal([&] { writer.addTensor("t", Type::F32, Shape{7}, six_); }).contains("24 bytes, not the 28"));
        QVERIFY(refusal([&] {
                    writer.addTensor("t", Type::Q8_0, Shape{33}, six_);
                }).contains("multiple of its block of 32"));
        QVERIFY(refusal([&] { writer.addTensor("t", static_cast<Type>(16), Shape{256}, six_); }).contains("IQ2_XXS"));
        QVERIFY(refusal([&] {
                    writer.addTensor("t", Type::F32, Shape{uint64_t{1} << 40, uint64_t{1} << 40}, Writer::Source());
                }).contains("too large"));
        QVERIFY(refusal([] { Writer wrong(24); }).contains("power of two"));
        writer.write(folder_.path("still fine.gguf"));   // a refused call leaves the writer as it was
        QCOMPARE(File::open(folder_.path("still fine.gguf"))->tensors().size(), size_t{3});
    }

    void aSourceMustGiveWhatItPromised_data() {
        QTest::addColumn<int>("bytes");
        QTest::addColumn<QString>("says");
        QTest::newRow("too few") << 23 << "gave too few bytes: 1 are missing";
        QTest::newRow("none") << 0 << "gave too few bytes: 24 are missing";
        QTest::newRow("too many") << 25 << "gave more bytes";
    }
    void aSourceMustGiveWhatItPromised() {
        QFETCH(int, bytes);
        QFETCH(QString, says);
        const auto path = folder_.path("promise.gguf");
        Writer writer;
        const auto data = pattern(static_cast<size_t>(bytes), 1);
        writer.addTensor("t", Type::F32, Shape{6}, [&](const Writer::Sink& sink) { sink(data); });
        const QString said = refusal([&] { writer.write(path); });
        QVERIFY2(said.contains(says), qPrintable(said));
        QVERIFY(nothingLeft(path));
    }

    void anErrorLeavesTheOldFile() {
        const auto path = folder_.write("kept.gguf", "what was here before");
        Writer writer;
        writer.addTensor("t", Type::F32, Shape{6},
                         [](const Writer::Sink&) { throw Error("cannot read the source", "it is gone"); });
        QVERIFY(refusal([&] { writer.write(path); }).contains("it is gone"));
        QCOMPARE(std::filesystem::file_size(path), uintmax_t{20});
        QVERIFY(!std::filesystem::exists(path.string() + ".part"));
    }

    /// A source that is cut while it is copied: the result must not look finished.
    void aDamagedSourceIsNotCopied_data() {
        QTest::addColumn<bool>("touched");
        QTest::newRow("read before it is handed over") << true;
        QTest::newRow("handed over unread") << false;
    }
    void aDamagedSourceIsNotCopied() {
        QFETCH(bool, touched);
        const auto source_path = folder_.path("source.gguf"), path = folder_.path("copy.gguf");
        const auto data = pattern(1 << 20, 7);
        Writer first;
        first.addTensor("t", Type::I8, Shape{1 << 20}, data);
        first.write(source_path);
        const auto source = File::open(source_path);
        std::filesystem::resize_file(source_path, 65536);
        Writer second;
        const auto& tensor = source->require("t");
        second.addTensor(tensor.name, tensor.type, Shape{1 << 20}, [&](const Writer::Sink& sink) {
            const std::span bytes(tensor.data, tensor.bytes);
            if (touched) {
                sink(std::vector(bytes.begin(), bytes.end()));
            } else {
                sink(bytes);
            }
            source->check();
        });
        const QString said = refusal([&] { second.write(path); });
        QVERIFY2(said.contains(touched ? "cut short" : "the data to write could not be read"), qPrintable(said));
        QVERIFY(nothingLeft(path));
    }

    void stopsAndLeavesNothing() {
        const auto path = folder_.path("stopped.gguf");
        const auto data = pattern(32 << 20, 7);
        Writer writer;
        writer.addTensor("t", Type::F32, Shape{8 << 20}, data);
        std::stop_source stop;
        uint64_t seen = 0, of = 0;
        const auto progress = [&](uint64_t done, uint64_t total) {
            seen = done;
            of = total;
            if (done > total / 2) stop.request_stop();
        };
        QVERIFY_THROWS_EXCEPTION(Stopped, writer.write(path, stop.get_token(), progress));
        QVERIFY(nothingLeft(path));
        QCOMPARE(of, writer.fileBytes());
        QVERIFY2(seen > of / 2 && seen < of / 2 + (8 << 20), "it did not stop at the next piece");
        writer.write(path, {}, [&](uint64_t done, uint64_t) { seen = done; });
        QCOMPARE(seen, writer.fileBytes());
    }

    void saysWhyItCannotWrite() {
        const Writer writer = sample();
        QVERIFY(refusal([&] {
                    writer.write(folder_.path("no such folder") / "x.gguf");
                }).contains("its folder does not exist"));
        QVERIFY(refusal([&] { writer.write(folder_.path("")); }).contains("a folder of this name is there"));
        Writer huge;
        huge.addTensor("t", Type::F32, Shape{uint64_t{1} << 58},
                       [](const Writer::Sink&) { qFatal("asked for data that does not fit"); });
        const auto path = folder_.path("huge.gguf");
        const QString said = refusal([&] { huge.write(path); });
        QVERIFY2(said.contains("it needs 1073741824.0 GiB, but only ") && said.contains("are free"), qPrintable(said));
        QVERIFY(nothingLeft(path));
    }

    void twoDoNotWriteTheSameFile() {
        const auto path = folder_.path("busy.gguf");
        const auto other = folder_.write("busy.gguf.part", "half of another program's work");
        const int lock = open(other.c_str(), O_RDWR);
        QCOMPARE(flock(lock, LOCK_EX | LOCK_NB), 0);
        QVERIFY(refusal([&] { sample().write(path); }).contains("another program is writing it"));
        QCOMPARE(std::filesystem::file_size(other), uintmax_t{30});
        close(lock);
        sample().write(path);   // what a crash left behind is no obstacle
        QCOMPARE(std::filesystem::file_size(path), sample().fileBytes());
    }
};

QTEST_GUILESS_MAIN(TestGgufWrite)
#include "test_gguf_write.moc"
