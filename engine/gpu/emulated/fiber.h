#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace hearth::gpu::emulated {

/// A function with a stack of its own that can be left in the middle and gone on with: a thread of a block. It runs on the
/// system thread that calls resume(), always the same one. Sanitizers are told of each switch.
class Fiber {
public:
    Fiber();
    ~Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// Makes it ready to run `body` from the start. A body that was left unfinished is given up: nothing on its stack is
    /// destroyed. `body` must not throw.
    void start(std::function<void()> body);
    /// Runs until the body calls leave() or ends. Returns true when it has ended.
    bool resume();
    /// From inside the body: back to resume().
    void leave();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hearth::gpu::emulated
