#include "engine/base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace hearth {
namespace {

constexpr auto kSpin = std::chrono::microseconds(50);
constexpr size_t kLine = 64;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

/// Calls `done` until it is true or the spinning time is over; returns its last answer.
template <typename Done>
bool spinUntil(const Done& done) {
    const auto end = std::chrono::steady_clock::now() + kSpin;
    do {
        for (int i = 0; i < 32; ++i) {
            if (done()) return true;
            relax();
        }
    } while (std::chrono::steady_clock::now() < end);
    return done();
}

/// The pool whose piece the thread is in.
thread_local const void* current_pool = nullptr;

using PieceBody = std::function<void(size_t, unsigned)>;

/// The next free piece of a run that has none: more than any run's pieces.
constexpr uint32_t kClosed = std::numeric_limits<uint32_t>::max();

uint32_t generationOf(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }
uint32_t pieceOf(uint64_t ticket) { return static_cast<uint32_t>(ticket); }

}  // namespace

/// A run is published as a ticket: its generation above, the next free piece below. A thread takes a piece by moving the
/// ticket on, which succeeds only while the run of that generation still has pieces. So run() waits for its pieces alone:
/// a thread that the system keeps from running holds nobody up unless it holds a piece, and one that comes late finds
/// nothing to take. body and pieces are written only while the ticket is closed: a thread that read an exhausted ticket
/// of the run before must not find pieces again because the next run has more of them.
struct ThreadPool::State {
    alignas(kLine) std::atomic<uint64_t> ticket{0};
    alignas(kLine) std::atomic<uint32_t> done{0};
    std::atomic<bool> caller_sleeps{false};
    alignas(kLine) std::atomic<const PieceBody*> body{nullptr};
    std::atomic<uint32_t> pieces{0};
    std::atomic<bool> abandoned{false};  // a piece failed or the token asked: the rest is only counted
    alignas(kLine) std::atomic<uint32_t> epoch{0};  // what sleepers wait on
    std::atomic<bool> ending{false};
    std::atomic<bool> running{false};

    std::mutex failure_mutex;
    std::exception_ptr failure;
    std::stop_token stop;
    unsigned count = 1;
    std::vector<std::thread> workers;

    bool takePiece(uint32_t generation, uint32_t& piece, const PieceBody*& what) {
        uint64_t seen = ticket.load(std::memory_order_acquire);
        for (;;) {
            if (generationOf(seen) != generation) return false;
            // Acquire: who sees the next run's body or pieces also sees the ticket closed, and its exchange below fails.
            what = body.load(std::memory_order_acquire);
            piece = pieceOf(seen);
            if (piece >= pieces.load(std::memory_order_acquire)) return false;
            if (ticket.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire))
                return true;
        }
    }

    void fail(std::exception_ptr error) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::move(error);
        abandoned.store(true, std::memory_order_relaxed);
    }

    void doPiece(uint32_t piece, const PieceBody& what, unsigned thread) {
        if (abandoned.load(std::memory_order_relaxed)) return;
        try {
            throwIfStopped(stop);
            what(piece, thread);
        } catch (...) {
            fail(std::current_exception());
        }
    }

    /// Takes and does pieces of one run until none is left.
    void work(uint32_t generation, unsigned thread) {
        const void* outer = current_pool;
        current_pool = this;
        uint32_t piece = 0;
        const PieceBody* what = nullptr;
        while (takePiece(generation, piece, what)) {
            const uint32_t total = pieces.load(std::memory_order_relaxed);
            doPiece(piece, *what, thread);
            if (done.fetch_add(1) + 1 == total && caller_sleeps.load()) done.notify_all();
        }
        current_pool = outer;
    }

    void workerLoop(unsigned thread) {
        uint32_t seen = 0;
        for (;;) {
            const auto changed = [&] { return epoch.load(std::memory_order_acquire) != seen; };
            if (!spinUntil(changed)) epoch.wait(seen);
            seen = epoch.load(std::memory_order_acquire);
            if (ending.load()) return;
            work(generationOf(ticket.load(std::memory_order_acquire)), thread);
        }
    }

    void waitForPieces(uint32_t total) {
        if (spinUntil([&] { return done.load(std::memory_order_acquire) == total; })) return;
        caller_sleeps.store(true);
        for (uint32_t now = done.load(); now != total; now = done.load()) done.wait(now);
        caller_sleeps.store(false);
    }

    void runPieces(uint32_t total, const PieceBody& what) {
        const uint32_t generation = generationOf(ticket.load(std::memory_order_relaxed)) + 1;
        const uint64_t opened = static_cast<uint64_t>(generation) << 32;
        ticket.store(opened | kClosed, std::memory_order_relaxed);
        body.store(&what, std::memory_order_release);
        pieces.store(total, std::memory_order_release);
        abandoned.store(false, std::memory_order_relaxed);
        done.store(0, std::memory_order_relaxed);
        failure = nullptr;
        ticket.store(opened, std::memory_order_release);
        if (total > 1 && count > 1) {
            epoch.fetch_add(1);
            epoch.notify_all();
        }
        work(generation, 0);
        waitForPieces(total);
        if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    }
};

ThreadPool::ThreadPool(unsigned threads) : state_(std::make_unique<State>()) {
    state_->count = threads != 0 ? threads : physicalCores();
    try {
        for (unsigned i = 1; i < state_->count; ++i)
            state_->workers.emplace_back([state = state_.get(), i] { state->workerLoop(i); });
    } catch (...) {  // the system gives no more threads: go on with those there are
        state_->count = static_cast<unsigned>(state_->workers.size()) + 1;
    }
}

ThreadPool::~ThreadPool() {
    state_->ending.store(true);
    state_->epoch.fetch_add(1);
    state_->epoch.notify_all();
    for (std::thread& worker : state_->workers) worker.join();
}

unsigned ThreadPool::threads() const noexcept { return state_->count; }

void ThreadPool::setStop(std::stop_token token) { state_->stop = std::move(token); }

void ThreadPool::run(size_t pieces, const std::function<void(size_t)>& body) {
    run(pieces, [&body](size_t piece, unsigned) { body(piece); });
}

void ThreadPool::run(size_t pieces, const std::function<void(size_t, unsigned)>& body) {
    if (current_pool == state_.get()) throw std::logic_error("ThreadPool::run called from inside a piece");
    if (state_->running.exchange(true)) throw std::logic_error("ThreadPool::run called by two threads at once");
    struct Release {
        std::atomic<bool>& flag;
        ~Release() { flag.store(false); }
    } const release{state_->running};

    constexpr size_t most = std::numeric_limits<uint32_t>::max() / 2;
    for (size_t first = 0; first < pieces; first += most) {
        if (first == 0 && pieces <= most) {
            state_->runPieces(static_cast<uint32_t>(pieces), body);
        } else {
            const PieceBody shifted = [&](size_t piece, unsigned thread) { body(first + piece, thread); };
            state_->runPieces(static_cast<uint32_t>(std::min(most, pieces - first)), shifted);
        }
    }
}

}  // namespace hearth
