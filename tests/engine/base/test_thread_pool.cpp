#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/base/cores.h"
#include "engine/base/error.h"
#include "engine/base/thread_pool.h"
#include "tests/support/sanitizers.h"

using namespace hearth;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
}

/// A machine of 4 cores with 2 threads each: CPUs 0–3 and their siblings 4–7.
void writeTopology(const std::filesystem::path& root) {
    for (int cpu = 0; cpu < 8; ++cpu)
        write(root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology/thread_siblings_list",
              std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
}

constexpr unsigned kAll[] = {0, 1, 2, 3, 4, 5, 6, 7};

}  // namespace

class TestThreadPool : public QObject {
    Q_OBJECT
private slots:
    void everyPieceOnce_data() {
        QTest::addColumn<unsigned>("threads");
        for (const unsigned threads : {1u, 2u, 3u, 4u, 7u}) QTest::addRow("%u threads", threads) << threads;
    }
    void everyPieceOnce() {
        QFETCH(unsigned, threads);
        ThreadPool pool(threads);
        QCOMPARE(pool.threads(), threads);
        for (const size_t pieces : {0, 1, 2, 3, 7, 1000}) {
            std::vector<int> count(pieces, 0);  // plain: a piece taken twice would be a data race
            std::atomic<bool> thread_in_range = true;
            pool.run(pieces, [&](size_t piece, unsigned thread) {
                ++count[piece];
                if (thread >= threads) thread_in_range = false;
            });
            QVERIFY(thread_in_range);
            QCOMPARE(std::accumulate(count.begin(), count.end(), size_t{0}), pieces);
            QVERIFY(pieces == 0 || *std::min_element(count.begin(), count.end()) == 1);
        }
    }

