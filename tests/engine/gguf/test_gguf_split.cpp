#include <QTest>

#include "engine/base/error.h"
#include "engine/gguf/file.h"
#include "tests/engine/gguf/build_gguf.h"

using namespace build;
using hearth::Error;
using hearth::gguf::File;

namespace {

std::string partName(int number, int count) {
    return QString("model-%1-of-%2.gguf").arg(number, 5, 10, QChar('0')).arg(count, 5, 10, QChar('0')).toStdString();
}

/// Part `index` (from 0) of three: the first holds the metadata and no tensor, the others one or two each.
FileParts part(int index) {
    FileParts parts;
    parts.keys.clear();
    if (index == 0) parts.keys = {textKey("general.architecture", "llama"), textKey("general.name", "whole")};
    parts.keys.push_back(u16Key("split.no", static_cast<uint16_t>(index)));
    parts.keys.push_back(u16Key("split.count", 3));
    parts.keys.push_back(i32Key("split.tensors.count", 3));
    if (index == 1) parts.tensors = {entry({.name = "a"}), entry({.name = "b", .offset = 32})};
    if (index == 2) parts.tensors = {entry({.name = "c"})};
    parts.data.assign(parts.tensors.size() * 32, static_cast<char>('0' + index));
    return parts;
}

}  // namespace

class TestGgufSplit : public QObject {
    Q_OBJECT

    static void write(const Folder& folder, const std::function<void(int, FileParts&)>& edit = {}) {
        for (int i = 0; i < 3; ++i) {
            FileParts parts = part(i);
            if (edit) edit(i, parts);
            folder.write(partName(i + 1, 3), parts.file());
        }
    }
    static QString refusal(const std::filesystem::path& path) {
        try {
            File::open(path);
        } catch (const Error& error) {
            return QString::fromUtf8(error.what());
        }
        return {};
    }

private slots:
    void anyPartOpensAll_data() {
        QTest::addColumn<int>("named");
        for (int i = 1; i <= 3; ++i) QTest::addRow("part %d", i) << i;
    }
    void anyPartOpensAll() {
        QFETCH(int, named);
        Folder folder;
        write(folder);
        const auto file = File::open(folder.path(partName(named, 3)));
        QVERIFY(*file->string("general.name") == "whole");
        QCOMPARE(file->path(), folder.path(partName(1, 3)));
        QCOMPARE(file->shards().size(), size_t{3});
        QCOMPARE(file->shards()[2], folder.path(partName(3, 3)));
        QCOMPARE(file->tensors().size(), size_t{3});
        const struct {
            const char* name;
            uint32_t shard;
            char content;
        } wanted[] = {{"a", 1, '1'}, {"b", 1, '1'}, {"c", 2, '2'}};
        uint64_t bytes = 0;
        for (int i = 0; i < 3; ++i) bytes += part(i).file().size();
        QCOMPARE(file->fileBytes(), bytes);
        for (const auto& w : wanted) {
            QCOMPARE(file->require(w.name).shard, w.shard);
            QVERIFY(file->require(w.name).data[31] == static_cast<std::byte>(w.content));
        }
    }

    void aMissingPartIsNamed() {
        Folder folder;
        write(folder);
        std::filesystem::remove(folder.path(partName(2, 3)));
        const QString said = refusal(folder.path(partName(3, 3)));
        QVERIFY2(said.contains("part 2 of 3 is missing") && said.contains("model-00002-of-00003.gguf"),
                 qPrintable(said));
    }

    void aRenamedPartIsNamed() {
        Folder folder;
        folder.write("renamed.gguf", part(0).file());
        QVERIFY2(refusal(folder.path("renamed.gguf")).contains("its name does not end like"),
                 qPrintable(refusal(folder.path("renamed.gguf"))));
        folder.write("model-00001-of-00004.gguf", part(0).file());
        QVERIFY(refusal(folder.path("model-00001-of-00004.gguf")).contains("its name says part 1 of 4"));
        folder.write("model-00000-of-00003.gguf", part(0).file());
        QVERIFY(refusal(folder.path("model-00000-of-00003.gguf")).contains("its name says part 0 of 3"));
    }

    void partsMustAgree_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("says");
        QTest::newRow("number") << "number" << "it says that it is part 1, but its name says part 2";
        QTest::newRow("count") << "count" << "it says that it belongs to 7 parts";
        QTest::newRow("no keys") << "keys" << "it says that it belongs to 0 parts";
        QTest::newRow("total") << "total" << "hold 3 tensors together, but 9 were announced";
        QTest::newRow("duplicate") << "duplicate" << "the tensor \"a\" stands in two parts";
        QTest::newRow("magic") << "magic" << "not of the same kind";
        QTest::newRow("truncated") << "truncated" << "model-00002-of-00003.gguf: the file is truncated";
        QTest::newRow("text where a number belongs") << "kind" << "\"split.no\"";
    }
    void partsMustAgree() {
        QFETCH(QString, what);
        QFETCH(QString, says);
        Folder folder;
        write(folder, [&](int i, FileParts& parts) {
            if (what == "number" && i == 1) parts.keys[0] = u16Key("split.no", 0);
            if (what == "count" && i == 1) parts.keys[1] = u16Key("split.count", 7);
            if (what == "keys" && i == 1) parts.keys.clear();
            if (what == "total" && i == 0) parts.keys[4] = i32Key("split.tensors.count", 9);
            if (what == "duplicate" && i == 2) parts.tensors = {entry({.name = "a"})};
            if (what == "magic" && i == 2) parts.magic = "PWRI";
            if (what == "truncated" && i == 1) parts.data.resize(40);
            if (what == "kind" && i == 2) parts.keys[0] = textKey("split.no", "2");
        });
        const QString said = refusal(folder.path(partName(1, 3)));
        QVERIFY2(said.contains(says), qPrintable("it said: " + said));
    }

    void aSingleFileMayBeNamedLikeAPart() {
        Folder folder;
        folder.write("one-00001-of-00001.gguf", withOneTensor().file());
        QCOMPARE(File::open(folder.path("one-00001-of-00001.gguf"))->tensors().size(), size_t{1});
    }
};

QTEST_GUILESS_MAIN(TestGgufSplit)
#include "test_gguf_split.moc"
