#pragma once

#include <stop_token>
#include <thread>

namespace hearth::cli {

/// Ctrl-C (SIGINT) as something to read: where somebody listens it is noted in a pipe, the only thing that a signal
/// handler may safely do; where nobody does it ends the program with exit code 1. Called once by main.
void catchInterrupts();

/// Somebody listens while one of these lives.
class InterruptListener {
public:
    InterruptListener();
    ~InterruptListener();
    InterruptListener(const InterruptListener&) = delete;
    InterruptListener& operator=(const InterruptListener&) = delete;
};

/// Readable when an interrupt is waiting, for poll().
int interruptDescriptor();
/// Takes the waiting interrupts; true if there was one.
bool takeInterrupt();

/// While one of these lives, Ctrl-C asks its token to stop. One at a time, and none while a line is being read.
class InterruptibleWork {
public:
    InterruptibleWork();
    ~InterruptibleWork();
    InterruptibleWork(const InterruptibleWork&) = delete;
    InterruptibleWork& operator=(const InterruptibleWork&) = delete;

    std::stop_token token() const { return source_.get_token(); }
    bool stopped() const { return source_.stop_requested(); }

private:
    InterruptListener listener_;
    std::stop_source source_;
    int wake_[2] = {-1, -1};
    std::thread watcher_;
};

}  // namespace hearth::cli
