#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/isa.h"
#include "engine/cpu/jobs.h"
#include "engine/cpu/ops.h"
#include "engine/gguf/type.h"

/// Kernels are built from small functions that must not become calls: vectors stay in registers. With a sanitizer's checks
/// in each of them, a kernel in one piece would take minutes to compile.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEARTH_INLINE inline
#define HEARTH_INLINE_LAMBDA
#else
#define HEARTH_INLINE __attribute__((always_inline)) inline
#define HEARTH_INLINE_LAMBDA __attribute__((always_inline))
#endif

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
    decltype(&hearth::cpu::listPositive) listPositive;
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

/// Products of one weight type.
using ProductKernel = void (*)(const ProductJob& job);
using ListedKernel = void (*)(const ListedJob& job);
using AddRowsKernel = void (*)(const AddRowsJob& job);
using AddRegroupedKernel = void (*)(const AddRegroupedJob& job);
struct Products {
    /// n a multiple of 32; a block that reaches `fine_from` times the root mean square of the row gets a block of low codes,
    /// `low` blocks behind it
    void (*roundRow)(const float* x, size_t n, float fine_from, XBlock* out, size_t low);
    ProductKernel (*product)(gguf::Type type);                ///< nullptr for a type without products
    size_t (*scratch)(size_t tokens, size_t cols);            ///< bytes of ProductJob::scratch, to be aligned to 64
    size_t lanes;                                             ///< rows that are computed together
    ListedKernel (*listed)(gguf::Type type);                  ///< nullptr for a type without products
    AddRowsKernel (*addRows)(gguf::Type type);                ///< nullptr for a type whose rows are decoded first
    AddRegroupedKernel (*addRegrouped)(gguf::Type type);      ///< nullptr for a type that is not made of blocks
};

struct Kernels {
    Isa isa;
    const Ops* ops;
    const Products* products;
};

/// The kernels of a level that availableIsas() names.
const Kernels& kernels(Isa isa);
/// Those of activeIsa().
const Kernels& activeKernels();

}  // namespace hearth::cpu
