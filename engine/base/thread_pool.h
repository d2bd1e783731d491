#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>

namespace hearth {

/// The engine's one pool. The calling thread works too, so a pool of 1 starts no thread.
/// Idle threads spin some microseconds, then sleep: a desktop shares its cores.
class ThreadPool {
public:
    /// `threads` ≥ 1, the caller included; 0 = the number of physical performance cores.
    explicit ThreadPool(unsigned threads = 0);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    unsigned threads() const noexcept;

    /// Calls body(piece) once for each piece in [0, pieces), spread over the threads, and returns when all are done.
    /// Which thread takes which piece is not fixed, so results must not depend on it. The first exception of a piece is
    /// thrown here (the other pieces may then be left out). One call at a time; a call from inside a piece throws std::logic_error.
    /// With a stop token set, it is polled before each piece; once it asks, Stopped is thrown.
    void run(size_t pieces, const std::function<void(size_t piece)>& body);
    /// The same, telling body which thread (in [0, threads())) runs it, for scratch memory of its own.
    void run(size_t pieces, const std::function<void(size_t piece, unsigned thread)>& body);

    /// Token polled by run(); a default token never asks. Set between runs, from the thread that calls run().
    void setStop(std::stop_token token);

    static unsigned physicalCores();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hearth
