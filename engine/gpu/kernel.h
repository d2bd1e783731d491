#pragma once

/// The language that kernels are written in: C++ and what stands here, under three compilers. nvcc makes them run on a card;
/// any other compiler makes them run on the processor, each thread of a block as a fiber (emulated/), which is how every
/// test runs them.
///
/// A kernel is a struct of plain arguments with `void operator()() const`, the body of one thread, and a name. Rules:
/// - whoever reads what another thread of the block wrote waits in between (syncBlock); never luck with warps;
/// - no sums of floats by atomics: the order of summation is part of the result;
/// - warp functions are called by all 32 lanes.
#if defined(__CUDACC__)
#include "engine/gpu/cuda/simt.cuh"
#else
#include "engine/gpu/emulated/simt.h"
#endif

namespace hearth::gpu {

inline constexpr unsigned kWarp = 32;

HEARTH_KERNEL_FUNCTION unsigned lane() { return threadIndex() % kWarp; }
HEARTH_KERNEL_FUNCTION unsigned warp() { return threadIndex() / kWarp; }
HEARTH_KERNEL_FUNCTION unsigned warps() { return blockThreads() / kWarp; }

/// Blocks of a launch (x fastest) and the threads of each, a multiple of 32 up to 1024.
struct Grid {
    unsigned x = 1, y = 1, threads = kWarp;
};

}  // namespace hearth::gpu
