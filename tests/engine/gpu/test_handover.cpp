#include <QTest>

#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/gpu/emulated/emulated_device.h"
#include "engine/gpu/handover.h"
#include "engine/gpu/kernels/all.h"
#include "engine/gpu/progress.h"
#include "engine/gpu/selftest/check.h"
#include "tests/support/sanitizers.h"

using namespace hearth;
using gpu::Buffer;
using gpu::DevPtr;
using gpu::Handover;
using gpu::emulated::EmulatedDevice;
using namespace std::chrono_literals;

/// The meeting in the middle of a layer. No test looks at a clock to see what happens at the same time: each half waits for
/// something that only the other half does.
class TestHandover : public QObject {
    Q_OBJECT
private slots:
    /// Many rounds: what arrives is what was sent in that round, and what goes back is added in that round.
    void manyRounds() {
        constexpr uint32_t width = 100, neurons = 300;
        for (uint64_t seed = 0; seed < 4; ++seed) {
            EmulatedDevice device({.bytes = 1 << 20, .seed = seed});
            Handover handover(device, width, neurons, 60s);
            const std::vector<float> start(width, 1.0f);
            const Buffer x = gpu::selftest::upload<float>(device, start);
            const Buffer scores(device, neurons * sizeof(float)), list(device, neurons * sizeof(uint32_t)),
                count(device, 4);
            std::vector<float> expected = start;
            for (uint32_t round = 0; round < 50; ++round) {
                std::vector<float> fires(neurons);
                for (uint32_t i = 0; i < neurons; ++i) fires[i] = (i + round) % 7 == 0 ? 1.0f : 0.0f;
                device.copyIn(0, scores.address(), fires.data(), neurons * sizeof(float));
                gpu::launch(device, 0, {1, 1, 64},
                            gpu::kernels::CompactAbove{scores.as<const float>(), list.as<uint32_t>(),
                                                       count.as<uint32_t>(), neurons, 0.5f});
                handover.publish(0, {.x = x.as<const float>(),
                                     .list = list.as<const uint32_t>(),
                                     .count = count.as<const uint32_t>(),
                                     .values = scores.as<const float>()});
                handover.await();
                QCOMPARE(std::vector<float>(handover.x().begin(), handover.x().end()), expected);
                std::vector<uint32_t> neurons_that_fire;
                for (uint32_t i = 0; i < neurons; ++i)
                    if ((i + round) % 7 == 0) neurons_that_fire.push_back(i);
                QCOMPARE(std::vector<uint32_t>(handover.list().begin(), handover.list().end()), neurons_that_fire);
                QCOMPARE(std::vector<float>(handover.values().begin(), handover.values().end()),
                         std::vector<float>(fires.begin(), fires.begin() + static_cast<ptrdiff_t>(handover.list().size())));
                for (uint32_t i = 0; i < width; ++i) handover.sums()[i] = static_cast<float>(i + round);
                handover.giveBack();
                handover.join(0);
                gpu::launch(device, 0, {1, 1, 64},
                            gpu::kernels::AddScaled{x.as<float>(), handover.sumsOnDevice(), width, 1.0f});
                for (uint32_t i = 0; i < width; ++i) expected[i] += static_cast<float>(i + round);
            }
            QCOMPARE(gpu::selftest::download<float>(device, x, width), expected);
        }
    }

    /// The hot kernel ends only after the processor's half has opened a latch: so the processor works while it runs.
    void theProcessorWorksWhileTheDeviceDoes() {
        EmulatedDevice device({.bytes = 1 << 20});
        Handover handover(device, 32, 1, 60s);
        const gpu::Mapped latch = device.allocateMapped(8);
        auto* const words = static_cast<uint32_t*>(latch.host);
        words[0] = words[1] = 0;
        const Buffer x = gpu::selftest::upload<float>(device, std::vector<float>(32, 2.0f));
        handover.publish(0, {x.as<const float>()});
        gpu::launch(device, 0, {}, gpu::kernels::AwaitFlag{DevPtr<const uint32_t>(latch.device), 1});
        gpu::launch(device, 0, {},
                    gpu::kernels::RaiseFlag{DevPtr<uint32_t>(static_cast<uint32_t*>(latch.device) + 1), 1});
        handover.join(0);
        handover.await();
        QCOMPARE(handover.x()[31], 2.0f);
        QCOMPARE(__atomic_load_n(words + 1, __ATOMIC_ACQUIRE), 0u);  // the hot half cannot have ended
        __atomic_store_n(words, 1, __ATOMIC_RELEASE);
        handover.giveBack();
        device.synchronize();
        QCOMPARE(words[1], 1u);
        device.freeMapped(latch);
    }

