#include <QTest>

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <numeric>
#include <thread>

#include "engine/base/error.h"
#include "engine/gpu/emulated/block.h"
#include "engine/gpu/emulated/emulated_device.h"
#include "engine/gpu/emulated/fiber.h"
#include "engine/gpu/kernels/all.h"
#include "engine/gpu/selftest/check.h"
#include "tests/support/sanitizers.h"

using namespace hearth;
using gpu::Buffer;
using gpu::DevPtr;
using gpu::Grid;
using gpu::emulated::BlockRunner;
using gpu::emulated::EmulatedDevice;
using gpu::emulated::Fiber;
using gpu::emulated::Window;

namespace {

/// What a kernel that is a lambda says when it fails; empty when it does not.
QString failureOf(const std::function<void()>& body, const Grid& grid = {}, std::span<const Window> windows = {}) {
    BlockRunner runner;
    try {
        runner.run(body, grid, windows, {});
        return {};
    } catch (const Error& error) {
        return QString(error.what());
    }
}

sigjmp_buf left;
void leaveFault(int) { siglongjmp(left, 1); }

/// Does following `address` end in a fault?
bool faults(const volatile char* address) {
    struct sigaction mine{}, before{};
    mine.sa_handler = leaveFault;
    sigaction(SIGSEGV, &mine, &before);
    volatile bool fault = true;
    if (sigsetjmp(left, 1) == 0) {
        [[maybe_unused]] const char c = *address;
        fault = false;
    }
    sigaction(SIGSEGV, &before, nullptr);
    return fault;
}

}  // namespace

/// The emulated device itself: that it runs what is right, and that it tells what is wrong.
class TestEmulated : public QObject {
    Q_OBJECT
private slots:
    void fibersTakeTurns() {
        std::vector<int> order;
        Fiber a, b;
        a.start([&] {
            order.push_back(1);
            a.leave();
            order.push_back(3);
        });
        b.start([&] {
            order.push_back(2);
            b.leave();
            order.push_back(4);
        });
        QVERIFY(!a.resume());
        QVERIFY(!b.resume());
        QVERIFY(a.resume());
        QVERIFY(b.resume());
        QCOMPARE(order, (std::vector<int>{1, 2, 3, 4}));
        a.start([&] { order.push_back(5); });   // serves again
        QVERIFY(a.resume());
        QCOMPARE(order.back(), 5);
    }

    void warpsExchange() {
        BlockRunner runner;
        for (uint64_t seed = 0; seed < 8; ++seed) {
            std::vector<uint32_t> right(128), bits(128);
            std::vector<float> sums(128), largest(128);
            runner.run(
                [&] {
                    const unsigned t = gpu::threadIndex();
                    right[t] = gpu::shuffle(t, gpu::lane() + 1);
                    bits[t] = gpu::ballot(gpu::lane() % 3 == 0);
                    sums[t] = gpu::warpSum(static_cast<float>(t));
                    largest[t] = gpu::warpMax(static_cast<float>((t * 7) % 32));
                },
                {1, 1, 128}, {}, {.seed = seed});
            for (unsigned t = 0; t < 128; ++t) {
                QCOMPARE(right[t], t / 32 * 32 + (t + 1) % 32);
                QCOMPARE(bits[t], 0x49249249u);
                QCOMPARE(sums[t], static_cast<float>(t / 32 * 1024 + 496));
                QCOMPARE(largest[t], 31.0f);
            }
        }
    }

    void everyThreadOfEveryBlock() {
        BlockRunner runner;
        std::vector<int> count(5 * 3 * 64);
        runner.run([&] { ++count[(gpu::blockY() * 5 + gpu::blockX()) * 64 + gpu::threadIndex()]; }, {5, 3, 64}, {},
                   {.seed = 9});
        QVERIFY(std::ranges::all_of(count, [](int n) { return n == 1; }));
    }

    void mistakesAreTold() {
        QVERIFY(failureOf([] {}).isEmpty());
        const auto split = [] {
            if (gpu::threadIndex() < 32) gpu::syncBlock();
            else gpu::syncBlock();
        };
        QVERIFY(failureOf(split, {1, 1, 64}).contains("for ever"));
        QVERIFY(failureOf([] {
                    if (gpu::lane() != 5) gpu::warpSum(1.0f);
                }).contains("for ever"));
        QVERIFY(
            failureOf([] { *DevPtr<int>(reinterpret_cast<void*>(0x1000)) = 1; }).contains("no memory of the device"));
        QVERIFY(failureOf([] { throw Error("it broke", "no reason"); }).contains("it broke"));
        QVERIFY(failureOf([] {}, {1, 1, 33}).contains("no grid"));
    }

    void memoryOfTheBlockIsNoiseAtFirst() {
        QVERIFY(failureOf([] {
                    HEARTH_SHARED(float, noise, 4);
                    if (!std::isnan(noise[3])) throw Error("it is not noise", "a number");
                }).isEmpty());
    }

