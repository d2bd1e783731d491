#pragma once

#include "engine/gpu/kernel.h"

namespace hearth::gpu::kernels {

/// Hands a layer's input and the list of its cold neurons to the processor: both are copied to mapped memory, then the flag
/// gets the number of the round. One block.
struct Publish {
    static constexpr const char* name = "publish";
    DevPtr<const float> x;  ///< [n]
    DevPtr<const uint32_t> list, count;  ///< null: no list
    DevPtr<const float> values;          ///< one for each of the list, or null
    DevPtr<float> mapped_x, mapped_values;
    DevPtr<uint32_t> mapped_list, mapped_count, flag;
    uint32_t n, round;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        for (uint32_t i = threadIndex(); i < n; i += blockThreads()) mapped_x[i] = x[i];
        if (list) {
            const uint32_t size = *count;
            for (uint32_t i = threadIndex(); i < size; i += blockThreads()) {
                mapped_list[i] = list[i];
                if (values) mapped_values[i] = values[i];
            }
            if (threadIndex() == 0) *mapped_count = size;
        }
        syncBlock();  // the flag says that all of it is there
        if (threadIndex() == 0) storeRelease(flag, round);
    }
};

/// Holds its stream up until the flag has reached `round` (differences wrap around): where a stream cannot wait by itself.
/// One warp.
struct AwaitFlag {
    static constexpr const char* name = "await_flag";
    DevPtr<const uint32_t> flag;
    uint32_t round;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        if (threadIndex() != 0) return;
        while (static_cast<int32_t>(loadAcquire(flag) - round) < 0) pause();
    }
};

/// Sets a flag in mapped memory, after all that its stream did before. One warp.
struct RaiseFlag {
    static constexpr const char* name = "raise_flag";
    DevPtr<uint32_t> flag;
    uint32_t round;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        if (threadIndex() == 0) storeRelease(flag, round);
    }
};

}  // namespace hearth::gpu::kernels
