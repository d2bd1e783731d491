#pragma once

#include <math.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>

#include "engine/base/half.h"

/// The kernel language of engine/gpu/kernel.h on the processor: what a thread of a block can ask. Each thread is a fiber; a
/// call that waits for other threads leaves it (block.h runs them).
namespace hearth::gpu {

using Site = std::source_location;

namespace emulated {

struct Faulted {};  ///< leaves a kernel whose fault has been noted

unsigned threadIndex();
unsigned blockThreads();
unsigned blockIndexX();
unsigned blockIndexY();
unsigned gridX();
unsigned gridY();

/// Waits for all threads of the block; with `site` dropped (a test) it does nothing.
void barrier(const Site& site);
/// Every lane gives a value and gets that of the lane `from`.
uint32_t exchange(uint32_t value, unsigned from, const Site& site);
uint32_t ballot(bool bit, const Site& site);
/// Sum or maximum over the warp by the butterfly that the card does: lane + (lane ^ 16), then 8, 4, 2, 1.
float butterflySum(float value, const Site& site);
float butterflyMax(float value, const Site& site);
/// Lets other threads run: for loops that wait for memory.
void pause();
/// Memory of the block, the same for the same site in all its threads; its bytes are noise until they are written.
void* sharedMemory(size_t bytes, const Site& site);

/// Where the processor finds `bytes` bytes of device memory; a fault where they are none of this device's.
void* translate(const volatile void* address, size_t bytes);
[[noreturn]] void fault(const std::string& words);

}  // namespace emulated

/// Pointer into device memory, or into main memory that is mapped for the device. Only kernels can follow it.
template <typename T>
class DevPtr {
public:
    DevPtr() = default;
    DevPtr(std::nullptr_t) {}
    explicit DevPtr(void* address) : address_(static_cast<T*>(address)) {}
    template <typename U>
        requires std::is_convertible_v<U*, T*>
    DevPtr(DevPtr<U> other) : address_(other.address()) {}

    T& operator[](size_t i) const { return *static_cast<T*>(translated(address_ + i)); }
    T& operator*() const { return (*this)[0]; }
    DevPtr operator+(size_t n) const { return DevPtr(const_cast<std::remove_const_t<T>*>(address_ + n)); }
    explicit operator bool() const { return address_ != nullptr; }
    T* address() const { return address_; }  ///< a number, not to be followed
    template <typename U>
    DevPtr<U> as() const {
        return DevPtr<U>(reinterpret_cast<void*>(const_cast<std::remove_const_t<T>*>(address_)));
    }

private:
    static void* translated(T* at) { return emulated::translate(at, sizeof(T)); }
    T* address_ = nullptr;
};

inline unsigned threadIndex() { return emulated::threadIndex(); }
inline unsigned blockThreads() { return emulated::blockThreads(); }
inline unsigned blockX() { return emulated::blockIndexX(); }
inline unsigned blockY() { return emulated::blockIndexY(); }
inline unsigned gridX() { return emulated::gridX(); }
inline unsigned gridY() { return emulated::gridY(); }

inline void syncBlock(const Site& site = Site::current()) { emulated::barrier(site); }
inline uint32_t ballot(bool bit, const Site& site = Site::current()) { return emulated::ballot(bit, site); }
inline float warpSum(float value, const Site& site = Site::current()) { return emulated::butterflySum(value, site); }
inline float warpMax(float value, const Site& site = Site::current()) { return emulated::butterflyMax(value, site); }
template <typename T>
T shuffle(T value, unsigned from, const Site& site = Site::current()) {
    static_assert(sizeof(T) == sizeof(uint32_t));
    return std::bit_cast<T>(emulated::exchange(std::bit_cast<uint32_t>(value), from, site));
}

inline int popCount(uint32_t bits) { return std::popcount(bits); }
/// c + the products of four signed bytes.
inline int dot4(int a, int b, int c) {
    for (int i = 0; i < 32; i += 8) c += static_cast<int8_t>(a >> i) * static_cast<int8_t>(b >> i);
    return c;
}
inline float halfAsFloat(uint16_t bits) { return halfToFloat(bits); }
inline uint16_t floatAsHalf(float value) { return floatToHalf(value); }
inline float bitsAsFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

/// Flags in mapped memory, between the device and the processor.
inline uint32_t loadAcquire(DevPtr<const uint32_t> at) { return __atomic_load_n(&at[0], __ATOMIC_ACQUIRE); }
inline void storeRelease(DevPtr<uint32_t> at, uint32_t value) { __atomic_store_n(&at[0], value, __ATOMIC_RELEASE); }
inline void pause() { emulated::pause(); }

}  // namespace hearth::gpu

#define HEARTH_KERNEL_FUNCTION inline
/// An array of the block; `name` is a pointer to its first element.
#define HEARTH_SHARED(type, name, count)   \
    type* const name = static_cast<type*>( \
        ::hearth::gpu::emulated::sharedMemory(sizeof(type) * (count), ::hearth::gpu::Site::current()))
