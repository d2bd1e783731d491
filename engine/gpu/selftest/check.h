#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/device.h"

/// What a device must compute right before it is trusted: each kernel against a plain double-precision computation, with a
/// tolerance derived from the arithmetic. Needs no files; the tests run the same on the emulated device.
namespace hearth::gpu::selftest {

struct Check {
    std::string name;  ///< "multiply Q4_0"
    /// Throws Error that says where the first wrong value is, or what the device said.
    std::function<void(Device& device, uint32_t seed)> run;
};

/// All checks, in an order that begins with what others need.
std::vector<Check> checks();

/// Parts of the list, by kernel.
void addProductChecks(std::vector<Check>& checks);
void addNormChecks(std::vector<Check>& checks);
void addSparseChecks(std::vector<Check>& checks);
void addElementwiseChecks(std::vector<Check>& checks);
void addAttentionChecks(std::vector<Check>& checks);

/// `n` values from a normal distribution.
std::vector<float> normalValues(size_t n, uint32_t seed);

/// Device memory with a copy of `values`, which may go afterwards.
template <typename T>
Buffer upload(Device& device, std::span<const T> values) {
    Buffer buffer(device, values.size_bytes());
    device.copyIn(0, buffer.address(), values.data(), values.size_bytes());
    device.synchronize(device.record(0));
    return buffer;
}

/// `n` values of device memory, when stream 0 is done.
template <typename T>
std::vector<T> download(Device& device, const Buffer& buffer, size_t n) {
    std::vector<T> values(n);
    device.copyOut(0, values.data(), buffer.address(), n * sizeof(T));
    device.synchronize(device.record(0));
    return values;
}

/// A value that must come out, and how far off it may be.
struct Expected {
    double value, tolerance;
};

/// Throws Error at the first of `got` that is off, NaN included.
void compare(std::span<const float> got, const std::function<Expected(size_t)>& expected);

}  // namespace hearth::gpu::selftest
