#include <QAbstractItemModelTester>
#include <QDir>
#include <QStorageInfo>
#include <QTemporaryDir>
#include <QtTest>

#include "tests/ui/fake_machine.h"
#include "tests/ui/own_settings.h"
#include "ui/library/library_model.h"

using namespace hearth;
using namespace hearth::ui;

/// Models on disks: found, remembered, and shown as a table.
class TestLibrary : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void foldersAreSearchedAtAnyDepth();
    void partsAreOneModel();
    void missingPartsAreNamed();
    void ollamasFilesAreFound();
    void storesOfOtherProgramsAreFound();
    void linksDoNotGoRound();
    void aDriveThatIsGoneKeepsItsModels();
    void anEmptyMountPointKeepsItsModels();
    void filesThatAreGoneAreForgotten();
    void notesAndFiguresAreRemembered();
    void aDamagedIndexIsAnEmptyOne();
    void newFilesAreNoticed();
    void brokenFilesAreRowsWithAReason();
    void choicesPredictAgain();
    void theTableIsAModel();
    void fitAndSpeedAreWords();
};

namespace {

void write(const QString& path, const QByteArray& bytes = "GGUF") {
    QVERIFY(QDir().mkpath(QFileInfo(path).absolutePath()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
}

QStringList namesOf(const Scan& scan) {
    QStringList names;
    for (const FoundModel& model : scan.models) names << model.name;
    names.sort();
    return names;
}

struct Shelf {
    QTemporaryDir folder;
    test::FakeMachine machine;
    QString index = folder.filePath(QStringLiteral("index/models.json"));
    std::unique_ptr<Library> library;

    Shelf() { open(); }
    void open() {
        library.reset();
        library = std::make_unique<Library>(machine, index, QList<LibraryRoot>{});
    }
    QString at(const QString& name) { return folder.filePath(name); }
    bool idle() {
        return QTest::qWaitFor([this] { return !library->busy(); }, 20000);
    }
    QStringList names() {
        QStringList all;
        for (const LibraryEntry& one : library->entries()) all << one.name;
        all.sort();
        return all;
    }
    void keep() {
        QVERIFY(QTest::qWaitFor([this] { return QFile::exists(index); }, 5000));
    }
};

}  // namespace

void TestLibrary::foldersAreSearchedAtAnyDepth() {
    QTemporaryDir folder;
    write(folder.filePath(QStringLiteral("a.gguf")));
    write(folder.filePath(QStringLiteral("x/y/z/deep.GGUF")));
    write(folder.filePath(QStringLiteral("x/notes.txt")));
    write(folder.filePath(QStringLiteral("x/mmproj-a.gguf")));
    const Scan found = scan({{folder.path()}});
    QCOMPARE(namesOf(found), (QStringList{QStringLiteral("a"), QStringLiteral("deep")}));
    QVERIFY(found.drives.contains(folder.path()));
    QVERIFY(found.folders.contains(folder.filePath(QStringLiteral("x/y/z"))));
}

void TestLibrary::partsAreOneModel() {
    QTemporaryDir folder;
    for (int part = 1; part <= 3; ++part)
        write(folder.filePath(QStringLiteral("big-0000%1-of-00003.gguf").arg(part)), QByteArray(10 * part, 'x'));
    const Scan found = scan({{folder.path()}});
    QCOMPARE(found.models.size(), 1);
    const FoundModel& model = found.models.first();
    QCOMPARE(model.name, QStringLiteral("big"));
    QCOMPARE(model.files.size(), 3);
    QCOMPARE(model.bytes, quint64{60});
    QVERIFY(model.path.endsWith(QStringLiteral("big-00001-of-00003.gguf")));
    QVERIFY2(model.problem.isEmpty(), qPrintable(model.problem));
}

void TestLibrary::missingPartsAreNamed() {
    QTemporaryDir folder;
    write(folder.filePath(QStringLiteral("big-00001-of-00004.gguf")));
    write(folder.filePath(QStringLiteral("big-00003-of-00004.gguf")));
    const Scan found = scan({{folder.path()}});
    QCOMPARE(found.models.size(), 1);
    QVERIFY2(found.models.first().problem.contains(QStringLiteral("2, 4")), qPrintable(found.models.first().problem));
}

void TestLibrary::ollamasFilesAreFound() {
    QTemporaryDir folder;
    const QString digest(64, u'a');
    write(folder.filePath(QStringLiteral("blobs/sha256-") + digest), QByteArray(100, 'x'));
    write(folder.filePath(QStringLiteral("blobs/sha256-") + QString(64, u'b')));
    const QByteArray manifest = R"({"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)" +
                                digest.toUtf8() +
                                R"("},{"mediaType":"application/vnd.ollama.image.template","digest":"sha256:)" +
                                QByteArray(64, 'b') + R"("}]})";
    write(folder.filePath(QStringLiteral("manifests/registry.example/library/qwen/7b")), manifest);
    write(folder.filePath(QStringLiteral("manifests/registry.example/library/qwen/latest")), manifest);
    // A manifest that leads out of the folder is none.
    write(folder.filePath(QStringLiteral("manifests/registry.example/library/evil/1")),
          R"({"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:../../etc/passwd"}]})");
    write(folder.filePath(QStringLiteral("manifests/registry.example/library/odd/1")), "[[[");
    const Scan found = scan({{folder.path(), QStringLiteral("Ollama"), LibraryRoot::OllamaStore}});
    QCOMPARE(found.models.size(), 1);
    QVERIFY2(found.models.first().name.startsWith(QStringLiteral("qwen:")), qPrintable(found.models.first().name));
    QCOMPARE(found.models.first().owner, QStringLiteral("Ollama"));
    QCOMPARE(found.models.first().bytes, quint64{100});
}