    /// What pieces wrote is there after run(), over many short runs and over runs after the threads went to sleep.
    void manyRuns() {
        ThreadPool pool(4);
        std::vector<size_t> values(64, 0);
        for (size_t round = 1; round <= 5000; ++round) {
            pool.run(values.size(), [&](size_t piece) { values[piece] += piece; });
            if (round % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        for (size_t i = 0; i < values.size(); ++i) QCOMPARE(values[i], 5000 * i);
    }

    /// A thread that comes late from a short run finds a longer one begun: it takes each of that one's pieces once, and run()
    /// ends after all of them.
    void shortRunsThenLongOnes() {
        ThreadPool pool(8);
        std::vector<std::atomic<int>> count(64);
        for (size_t round = 0; round < 200000; ++round) {
            for (const size_t pieces : {2, 64, 3, 17}) {
                std::atomic<size_t> ended = 0;
                pool.run(pieces, [&](size_t piece) {
                    count[piece].fetch_add(1, std::memory_order_relaxed);
                    ended.fetch_add(1, std::memory_order_relaxed);
                });
                QCOMPARE(ended.load(), pieces);
                for (size_t piece = 0; piece < pieces; ++piece) QCOMPARE(count[piece].exchange(0), 1);
            }
        }
    }

    /// Pieces run side by side: each of two waits for the other.
    void sideBySide() {
        ThreadPool pool(2);
        for (int round = 0; round < 50; ++round) {
            std::atomic<int> inside = 0;
            pool.run(2, [&](size_t) {
                ++inside;
                const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
                while (inside != 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
            });
            QCOMPARE(inside.load(), 2);
        }
    }

    void firstExceptionIsThrown() {
        for (const unsigned threads : {1u, 4u}) {
            ThreadPool pool(threads);
            for (int round = 0; round < 20; ++round) {
                std::atomic<int> done = 0;
                QVERIFY_THROWS_EXCEPTION(std::out_of_range, pool.run(100, [&](size_t piece) {
                    if (piece == 10) throw std::out_of_range("piece 10");
                    ++done;
                }));
                QVERIFY(done < 100);
                pool.run(100, [&](size_t) { ++done; });
                QVERIFY(done >= 100);
            }
        }
    }

    void nestedAndConcurrentRunsAreRefused() {
        ThreadPool pool(2), other(2);
        std::atomic<int> inner = 0;
        QVERIFY_THROWS_EXCEPTION(std::logic_error, pool.run(4, [&](size_t) { pool.run(1, [](size_t) {}); }));
        pool.run(4, [&](size_t) { ++inner; });
        QCOMPARE(inner.load(), 4);

        std::atomic<bool> started = false, refused = false;
        std::thread second([&] {
            while (!started) std::this_thread::yield();
            try {
                pool.run(1, [](size_t) {});
            } catch (const std::logic_error&) {
                refused = true;
            }
        });
        pool.run(1, [&](size_t) {
            started = true;
            second.join();
        });
        QVERIFY(refused);
        pool.run(1, [&](size_t) { other.run(1, [&](size_t) { ++inner; }); });
        QCOMPARE(inner.load(), 5);
    }

    void stopIsPolledBeforeEachPiece() {
        for (const unsigned threads : {1u, 3u}) {
            ThreadPool pool(threads);
            std::stop_source source;
            pool.setStop(source.get_token());
            // A thread that had polled just before the request still does its piece; none does another one.
            std::atomic<int> done = 0, late = 0;
            QVERIFY_THROWS_EXCEPTION(Stopped, pool.run(1000, [&](size_t piece) {
                if (source.stop_requested()) ++late;
                if (piece == 5) source.request_stop();
                while (piece > 5 && !source.stop_requested()) std::this_thread::yield();
                ++done;
            }));
            QVERIFY2(late < static_cast<int>(threads), qPrintable(QString::number(late)));
            if (threads == 1) QCOMPARE(done.load(), 6);
            QVERIFY_THROWS_EXCEPTION(Stopped, pool.run(1, [&](size_t) { ++done; }));
            pool.setStop({});
            pool.run(3, [&](size_t) {});
        }
    }

    void coresFromTopology() {
        QTemporaryDir directory;
        const std::filesystem::path root = directory.path().toStdString();
        QCOMPARE(physicalCores(root, kAll), 8u);  // nothing known: each CPU a core
        writeTopology(root);
        QCOMPARE(physicalCores(root, kAll), 4u);
        const unsigned affinity[] = {0, 4, 5};
        QCOMPARE(physicalCores(root, affinity), 2u);
        QCOMPARE(physicalCores(root, {}), 1u);
        write(root / "sys/devices/cpu_core/cpus", "0-1,4-5");  // the rest are efficiency cores
        QCOMPARE(physicalCores(root, kAll), 2u);
        const unsigned slow_only[] = {2, 3};
        QCOMPARE(physicalCores(root, slow_only), 2u);
    }

    void coresUnderAQuota() {
        QTemporaryDir directory;
        const std::filesystem::path root = directory.path().toStdString();
        writeTopology(root);
        write(root / "proc/self/cgroup", "0::/user/app");
        write(root / "sys/fs/cgroup/user/app/cpu.max", "max 100000");
        QCOMPARE(physicalCores(root, kAll), 4u);
        write(root / "sys/fs/cgroup/user/cpu.max", "150000 100000");
        QCOMPARE(physicalCores(root, kAll), 2u);
        write(root / "sys/fs/cgroup/user/app/cpu.max", "20000 100000");
        QCOMPARE(physicalCores(root, kAll), 1u);
        write(root / "proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/job");
        write(root / "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000");
        write(root / "sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
        QCOMPARE(physicalCores(root, kAll), 3u);
        write(root / "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1");
        QCOMPARE(physicalCores(root, kAll), 4u);
    }

    void thisMachineHasACore() {
        QVERIFY(ThreadPool::physicalCores() >= 1 && ThreadPool(0).threads() == ThreadPool::physicalCores());
    }
};

QTEST_APPLESS_MAIN(TestThreadPool)
#include "test_thread_pool.moc"
