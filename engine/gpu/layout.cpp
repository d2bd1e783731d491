#include <string_view>

#include "engine/gpu/backend.h"
#include "engine/gpu/kernels/all.h"

namespace hearth::gpu {

namespace {

template <typename... Kernels>
uint64_t layoutOf(kernels::List<Kernels...>) {
    uint64_t hash = 0xcbf29ce484222325u;   // FNV-1a
    const auto add = [&hash](uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3u; };
    const auto addKernel = [&](std::string_view name, size_t bytes) {
        for (const char c : name) add(static_cast<unsigned char>(c));
        add(bytes);
    };
    (addKernel(Kernels::name, sizeof(Kernels)), ...);
    return hash;
}

}  // namespace

uint64_t kernelLayout() { return layoutOf(kernels::All()); }

}  // namespace hearth::gpu
