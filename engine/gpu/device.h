#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/gpu/kernel.h"

namespace hearth::gpu {

/// An expected outcome: whoever plans shrinks the plan and goes on.
class OutOfDeviceMemory : public Error {
public:
    OutOfDeviceMemory(const std::string& device, uint64_t asked, uint64_t free);
};

using StreamId = uint32_t;   ///< work of one stream happens in order; 0 is always there
using EventId = uint64_t;    ///< a point in a stream

/// Main memory that the device sees too.
struct Mapped {
    void* host = nullptr;     ///< for the processor
    void* device = nullptr;   ///< for kernels: DevPtr<T>(device)
};

/// The seam between the engine and a graphics card, real or emulated. Everything that names a stream returns before it is
/// done; what a call reads must stay as it is until the stream has passed it. Errors of work that runs later are thrown by
/// the next synchronize(). Calls of one device come from one thread at a time.
class Device {
public:
    virtual ~Device() = default;

    virtual const std::string& name() const = 0;  ///< "cuda:0", "emulated:0"
    virtual uint64_t bytesTotal() const = 0;
    virtual uint64_t bytesFree() const = 0;  ///< as the allocator (or the driver) counts it now

    /// `bytes` bytes aligned to 256, of undefined content; never an address that the processor may follow. Throws
    /// OutOfDeviceMemory.
    virtual void* allocate(uint64_t bytes) = 0;
    virtual void free(void* memory) noexcept = 0;  ///< waits for whatever still uses it
    virtual Mapped allocateMapped(uint64_t bytes) = 0;
    virtual void freeMapped(const Mapped& memory) noexcept = 0;

    virtual StreamId createStream() = 0;
    virtual void copyIn(StreamId stream, void* device, const void* host, uint64_t bytes) = 0;
    virtual void copyOut(StreamId stream, void* host, const void* device, uint64_t bytes) = 0;
    virtual void copyWithin(StreamId stream, void* to, const void* from, uint64_t bytes) = 0;
    virtual void fill(StreamId stream, void* device, uint8_t value, uint64_t bytes) = 0;
    /// `kernel`: a number of kernels::Registry; `arguments`: its struct. See launch().
    virtual void launchKernel(StreamId stream, unsigned kernel, const Grid& grid, const void* arguments,
                              size_t bytes) = 0;

    virtual EventId record(StreamId stream) = 0;
    virtual void wait(StreamId stream, EventId event) = 0;  ///< the stream goes on after the event
    /// The stream goes on when the 32-bit word in mapped memory is `value` or later (differences wrap around).
    virtual void waitValue(StreamId stream, const void* mapped, uint32_t value) = 0;
    virtual bool done(EventId event) = 0;   ///< whether the stream has passed it, well or not
    virtual void synchronize(EventId event) = 0;
    virtual void synchronize() = 0;  ///< until all streams are empty
};

/// Device memory with an owner.
class Buffer {
public:
    Buffer() = default;
    Buffer(Device& device, uint64_t bytes) : device_(&device), memory_(device.allocate(bytes)), bytes_(bytes) {}
    ~Buffer() { reset(); }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }

    uint64_t bytes() const { return bytes_; }
    void* address() const { return memory_; }
    template <typename T>
    DevPtr<T> as() const {
        return DevPtr<T>(memory_);
    }

private:
    void reset() {
        if (memory_ != nullptr) device_->free(memory_);
        memory_ = nullptr;
    }
    void swap(Buffer& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
    }

    Device* device_ = nullptr;
    void* memory_ = nullptr;
    uint64_t bytes_ = 0;
};

}  // namespace hearth::gpu
