#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_fp16.h>

/// The kernel language of engine/gpu/kernel.h on a card.
namespace hearth::gpu {

#define HEARTH_KERNEL_FUNCTION __device__ __forceinline__
#define HEARTH_SHARED(type, name, count)    \
    __shared__ type name##_of_block[count]; \
    type* const name = name##_of_block

inline constexpr unsigned kAllLanes = 0xffffffffu;

/// Pointer into device memory; the same bytes as DevPtr of emulated/simt.h, which the engine was compiled with.
template <typename T>
class DevPtr {
public:
    DevPtr() = default;
    __host__ __device__ DevPtr(std::nullptr_t) {}
    __host__ __device__ explicit DevPtr(void* address) : address_(static_cast<T*>(address)) {}
    template <typename U>
        requires std::is_convertible_v<U*, T*>
    __host__ __device__ DevPtr(DevPtr<U> other) : address_(other.address()) {}

    __device__ T& operator[](size_t i) const { return address_[i]; }
    __device__ T& operator*() const { return *address_; }
    __host__ __device__ DevPtr operator+(size_t n) const { return at(address_ + n); }
    __host__ __device__ explicit operator bool() const { return address_ != nullptr; }
    __host__ __device__ T* address() const { return address_; }
    template <typename U>
    __host__ __device__ DevPtr<U> as() const {
        return DevPtr<U>(const_cast<void*>(static_cast<const volatile void*>(address_)));
    }

private:
    __host__ __device__ static DevPtr at(T* address) {
        DevPtr p;
        p.address_ = address;
        return p;
    }
    T* address_ = nullptr;
};

HEARTH_KERNEL_FUNCTION unsigned threadIndex() { return threadIdx.x; }
HEARTH_KERNEL_FUNCTION unsigned blockThreads() { return blockDim.x; }
HEARTH_KERNEL_FUNCTION unsigned blockX() { return blockIdx.x; }
HEARTH_KERNEL_FUNCTION unsigned blockY() { return blockIdx.y; }
HEARTH_KERNEL_FUNCTION unsigned gridX() { return gridDim.x; }
HEARTH_KERNEL_FUNCTION unsigned gridY() { return gridDim.y; }

HEARTH_KERNEL_FUNCTION void syncBlock() { __syncthreads(); }
HEARTH_KERNEL_FUNCTION uint32_t ballot(bool bit) { return __ballot_sync(kAllLanes, bit); }
HEARTH_KERNEL_FUNCTION float warpSum(float value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
    return value;
}
HEARTH_KERNEL_FUNCTION float warpMax(float value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
    return value;
}
template <typename T>
HEARTH_KERNEL_FUNCTION T shuffle(T value, unsigned from) {
    static_assert(sizeof(T) == sizeof(uint32_t));
    return __shfl_sync(kAllLanes, value, static_cast<int>(from));
}

HEARTH_KERNEL_FUNCTION int popCount(uint32_t bits) { return __popc(bits); }
HEARTH_KERNEL_FUNCTION int dot4(int a, int b, int c) { return __dp4a(a, b, c); }
HEARTH_KERNEL_FUNCTION float halfAsFloat(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }
HEARTH_KERNEL_FUNCTION uint16_t floatAsHalf(float value) { return __half_as_ushort(__float2half_rn(value)); }
HEARTH_KERNEL_FUNCTION float bitsAsFloat(uint32_t bits) { return __uint_as_float(bits); }

/// Flags in mapped memory: a fence on either side, for the whole system and not the card alone.
HEARTH_KERNEL_FUNCTION uint32_t loadAcquire(DevPtr<const uint32_t> at) {
    const uint32_t value = *static_cast<const volatile uint32_t*>(at.address());
    __threadfence_system();
    return value;
}
HEARTH_KERNEL_FUNCTION void storeRelease(DevPtr<uint32_t> at, uint32_t value) {
    __threadfence_system();
    *static_cast<volatile uint32_t*>(at.address()) = value;
}
HEARTH_KERNEL_FUNCTION void pause() { __nanosleep(100); }

}  // namespace hearth::gpu