    void theProcessorCannotFollowDeviceMemory() {
#if defined(__SANITIZE_THREAD__)
        QSKIP("ThreadSanitizer looks at the address first");
#endif
        EmulatedDevice device({.bytes = 1 << 20});
        const Buffer buffer(device, 4096);
        QVERIFY(faults(static_cast<const char*>(buffer.address())));
        QVERIFY(!faults(reinterpret_cast<const char*>(&device)));
    }

    void bytesAreCounted() {
        EmulatedDevice device({.bytes = 1 << 20});
        QCOMPARE(device.bytesFree(), uint64_t{1 << 20});
        Buffer a(device, 1000), b(device, 256);
        QCOMPARE(device.bytesFree(), uint64_t{(1 << 20) - 1024 - 256});
        try {
            const Buffer c(device, (1 << 20) - 1000);
            QFAIL("there is no room");
        } catch (const gpu::OutOfDeviceMemory& error) {
            QVERIFY2(QString(error.what()).contains("emulated:0"), error.what());
        }
        a = Buffer();
        QCOMPARE(device.bytesFree(), uint64_t{(1 << 20) - 256});
        const Buffer c(device, (1 << 20) - 256);
        QCOMPARE(device.bytesFree(), uint64_t{0});
    }

    void freshMemoryIsNoise() {
        EmulatedDevice device({.bytes = 1 << 20});
        const Buffer buffer(device, 64 * sizeof(float));
        for (const float v : gpu::selftest::download<float>(device, buffer, 64)) QVERIFY(std::isnan(v));
    }

    void copiesBeyondAPieceAreRefused() {
        EmulatedDevice device({.bytes = 1 << 20});
        const Buffer buffer(device, 100);
        std::vector<char> host(200);
        device.copyIn(0, buffer.address(), host.data(), 101);
        QVERIFY_THROWS_EXCEPTION(Error, device.synchronize());
    }

    void aKernelThatFailsIsToldByTheNextWait() {
        EmulatedDevice device({.bytes = 1 << 20});
        const Buffer buffer(device, 4096);
        gpu::launch(device, 0, {1, 1, 32},
                    gpu::kernels::RmsNorm{DevPtr<const float>(reinterpret_cast<void*>(0x10)), nullptr,
                                          buffer.as<float>(), 32, 1e-5f});
        try {
            device.synchronize();
            QFAIL("the kernel read where nothing is");
        } catch (const Error& error) {
            QVERIFY2(QString(error.what()).contains("rms_norm failed on emulated:0"), error.what());
        }
    }

    /// A stream that reads what another writes needs an event: with it the result is right under every order, without it
    /// some order shows the mistake.
    void aMissingWaitShows() {
        for (const bool waits : {true, false}) {
            size_t wrong = 0;
            for (uint64_t seed = 0; seed < 20; ++seed) {
                EmulatedDevice device({.bytes = 1 << 20, .seed = seed});
                const gpu::StreamId other = device.createStream();
                const Buffer a(device, 256), b(device, 256);
                const std::vector<char> sent(256, 7);
                std::vector<char> got(256);
                // The first stream is held up until everything is queued.
                const gpu::Mapped gate = device.allocateMapped(4);
                auto* const open = static_cast<uint32_t*>(gate.host);
                *open = 0;
                device.waitValue(0, gate.device, 1);
                device.waitValue(other, gate.device, 1);
                device.copyIn(0, a.address(), sent.data(), 256);
                const gpu::EventId copied = device.record(0);
                if (waits) device.wait(other, copied);
                device.copyWithin(other, b.address(), a.address(), 256);
                device.copyOut(other, got.data(), b.address(), 256);
                __atomic_store_n(open, 1, __ATOMIC_RELEASE);
                device.synchronize();
                device.freeMapped(gate);
                wrong += got != sent;
            }
            if (waits) QCOMPARE(wrong, size_t{0});
            else QVERIFY(wrong > 0);
        }
    }

    /// The device waits for a value that the processor writes, and the other way round.
    void valuesGoBothWays() {
        EmulatedDevice device({.bytes = 1 << 20});
        const gpu::Mapped memory = device.allocateMapped(8);
        auto* const words = static_cast<uint32_t*>(memory.host);
        words[0] = words[1] = 0;
        const Buffer five(device, 4);
        const uint32_t value = 5;
        device.copyIn(0, five.address(), &value, 4);
        device.synchronize();
        device.waitValue(0, memory.device, 3);
        uint32_t got = 0;
        device.copyOut(0, &got, five.address(), 4);
        const gpu::EventId end = device.record(0);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        QCOMPARE(got, 0u);
        __atomic_store_n(words, 4, __ATOMIC_RELEASE);  // later than 3 will do
        device.synchronize(end);
        QCOMPARE(got, 5u);
        device.freeMapped(memory);
    }
};

QTEST_GUILESS_MAIN(TestEmulated)
#include "test_emulated.moc"