void TestLibrary::storesOfOtherProgramsAreFound() {
    QTemporaryDir home;
    const auto owners = [&](const QStringList& environment) {
        QStringList all;
        for (const LibraryRoot& root : knownStores(home.path(), environment)) all << root.owner;
        all.removeDuplicates();
        return all;
    };
    const QString system = QStringLiteral("/usr/share/ollama/.ollama/models");
    if (QDir(system).exists()) QSKIP("Ollama is installed here");
    QVERIFY(owners({}).isEmpty());
    QVERIFY(QDir().mkpath(home.filePath(QStringLiteral(".lmstudio/models"))));
    QVERIFY(QDir().mkpath(home.filePath(QStringLiteral(".ollama/models"))));
    QVERIFY(QDir().mkpath(home.filePath(QStringLiteral("elsewhere/hub"))));
    QCOMPARE(owners({}), (QStringList{QStringLiteral("LM Studio"), QStringLiteral("Ollama")}));
    QCOMPARE(owners({{}, {}, home.filePath(QStringLiteral("elsewhere"))}),
             (QStringList{QStringLiteral("LM Studio"), QStringLiteral("Ollama"), QStringLiteral("Hugging Face")}));
    // As the hub's cache lays them out: a snapshot of links to blobs.
    write(home.filePath(QStringLiteral("elsewhere/hub/models--a--b/blobs/123")));
    const QString link = home.filePath(QStringLiteral("elsewhere/hub/models--a--b/snapshots/1/m.gguf"));
    QVERIFY(QDir().mkpath(QFileInfo(link).absolutePath()));
    QVERIFY(QFile::link(home.filePath(QStringLiteral("elsewhere/hub/models--a--b/blobs/123")), link));
    QCOMPARE(namesOf(scan({{home.filePath(QStringLiteral("elsewhere/hub")), QStringLiteral("Hugging Face")}})),
             QStringList{QStringLiteral("m")});
}

