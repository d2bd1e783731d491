#include <QTest>

#include "engine/base/error.h"
#include "engine/gpu/backend.h"

using namespace hearth;

/// Which devices there are and how they are asked for.
class TestBackend : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { qunsetenv("HEARTH_DEVICES"); }

    void sizesAreRead() {
        QCOMPARE(gpu::emulatedSizes(""), std::vector<uint64_t>());
        QCOMPARE(gpu::emulatedSizes("emulated:6G,emulated:4GB"), (std::vector<uint64_t>{6442450944, 4000000000}));
    }
    void whatIsNoSizeIsRefused_data() {
        QTest::addColumn<QString>("text");
        for (const char* text :
             {"x", "emulated", "emulated:", "emulated:0", "emulated:-1G", "cuda:6G", "emulated:6G,,"})
            QTest::newRow(text) << QString(text);
    }
    void whatIsNoSizeIsRefused() {
        QFETCH(QString, text);
        QVERIFY_THROWS_EXCEPTION(Error, gpu::emulatedSizes(text.toStdString()));
    }

    void emulatedDevicesAreFoundAndOpened() {
        qputenv("HEARTH_DEVICES", "emulated:2M,emulated:1M");
        std::vector<gpu::Found> emulated;
        for (const gpu::Found& found : gpu::discover().devices)
            if (found.name.starts_with("emulated")) emulated.push_back(found);
        QCOMPARE(emulated.size(), size_t{2});
        QCOMPARE(emulated[1].name, std::string("emulated:1"));
        QCOMPARE(emulated[1].bytes_total, uint64_t{1 << 20});
        const auto device = gpu::open("emulated:1");
        QCOMPARE(device->name(), std::string("emulated:1"));
        QCOMPARE(device->bytesFree(), uint64_t{1 << 20});
        QVERIFY_THROWS_EXCEPTION(Error, gpu::open("emulated:2"));
    }

    void oneEmulatedDeviceIsAlwaysThere() { QCOMPARE(gpu::open("emulated:0")->name(), std::string("emulated:0")); }

    void namesThatAreNoneAreRefused() {
        for (const char* name : {"", "cpu", "emulated", "emulated:x", "emulated:1", "cuda:", "cuda:4096"})
            QVERIFY_THROWS_EXCEPTION(Error, gpu::open(name));
    }

    void aMachineWithoutCardsSaysWhy() {
        const gpu::Discovery all = gpu::discover();
        QVERIFY(!all.devices.empty() || !all.notes.empty());
    }
};

QTEST_GUILESS_MAIN(TestBackend)
#include "test_backend.moc"
