#include "engine/gpu/emulated/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <format>

#include "engine/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#endif

namespace hearth::gpu::emulated {

namespace {

constexpr int kPoison = 0xff;
/// Not counted: a card has none.
constexpr uint64_t kGuard = 256;
/// What is freed beyond this goes back to the system instead of becoming noise.
constexpr uint64_t kPoisonedOnFree = 1 << 20;

uint64_t roundUp(uint64_t bytes) {
    return (bytes + DeviceMemory::kAlignment - 1) / DeviceMemory::kAlignment * DeviceMemory::kAlignment;
}

}  // namespace

DeviceMemory::DeviceMemory(uint64_t bytes) : total_(bytes) {
    // The guards are not counted, and no piece is smaller than a guard. Only what is written costs memory.
    constexpr uint64_t most = uint64_t{1} << 44;
    reserved_ = std::min(bytes, most) * 2 + (1 << 20);
    const int file = memfd_create("hearth-device", MFD_CLOEXEC);
    const auto whole = static_cast<off_t>(reserved_);
    if (file >= 0 && ftruncate(file, whole) == 0) {
        void* const closed = mmap(nullptr, reserved_, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
        void* const open = mmap(nullptr, reserved_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
        closed_ = closed == MAP_FAILED ? nullptr : static_cast<std::byte*>(closed);
        alias_ = open == MAP_FAILED ? nullptr : static_cast<std::byte*>(open);
    }
    if (file >= 0) close(file);
    if (closed_ == nullptr || alias_ == nullptr)
        throw Error("cannot emulate a device", std::format("the system gives no {} bytes of addresses", reserved_),
                    "Give it less memory in HEARTH_DEVICES");
    ASAN_POISON_MEMORY_REGION(alias_, reserved_);
}

DeviceMemory::~DeviceMemory() {
    ASAN_UNPOISON_MEMORY_REGION(alias_, reserved_);
    munmap(closed_, reserved_);
    munmap(alias_, reserved_);
}

void* DeviceMemory::allocate(uint64_t bytes) {
    const uint64_t counted = roundUp(std::max<uint64_t>(bytes, 1));
    if (counted < bytes || counted > total_ - used_) return nullptr;
    uint64_t at = 0;
    for (const auto& [offset, piece] : pieces_) {  // first fit
        if (offset - at >= counted + kGuard) break;
        at = offset + piece.counted + kGuard;
    }
    if (at > reserved_ || counted + kGuard > reserved_ - at) return nullptr;
    pieces_[at] = {bytes, counted};
    used_ += counted;
    ASAN_UNPOISON_MEMORY_REGION(alias(at), counted + kGuard);
    std::memset(alias(at), kPoison, counted + kGuard);
    ASAN_POISON_MEMORY_REGION(alias(at + bytes), counted + kGuard - bytes);
    return closed_ + at;
}

void DeviceMemory::free(void* memory) {
    const auto at = static_cast<uint64_t>(static_cast<std::byte*>(memory) - closed_);
    const auto found = pieces_.find(at);
    if (found == pieces_.end()) throw Error("cannot free device memory", "the address was not given out");
    const Piece piece = found->second;
    pieces_.erase(found);
    used_ -= piece.counted;
    const uint64_t whole = piece.counted + kGuard;
    ASAN_UNPOISON_MEMORY_REGION(alias(at), whole);
    const auto* const after = reinterpret_cast<const unsigned char*>(alias(at));
    const bool clean = std::all_of(after + piece.bytes, after + whole, [](unsigned char c) { return c == kPoison; });
    std::memset(alias(at), kPoison, std::min(whole, kPoisonedOnFree));
    if (whole > kPoisonedOnFree) madvise(alias(at + kPoisonedOnFree), whole - kPoisonedOnFree, MADV_REMOVE);
    ASAN_POISON_MEMORY_REGION(alias(at), whole);
    if (!clean)
        throw Error("device memory was damaged",
                    std::format("something was written after the end of a piece of {} bytes", piece.bytes));
}

Window DeviceMemory::window() const {
    const auto begin = reinterpret_cast<uintptr_t>(closed_);
    return {begin, begin + reserved_, alias_ - closed_};
}

std::byte* DeviceMemory::reach(const void* address, uint64_t bytes) const {
    const auto* const from = static_cast<const std::byte*>(address);
    if (from >= closed_ && from < closed_ + reserved_) {
        const auto at = static_cast<uint64_t>(from - closed_);
        auto after = pieces_.upper_bound(at);
        if (after != pieces_.begin()) {
            const auto& [offset, piece] = *--after;
            if (at - offset <= piece.bytes && bytes <= piece.bytes - (at - offset)) return alias(at);
        }
    }
    throw Error("cannot copy", std::format("{} bytes at {} are no piece of the device's memory", bytes, address));
}

}  // namespace hearth::gpu::emulated