void TestLibrary::linksDoNotGoRound() {
    QTemporaryDir folder;
    write(folder.filePath(QStringLiteral("a/m.gguf")));
    QVERIFY(QFile::link(folder.path(), folder.filePath(QStringLiteral("a/back"))));
    QVERIFY(QFile::link(folder.filePath(QStringLiteral("a/m.gguf")), folder.filePath(QStringLiteral("again.gguf"))));
    QVERIFY(QFile::link(folder.filePath(QStringLiteral("nothing.gguf")), folder.filePath(QStringLiteral("dead.gguf"))));
    QCOMPARE(scan({{folder.path()}}).models.size(), 1);
}

void TestLibrary::aDriveThatIsGoneKeepsItsModels() {
    Shelf shelf;
    write(shelf.at(QStringLiteral("drive/one.gguf")));
    write(shelf.at(QStringLiteral("home/two.gguf")));
    shelf.library->addFolder(shelf.at(QStringLiteral("drive")));
    shelf.library->addFolder(shelf.at(QStringLiteral("home")));
    QVERIFY(shelf.idle());
    QCOMPARE(shelf.library->entries().size(), 2);
    // Unplugged.
    QVERIFY(QDir().rename(shelf.at(QStringLiteral("drive")), shelf.at(QStringLiteral("away"))));
    shelf.library->rescan();
    QVERIFY(shelf.idle());
    const QString path = shelf.at(QStringLiteral("drive/one.gguf"));
    QVERIFY(shelf.library->find(path));
    QCOMPARE(shelf.library->find(path)->state, LibraryEntry::Offline);
    QVERIFY(!shelf.library->whyKept(path).isEmpty());
    // And after a new start.
    QTest::qWait(1100);
    shelf.open();
    shelf.library->rescan();
    QVERIFY(shelf.idle());
    QCOMPARE(shelf.library->find(path)->state, LibraryEntry::Offline);
    QVERIFY(shelf.library->find(path)->facts);
    // Plugged in, it is there without being read again.
    const int reads = shelf.machine.reads;
    QVERIFY(QDir().rename(shelf.at(QStringLiteral("away")), shelf.at(QStringLiteral("drive"))));
    shelf.library->rescan();
    QVERIFY(shelf.idle());
    QCOMPARE(shelf.library->find(path)->state, LibraryEntry::Ready);
    QCOMPARE(shelf.machine.reads.load(), reads);
}

void TestLibrary::anEmptyMountPointKeepsItsModels() {
    Shelf shelf;
    const QString path = shelf.at(QStringLiteral("drive/one.gguf"));
    QVERIFY(QDir().mkpath(shelf.at(QStringLiteral("drive"))));
    // As it was remembered while another drive was mounted there.
    const QString index =
        QStringLiteral(R"({"folders":["%1"],"models":[{"path":"%1/one.gguf","name":"one","root":"%1","drive":"%2",)"
                       R"("files":["%1/one.gguf"],"bytes":4,"modified":1,"facts":{"layers":4}}]})");
    for (const bool another : {true, false}) {
        const QString here = QStorageInfo(shelf.folder.path()).rootPath();
        write(shelf.index,
              index.arg(shelf.at(QStringLiteral("drive")), another ? QStringLiteral("/mnt/another") : here).toUtf8());
        shelf.open();
        shelf.library->rescan();
        QVERIFY(shelf.idle());
        QCOMPARE(shelf.library->find(path) != nullptr, another);
        if (another) QCOMPARE(shelf.library->find(path)->state, LibraryEntry::Offline);
    }
}

