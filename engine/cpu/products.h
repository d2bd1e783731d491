#pragma once

#include <span>

#include "engine/cpu/kernels.h"
#include "engine/cpu/matmul.h"

/// The products of matmul.h with the kernels of a given level; matmul.h uses those of activeKernels().
namespace hearth::cpu {

void multiply(const Kernels& kernels, ThreadPool& pool, std::span<const Product> products);
void multiplyTransposed(const Kernels& kernels, ThreadPool& pool, const Weight& weight, MatrixView<const float> coefficients,
                        MatrixView<float> out);

/// Neurons of a chunk that multiplyTransposed() sums by itself.
constexpr size_t kNeuronChunk = 256;

}  // namespace hearth::cpu
