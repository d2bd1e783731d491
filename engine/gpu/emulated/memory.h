#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "engine/gpu/emulated/block.h"

namespace hearth::gpu::emulated {

/// The memory of an emulated device: one file in memory, mapped twice. The addresses that are given out lie in the mapping
/// that nobody may touch, so that the processor cannot read a device's memory by mistake; kernels and copies reach the other
/// mapping. Fresh and freed bytes are noise, and between two pieces lies a guard that is looked at when they are freed.
class DeviceMemory {
public:
    static constexpr uint64_t kAlignment = 256;

    /// Throws Error when the system does not give `bytes` of address space.
    explicit DeviceMemory(uint64_t bytes);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    uint64_t bytesTotal() const { return total_; }
    uint64_t bytesUsed() const { return used_; }

    /// Address of `bytes` bytes, counted with their alignment; nullptr when there is no such piece free.
    void* allocate(uint64_t bytes);
    /// Throws Error for an address that was not given out, or when something was written beside the piece.
    void free(void* memory);

    Window window() const;
    /// Where the processor finds `bytes` bytes at a device address. Throws Error unless they lie in one piece.
    std::byte* reach(const void* address, uint64_t bytes) const;

private:
    struct Piece {
        uint64_t bytes, counted;
    };

    std::byte* alias(uint64_t at) const { return alias_ + at; }

    uint64_t total_ = 0, used_ = 0, reserved_ = 0;
    std::byte *closed_ = nullptr, *alias_ = nullptr;
    std::map<uint64_t, Piece> pieces_;  ///< by offset
};

}  // namespace hearth::gpu::emulated