    /// The processor's half ends only after the hot kernel has: so the device works while the processor does.
    void theDeviceWorksWhileTheProcessorDoes() {
        EmulatedDevice device({.bytes = 1 << 20});
        Handover handover(device, 32, 1, 60s);
        const gpu::Mapped latch = device.allocateMapped(4);
        auto* const word = static_cast<uint32_t*>(latch.host);
        *word = 0;
        const Buffer x = gpu::selftest::upload<float>(device, std::vector<float>(32, 2.0f));
        handover.publish(0, {x.as<const float>()});
        gpu::launch(device, 0, {}, gpu::kernels::RaiseFlag{DevPtr<uint32_t>(latch.device), 1});
        handover.join(0);
        handover.await();
        while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0) std::this_thread::yield();  // a hang here is the failure
        handover.giveBack();
        device.synchronize();
        device.freeMapped(latch);
    }

    void aLostDeviceIsToldInWords() {
        EmulatedDevice device({.bytes = 1 << 20});
        Handover handover(device, 32, 1, 50ms);
        const gpu::Mapped never = device.allocateMapped(4);
        std::memset(never.host, 0, 4);
        const Buffer x = gpu::selftest::upload<float>(device, std::vector<float>(32, 2.0f));
        device.waitValue(0, never.device, 1);
        handover.publish(0, {x.as<const float>()});
        try {
            handover.await();
            QFAIL("it cannot have answered");
        } catch (const Error& error) {
            QVERIFY2(QString(error.what()).contains("emulated:0 no longer answers"), error.what());
        }
        std::stop_source stop;
        stop.request_stop();
        QVERIFY_THROWS_EXCEPTION(Stopped, handover.await(stop.get_token()));
        __atomic_store_n(static_cast<uint32_t*>(never.host), 1, __ATOMIC_RELEASE);
        device.synchronize();
        device.freeMapped(never);
    }

    /// Who waits for the end of much work gives up when it gets no further, not when it takes long.
    void workThatGetsNoFurtherIsLost() {
        EmulatedDevice device({.bytes = 1 << 20});
        const gpu::Mapped never = device.allocateMapped(4);
        std::memset(never.host, 0, 4);
        gpu::Progress progress(device, 50ms);
        progress.mark(0);
        progress.await();
        device.waitValue(0, never.device, 1);
        progress.mark(0);
        try {
            progress.await();
            QFAIL("it cannot have ended");
        } catch (const Error& error) {
            QVERIFY2(QString(error.what()).contains("emulated:0 no longer answers"), error.what());
        }
        __atomic_store_n(static_cast<uint32_t*>(never.host), 1, __ATOMIC_RELEASE);
        device.synchronize();
        device.freeMapped(never);
    }

    /// A device that fails says why at once; nobody waits for it until it counts as lost.
    void aFailureIsNotWaitedOut() {
        EmulatedDevice device({.bytes = 1 << 20});
        Handover handover(device, 32, 1, 60s);
        const Buffer x = gpu::selftest::upload<float>(device, std::vector<float>(32, 2.0f));
        gpu::launch(device, 0, {1, 1, 32}, gpu::kernels::AddScaled{nullptr, x.as<const float>(), 32, 1.0f});
        handover.publish(0, {x.as<const float>()});
        try {
            handover.await();
            QFAIL("it cannot have answered");
        } catch (const Error& error) {
            QVERIFY2(QString(error.what()).contains("add_scaled failed on emulated:0"), error.what());
        }
    }

    /// A device goes even when one of its kernels waits for what never comes. A hang here is the failure.
    void aWaitingKernelIsGivenUp() {
        EmulatedDevice device({.bytes = 1 << 20});
        const gpu::Mapped never = device.allocateMapped(4);
        std::memset(never.host, 0, 4);
        gpu::launch(device, 0, {}, gpu::kernels::AwaitFlag{DevPtr<const uint32_t>(never.device), 1});
    }

    /// A half that fails leaves the stream waiting; the end of the hand-over lets it go.
    void nobodyIsLeftWaiting() {
        EmulatedDevice device({.bytes = 1 << 20});
        const Buffer x = gpu::selftest::upload<float>(device, std::vector<float>(32, 2.0f));
        {
            Handover handover(device, 32, 1, 60s);
            handover.publish(0, {x.as<const float>()});
            handover.join(0);
        }
        device.synchronize();
    }
};

QTEST_GUILESS_MAIN(TestHandover)
#include "test_handover.moc"
