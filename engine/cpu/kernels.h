#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/isa.h"
#include "engine/cpu/ops.h"

/// What each instruction-set level provides: inside engine/cpu, and for its tests, which run every level in one process.
namespace hearth::cpu {

/// The operations of ops.h at one level.
struct Ops {
    decltype(&hearth::cpu::rmsNorm) rmsNorm;
    decltype(&hearth::cpu::layerNorm) layerNorm;
    decltype(&hearth::cpu::softmax) softmax;
    void (*add)(float*, const float*, size_t);
    void (*multiply)(float*, const float*, size_t);
    decltype(&hearth::cpu::scale) scale;
    decltype(&hearth::cpu::axpy) axpy;
    decltype(&hearth::cpu::dot) dot;
    decltype(&hearth::cpu::softcap) softcap;
    decltype(&hearth::cpu::activate) activate;
    decltype(&hearth::cpu::rope) rope;
    decltype(&hearth::cpu::kvStore) kvStore;
    decltype(&hearth::cpu::kvLoad) kvLoad;
    /// scratch: attendScratch(job) floats
    void (*attend)(const Attention& job, float* scratch);
    decltype(&hearth::cpu::deltaStep) deltaStep;
};

/// Cells that attend() takes at a time.
constexpr size_t kCellBlock = 32;
/// Floats of scratch memory that Ops::attend needs.
size_t attendScratch(const Attention& job);

struct Kernels {
    Isa isa;
    const Ops* ops;
};

/// The kernels of a level that availableIsas() names.
const Kernels& kernels(Isa isa);
/// Those of activeIsa().
const Kernels& activeKernels();

}  // namespace hearth::cpu
