#include <QTest>

#include "engine/base/error.h"
#include "engine/gpu/emulated/emulated_device.h"
#include "engine/gpu/selftest/check.h"
#include "tests/support/sanitizers.h"

using namespace hearth;
using gpu::emulated::EmulatedDevice;
using gpu::emulated::SiteKey;

namespace {

constexpr uint64_t kBytes = 4 << 20;
constexpr uint32_t kSeeds = 20;

}  // namespace

/// Every kernel on the emulated device: right under any order of threads, and wrong, within 20 orders, without any one of
/// its waits.
class TestKernels : public QObject {
    Q_OBJECT
private slots:
    void computesRightly_data() { addChecks(); }
    void computesRightly() {
        QFETCH(qsizetype, index);
        const gpu::selftest::Check check = gpu::selftest::checks()[static_cast<size_t>(index)];
        for (uint32_t seed = 0; seed < 4; ++seed) {
            EmulatedDevice device({.bytes = kBytes, .seed = seed});
            try {
                check.run(device, seed);
            } catch (const Error& error) {
                QFAIL(qPrintable(QString("seed %1: %2").arg(seed).arg(error.what())));
            }
            QCOMPARE(device.bytesFree(), device.bytesTotal());
        }
    }

    void everyWaitIsNeeded_data() { addChecks(); }
    void everyWaitIsNeeded() {
        QFETCH(qsizetype, index);
        const gpu::selftest::Check check = gpu::selftest::checks()[static_cast<size_t>(index)];
        EmulatedDevice whole({.bytes = kBytes});
        check.run(whole, 1);
        for (const SiteKey& site : whole.sites()) {
            bool noticed = false;
            for (uint32_t seed = 0; seed < kSeeds && !noticed; ++seed) {
                EmulatedDevice device({.bytes = kBytes, .seed = seed, .dropped = site});
                try {
                    check.run(device, 1);
                } catch (const Error&) {
                    noticed = true;
                }
            }
            QVERIFY2(noticed, qPrintable(QString("%1:%2").arg(QString::fromUtf8(site.file.data())).arg(site.line)));
        }
    }

private:
    static void addChecks() {
        QTest::addColumn<qsizetype>("index");
        qsizetype index = 0;
        for (const gpu::selftest::Check& check : gpu::selftest::checks()) QTest::newRow(check.name.c_str()) << index++;
    }
};

QTEST_GUILESS_MAIN(TestKernels)
#include "test_kernels.moc"
