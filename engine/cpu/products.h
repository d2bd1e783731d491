#pragma once

#include <span>

#include "engine/cpu/kernels.h"
#include "engine/cpu/matmul.h"

/// The products of matmul.h with the kernels of a given level; matmul.h uses those of activeKernels().
namespace hearth::cpu {

void multiply(const Kernels& kernels, ThreadPool& pool, std::span<const Product> products);
void multiplyTransposed(const Kernels& kernels, ThreadPool& pool, const Weight& weight, MatrixView<const float> coefficients,
                        MatrixView<float> out, bool everything = false);
void multiplyRows(const Kernels& kernels, ThreadPool& pool, const Weight& weight, Activations& x, std::span<const uint32_t> rows, float* out);

/// Rounds all activations of the list that block types need rounded and that have not been yet.
void roundActivations(const Kernels& kernels, ThreadPool& pool, std::span<const Product> products);
/// One product on the calling thread, its activations rounded already.
void multiplyAlone(const Kernels& kernels, const Product& product);

/// Neurons of a chunk that multiplyTransposed() sums by itself.
constexpr size_t kNeuronChunk = 256;

}  // namespace hearth::cpu
