#pragma once

#include <span>
#include <vector>

#include "engine/cpu/kernels.h"
#include "engine/cpu/matmul.h"

/// The products of matmul.h with the kernels of a given level; matmul.h uses those of activeKernels().
namespace hearth::cpu {

void multiply(const Kernels& kernels, ThreadPool& pool, std::span<const Product> products);
void multiplyTransposed(const Kernels& kernels, ThreadPool& pool, const Weight& weight, MatrixView<const float> coefficients,
                        MatrixView<float> out, bool everything = false);
void multiplyRows(const Kernels& kernels, ThreadPool& pool, const Weight& weight, Activations& x, std::span<const uint32_t> rows, float* out);
uint64_t multiplyNeurons(const Kernels& kernels, ThreadPool& pool, std::span<const Neurons> all);

/// Rounds all activations of the list that block types need rounded and that have not been yet.
void roundActivations(const Kernels& kernels, ThreadPool& pool, std::span<const Product> products);
/// The same for one input of one weight.
void roundActivations(const Kernels& kernels, ThreadPool& pool, const Weight& weight, Activations& x);

struct ActivationsAccess {
    static float fineFrom(const Activations& x) { return x.fine_from_; }
    static bool& rounded(Activations& x) { return x.rounded_; }
    static std::vector<XBlock>& blocks(Activations& x) { return x.blocks_; }
};

inline bool isFloat(gguf::Type type) {
    return type == gguf::Type::F32 || type == gguf::Type::F16 || type == gguf::Type::BF16;
}

/// Adds rows of any type, decoded first where the type has no kernel for it.
void addRows(const Kernels& kernels, gguf::Type type, const AddRowsJob& job);

/// A job without rows yet, for a row of activations [ , cols] that are rounded where the type needs it.
ListedJob listedJob(const Weight& weight, Activations& x, size_t x_row = 0);
/// Throws Error for a type without products.
ListedKernel listedKernel(const Kernels& kernels, gguf::Type type);

/// Neurons whose part of a down-projection is summed by itself.
constexpr size_t kNeuronChunk = 256;
/// Listed rows that are in work at once: enough to fill the lanes of every level.
constexpr size_t kListedRows = 16;

}  // namespace hearth::cpu
