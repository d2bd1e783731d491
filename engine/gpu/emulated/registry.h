#pragma once

#include <cstddef>

namespace hearth::gpu::emulated {

/// A kernel as the emulated device runs it: `run` is one thread, its arguments are the kernel's struct.
struct KernelEntry {
    const char* name;
    size_t argument_bytes;
    void (*run)(const void* arguments);
};

/// By the number that kernels::launch() gives.
const KernelEntry& kernelEntry(unsigned kernel);

}  // namespace hearth::gpu::emulated
