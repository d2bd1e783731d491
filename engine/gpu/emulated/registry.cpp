#include "engine/gpu/emulated/registry.h"

#include <array>
#include <tuple>
#include <utility>

#include "engine/gpu/kernels/all.h"

namespace hearth::gpu::emulated {

namespace {

template <typename Kernel>
constexpr KernelEntry entry() {
    return {Kernel::name, sizeof(Kernel), [](const void* arguments) { (*static_cast<const Kernel*>(arguments))(); }};
}

template <typename... Kernels>
constexpr std::array<KernelEntry, sizeof...(Kernels)> entries(kernels::List<Kernels...>) {
    return {entry<Kernels>()...};
}

constexpr auto kEntries = entries(kernels::All());

}  // namespace

const KernelEntry& kernelEntry(unsigned kernel) { return kEntries.at(kernel); }

}  // namespace hearth::gpu::emulated
