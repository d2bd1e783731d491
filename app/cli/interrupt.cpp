#include "app/cli/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "engine/base/error.h"

namespace hearth::cli {
namespace {

int interrupts[2] = {-1, -1};
std::atomic<int> listeners = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

extern "C" void noteInterrupt(int) {
    if (listeners == 0) ::_exit(1);
    const int saved = errno;
    const char byte = 1;
    // A full pipe already says what there is to say.
    [[maybe_unused]] const ssize_t written = ::write(interrupts[1], &byte, 1);
    errno = saved;
}

void makePipe(int (&ends)[2]) {
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        throw Error("cannot start", std::string("no pipe: ") + std::strerror(errno));
}

}  // namespace

void catchInterrupts() {
    makePipe(interrupts);
    struct sigaction action = {};
    action.sa_handler = noteInterrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    signal(SIGPIPE, SIG_IGN);   // a reader that goes away is an error in words
}

InterruptListener::InterruptListener() { ++listeners; }
InterruptListener::~InterruptListener() { --listeners; }

int interruptDescriptor() { return interrupts[0]; }

bool takeInterrupt() {
    char bytes[64];
    bool any = false;
    while (::read(interrupts[0], bytes, sizeof bytes) > 0) any = true;
    return any;
}

InterruptibleWork::InterruptibleWork() {
    makePipe(wake_);
    watcher_ = std::thread([this] {
        pollfd waited[2] = {{interrupts[0], POLLIN, 0}, {wake_[0], POLLIN, 0}};
        while (::poll(waited, 2, -1) >= 0 || errno == EINTR) {
            if (waited[1].revents != 0) return;
            if (waited[0].revents != 0 && takeInterrupt()) source_.request_stop();
        }
    });
}

InterruptibleWork::~InterruptibleWork() {
    ::close(wake_[1]);   // the watcher sees the end of the pipe
    watcher_.join();
    ::close(wake_[0]);
}

}  // namespace hearth::cli
