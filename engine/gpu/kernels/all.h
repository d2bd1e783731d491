#pragma once

#include <type_traits>

#include "engine/gpu/device.h"
#include "engine/gpu/kernels/attention.h"
#include "engine/gpu/kernels/elementwise.h"
#include "engine/gpu/kernels/handover.h"
#include "engine/gpu/kernels/norm.h"
#include "engine/gpu/kernels/product.h"
#include "engine/gpu/kernels/sparse.h"

/// The list of all kernels. Its order is the numbering that the engine and a back end share, so both are built from it.
namespace hearth::gpu::kernels {

template <typename... Kernels>
struct List {};

#define HEARTH_OF_TYPE(type) , Multiply<Type::type>, AddRows<Type::type>, Embed<Type::type>
using All = List<RoundActivations, RmsNorm, LayerNorm, CompactAbove, AddChunks, Activate, AddScaled, Adjust, Gather, Softcap, Rope,
                 Attend, FinishAttention, Store, Publish, AwaitFlag,
                 RaiseFlag HEARTH_BLOCK_TYPES(HEARTH_OF_TYPE) HEARTH_FLOAT_TYPES(HEARTH_OF_TYPE)>;
#undef HEARTH_OF_TYPE

template <typename Kernel, typename... Kernels>
constexpr unsigned numberOf(List<Kernels...>) {
    unsigned number = 0, found = sizeof...(Kernels);
    ((std::is_same_v<Kernel, Kernels> ? found = number : 0u, ++number), ...);
    return found;
}

template <typename... Kernels>
constexpr unsigned sizeOf(List<Kernels...>) {
    return sizeof...(Kernels);
}

}  // namespace hearth::gpu::kernels

namespace hearth::gpu {

/// Puts `kernel` into the stream.
template <typename Kernel>
void launch(Device& device, StreamId stream, const Grid& grid, const Kernel& kernel) {
    static_assert(std::is_trivially_copyable_v<Kernel>);
    constexpr unsigned number = kernels::numberOf<Kernel>(kernels::All());
    static_assert(number < kernels::sizeOf(kernels::All()), "the list of all kernels lacks this one");
    device.launchKernel(stream, number, grid, &kernel, sizeof kernel);
}

}  // namespace hearth::gpu