void TestLibrary::filesThatAreGoneAreForgotten() {
    Shelf shelf;
    write(shelf.at(QStringLiteral("m/one.gguf")));
    write(shelf.at(QStringLiteral("m/two.gguf")));
    shelf.library->addFolder(shelf.at(QStringLiteral("m")));
    QVERIFY(shelf.idle());
    QVERIFY(QFile::remove(shelf.at(QStringLiteral("m/one.gguf"))));
    shelf.library->rescan();
    QVERIFY(shelf.idle());
    QCOMPARE(shelf.names(), QStringList{QStringLiteral("two")});
    shelf.library->removeFolder(shelf.at(QStringLiteral("m")));
    QVERIFY(shelf.idle());
    QVERIFY(shelf.names().isEmpty());
    QVERIFY(QFile::exists(shelf.at(QStringLiteral("m/two.gguf"))));
}

void TestLibrary::notesAndFiguresAreRemembered() {
    Shelf shelf;
    const QString path = shelf.at(QStringLiteral("m/one.gguf"));
    write(path);
    shelf.library->addFolder(shelf.at(QStringLiteral("m")));
    QVERIFY(shelf.idle());
    shelf.library->setNote(path, QStringLiteral("good at Greek"));
    shelf.library->noteSpeed(path, 12.5);
    shelf.library->noteMemory(path, 1000, 900);
    QTest::qWait(1200);
    shelf.open();
    shelf.library->rescan();
    QVERIFY(shelf.idle());
    const LibraryEntry* const one = shelf.library->find(path);
    QVERIFY(one);
    QCOMPARE(one->note, QStringLiteral("good at Greek"));
    QCOMPARE(one->measured_tps, 12.5);
    QCOMPARE(one->measured_bytes, quint64{1000});
    QCOMPARE(one->predicted_bytes, quint64{900});
    QCOMPARE(shelf.machine.reads.load(), 1);
}

void TestLibrary::aDamagedIndexIsAnEmptyOne() {
    for (const QByteArray& bytes : {QByteArray("{\"models\":[{\"path\":5},7,{}],\"folders\":[1,{}]}"),
                                    QByteArray("\0\xff{", 3), QByteArray("{\"models\":{\"path\":\"x\"}}")}) {
        Shelf shelf;
        write(shelf.index, bytes);
        shelf.open();
        QVERIFY(shelf.library->entries().isEmpty());
        QVERIFY(shelf.library->folders().isEmpty());
    }
}

void TestLibrary::newFilesAreNoticed() {
    Shelf shelf;
    QVERIFY(QDir().mkpath(shelf.at(QStringLiteral("m"))));
    shelf.library->addFolder(shelf.at(QStringLiteral("m")));
    QVERIFY(shelf.idle());
    write(shelf.at(QStringLiteral("m/fresh.gguf")));
    QTRY_COMPARE_WITH_TIMEOUT(shelf.names(), QStringList{QStringLiteral("fresh")}, 10000);
}

void TestLibrary::brokenFilesAreRowsWithAReason() {
    Shelf shelf;
    write(shelf.at(QStringLiteral("m/broken.gguf")));
    write(shelf.at(QStringLiteral("m/whole.gguf")));
    shelf.library->addFolder(shelf.at(QStringLiteral("m")));
    QVERIFY(shelf.idle());
    const LibraryEntry* const broken = shelf.library->find(shelf.at(QStringLiteral("m/broken.gguf")));
    QVERIFY(broken);
    QCOMPARE(broken->state, LibraryEntry::Broken);
    QVERIFY2(broken->problem.contains(QStringLiteral("it is no model")), qPrintable(broken->problem));
    QCOMPARE(shelf.library->find(shelf.at(QStringLiteral("m/whole.gguf")))->state, LibraryEntry::Ready);
}

void TestLibrary::choicesPredictAgain() {
    Shelf shelf;
    const QString path = shelf.at(QStringLiteral("m/one.gguf"));
    write(path);
    shelf.library->addFolder(shelf.at(QStringLiteral("m")));
    QVERIFY(shelf.idle());
    QVERIFY(shelf.library->find(path)->prediction);
    QCOMPARE(shelf.library->find(path)->prediction->ctx, 4096U);
    PlacementChoices choices;
    choices.ctx = 1024;
    shelf.library->setChoices(choices);
    QVERIFY(shelf.idle());
    QCOMPARE(shelf.library->find(path)->prediction->ctx, 1024U);
    const int before = shelf.machine.predictions;
    shelf.library->setChoices(choices);
    QVERIFY(shelf.idle());
    QCOMPARE(shelf.machine.predictions.load(), before);
}

