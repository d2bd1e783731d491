#pragma once

#include <cstddef>

#include "engine/base/thread_pool.h"

namespace hearth::cpu {

/// Bytes of the largest cache of this machine; 32 MiB where the system does not say.
size_t lastLevelCache();

/// Bytes per second that the pool's threads read from memory: the best of `reads` (≥ 5) reads over a buffer of 4 times
/// the last-level cache. Throws Error when there is no memory for the buffer.
double readBandwidth(ThreadPool& pool, int reads = 5);

}  // namespace hearth::cpu
