#include "engine/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "engine/base/error.h"

namespace hearth {
namespace {

/// One live mapping, as the signal handler sees it. The table is fixed and its fields are lock-free atomics, because a
/// handler may neither lock nor allocate.
struct Slot {
    enum : int { Free, Claimed, Live };
    std::atomic<int> state{Free};
    std::atomic<uintptr_t> begin{0}, end{0};
    std::atomic<bool> damaged{false};
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<int>::is_always_lock_free);

std::array<Slot, 4096> slots;
std::atomic<size_t> slots_used{0};  // slots from here on were never claimed, so the handler need not look
struct sigaction previous_action;
uintptr_t page_size = 4096;

/// Puts zeros where the fault was. The rest of the mapping goes with it: whether the file was cut or its drive was
/// pulled out, what follows is gone too, and a fault for each page of a large model would take minutes.
bool replaceWithZeros(Slot& slot, uintptr_t address) {
    const uintptr_t page = address & ~(page_size - 1), end = slot.end.load(std::memory_order_relaxed);
    slot.damaged.store(true, std::memory_order_release);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    return mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, flags, -1, 0) != MAP_FAILED;
}

void passOn(int signal, siginfo_t* info, void* context) {
    if (previous_action.sa_flags & SA_SIGINFO) {
        previous_action.sa_sigaction(signal, info, context);
        return;
    }
    const bool sent_by_a_process = info->si_code <= 0;
    if (previous_action.sa_handler == SIG_IGN && sent_by_a_process) return;
    if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
        previous_action.sa_handler(signal);
        return;
    }
    // The default ends the program: a fault comes back by itself when this returns, a sent signal has to be sent again.
    struct sigaction ending{};
    ending.sa_handler = SIG_DFL;
    sigaction(signal, &ending, nullptr);
    if (sent_by_a_process) raise(signal);
}

void onBusError(int signal, siginfo_t* info, void* context) {
    const int saved_errno = errno;
    if (info->si_code > 0) {
        const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
        const size_t n = slots_used.load(std::memory_order_acquire);
        for (size_t i = 0; i < n; ++i) {
            Slot& slot = slots[i];
            if (slot.state.load(std::memory_order_acquire) != Slot::Live) continue;
            if (address < slot.begin.load(std::memory_order_relaxed)) continue;
            if (address >= slot.end.load(std::memory_order_relaxed)) continue;
            if (!replaceWithZeros(slot, address)) break;
            errno = saved_errno;
            return;
        }
    }
    passOn(signal, info, context);
    errno = saved_errno;
}

void installHandler() {
    static std::once_flag once;
    std::call_once(once, [] {
        page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        struct sigaction action{};
        action.sa_sigaction = onBusError;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&action.sa_mask);
        sigaction(SIGBUS, nullptr, &previous_action);
        sigaction(SIGBUS, &action, nullptr);
    });
}

Slot* claimSlot(const void* begin, size_t bytes) {
    for (size_t i = 0; i < slots.size(); ++i) {
        int expected = Slot::Free;
        if (!slots[i].state.compare_exchange_strong(expected, Slot::Claimed)) continue;
        const auto first = reinterpret_cast<uintptr_t>(begin);
        slots[i].begin = first;
        slots[i].end = first + (bytes + page_size - 1) / page_size * page_size;
        slots[i].damaged = false;
        size_t used = slots_used.load();
        while (used < i + 1 && !slots_used.compare_exchange_weak(used, i + 1)) {
        }
        slots[i].state = Slot::Live;
        return &slots[i];
    }
    return nullptr;
}

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

private:
    int number_;
};

Error openError(const std::string& what, int code) {
    switch (code) {
        case ENOENT: return {what, "there is no such file", "Check the path"};
        case ENOTDIR: return {what, "a part of its path is a file, not a folder", "Check the path"};
        case EACCES:
        case EPERM: return {what, "you may not read it", "Change its permissions or choose another file"};
        case ENAMETOOLONG: return {what, "its name is too long", "Check the path"};
        case EMFILE:
        case ENFILE: return {what, "too many files are open", "Close some programs and try again"};
        default: return {what, std::strerror(code), "Check the drive it lies on"};
    }
}

}  // namespace

struct MappedFile::State {
    std::filesystem::path path;
    void* address = nullptr;
    size_t bytes = 0;
    Slot* slot = nullptr;

    ~State() {
        // The slot first: once unmapped, the addresses may belong to somebody else's mapping.
        if (slot) slot->state.store(Slot::Free, std::memory_order_release);
        if (address) munmap(address, bytes);
    }
};

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
    const std::string what = "cannot open " + path.string();
    // O_NONBLOCK: opening a named pipe that nobody writes to would otherwise never return.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) throw openError(what, errno);
    struct stat facts{};
    if (fstat(file.number(), &facts) != 0) throw openError(what, errno);
    if (S_ISDIR(facts.st_mode)) throw Error(what, "it is a folder, not a file", "Choose a file inside it");
    if (!S_ISREG(facts.st_mode)) throw Error(what, "it is a device or a pipe, not a file", "Choose a file on a drive");
    if (facts.st_size <= 0) throw Error(what, "the file is empty", "Download or copy it again");

    installHandler();
    auto state = std::make_unique<State>();
    state->path = path;
    const auto bytes = static_cast<size_t>(facts.st_size);
    void* address = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.number(), 0);
    if (address == MAP_FAILED) {
        throw Error(what, std::string("mapping it into memory failed (") + std::strerror(errno) + ")",
                    "Copy it to a local drive and try again");
    }
#ifdef MADV_HUGEPAGE
    // Pages of 2 MiB where the file system's cache can have them: with small ones, reading single rows of a large matrix
    // waits for the address translation more than for the memory. A system that cannot does without.
    madvise(address, bytes, MADV_HUGEPAGE);
#endif
    state->address = address;
    state->bytes = bytes;
    state->slot = claimSlot(address, bytes);
    if (!state->slot) throw Error(what, "too many files are in use at once", "Close some models and try again");
    return std::shared_ptr<const MappedFile>(new MappedFile(std::move(state)));
}

MappedFile::MappedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
MappedFile::~MappedFile() = default;

std::span<const std::byte> MappedFile::bytes() const noexcept {
    return {static_cast<const std::byte*>(state_->address), state_->bytes};
}

const std::filesystem::path& MappedFile::path() const noexcept { return state_->path; }

bool MappedFile::damaged() const noexcept { return state_->slot->damaged.load(std::memory_order_acquire); }

void MappedFile::check() const {
    if (!damaged()) return;
    throw Error("cannot read " + state_->path.string(),
                "the file was cut short or its drive went away while it was in use",
                "Put the complete file back and load it again");
}

}  // namespace hearth
