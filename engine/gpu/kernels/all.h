#pragma once

#include <type_traits>

#include "engine/gpu/device.h"
#include "engine/gpu/kernels/norm.h"
#include "engine/gpu/kernels/product.h"

/// The list of all kernels. Its order is the numbering that the engine and a back end share, so both are built from it.
namespace hearth::gpu::kernels {

template <typename... Kernels>
struct List {};

#define HEARTH_MULTIPLY(type) , Multiply<Type::type>
using All =
    List<RoundActivations, RmsNorm, LayerNorm HEARTH_BLOCK_TYPES(HEARTH_MULTIPLY) HEARTH_FLOAT_TYPES(HEARTH_MULTIPLY)>;
#undef HEARTH_MULTIPLY

template <typename Kernel, typename... Kernels>
constexpr unsigned numberOf(List<Kernels...>) {
    unsigned number = 0, found = sizeof...(Kernels);
    ((std::is_same_v<Kernel, Kernels> ? found = number : 0u, ++number), ...);
    return found;
}

}  // namespace hearth::gpu::kernels

namespace hearth::gpu {

/// Puts `kernel` into the stream.
template <typename Kernel>
void launch(Device& device, StreamId stream, const Grid& grid, const Kernel& kernel) {
    static_assert(std::is_trivially_copyable_v<Kernel>);
    constexpr unsigned number = kernels::numberOf<Kernel>(kernels::All());
    device.launchKernel(stream, number, grid, &kernel, sizeof kernel);
}

}  // namespace hearth::gpu