void TestLibrary::theTableIsAModel() {
    Shelf shelf;
    LibraryModel model(*shelf.library);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (const char* name : {"m/b.gguf", "m/a.gguf", "m/broken.gguf", "m/sparse.gguf"})
        write(shelf.at(QLatin1StringView(name)));
    shelf.library->addFolder(shelf.at(QStringLiteral("m")));
    QVERIFY(shelf.idle());
    QCOMPARE(model.rowCount(), 4);
    QCOMPARE(model.columnCount(), static_cast<int>(LibraryModel::ColumnCount));
    // A row stays where it is when another goes.
    const QPersistentModelIndex kept = model.index(model.rowOf(shelf.at(QStringLiteral("m/a.gguf"))), 0);
    QVERIFY(QFile::remove(shelf.at(QStringLiteral("m/b.gguf"))));
    shelf.library->rescan();
    QVERIFY(shelf.idle());
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(kept.data().toString(), QStringLiteral("a"));
    const int sparse = model.rowOf(shelf.at(QStringLiteral("m/sparse.gguf")));
    QVERIFY(model.index(sparse, LibraryModel::Name).data().toString().contains(QStringLiteral("[sparse]")));
    QCOMPARE(model.index(sparse, LibraryModel::Quant).data().toString(), QStringLiteral("Q4_0"));
    QCOMPARE(model.index(sparse, LibraryModel::Parameters).data().toString(), QStringLiteral("7.0 B"));
    model.setLoaded(shelf.at(QStringLiteral("m/sparse.gguf")));
    QVERIFY(model.index(sparse, 0).data(Qt::FontRole).value<QFont>().bold());
}

void TestLibrary::fitAndSpeedAreWords() {
    LibraryEntry one;
    one.state = LibraryEntry::Ready;
    QCOMPARE(fitText(one), QString());
    one.prediction = Prediction{};
    QCOMPARE(fitText(one), QStringLiteral("CPU"));
    QCOMPARE(speedText(one), QString());
    one.prediction->fit = Prediction::Hybrid;
    one.prediction->graphics_share = 0.614;
    QCOMPARE(fitText(one), QStringLiteral("Hybrid 61 %"));
    one.prediction->graphics_share = 0.999;
    QCOMPARE(fitText(one), QStringLiteral("Hybrid 99 %"));   // not all of it
    one.prediction->fit = Prediction::FullGpu;
    QCOMPARE(fitText(one), QStringLiteral("Full GPU"));
    one.prediction->fit = Prediction::TooBig;
    QCOMPARE(fitText(one), QStringLiteral("Too big"));
    one.prediction->decode_tps = 52.3;
    QCOMPARE(speedText(one), QStringLiteral("about 52"));
    one.measured_tps = 8.04;
    QCOMPARE(speedText(one), QStringLiteral("8.0"));
    one.state = LibraryEntry::Offline;
    QCOMPARE(fitText(one), QStringLiteral("offline"));
    QCOMPARE(pathText(QDir::homePath() + QStringLiteral("/models/a.gguf")), QStringLiteral("~/models/a.gguf"));
    QCOMPARE(pathText(QStringLiteral("/mnt/a.gguf")), QStringLiteral("/mnt/a.gguf"));
    QCOMPARE(parametersText(135'000'000), QStringLiteral("135 M"));
    QCOMPARE(parametersText(14'800'000'000), QStringLiteral("14.8 B"));
    QCOMPARE(parametersText(260'000), QStringLiteral("260 k"));
}

QTEST_MAIN(TestLibrary)
#include "test_library.moc"
