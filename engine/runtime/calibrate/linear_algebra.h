#pragma once

#include <span>
#include <vector>

#include "engine/base/matrix.h"
#include "engine/base/thread_pool.h"

/// Dense float32 algebra for fits. BLAS runs with one thread on panels of fixed size that the pool hands out, so results do
/// not depend on the number of threads. Matrices are row-major. Throws Stopped when the pool is asked to stop.
namespace hearth::runtime {

enum class Side : uint8_t { plain, transposed };

/// out = a · b, each as it is or transposed; out must not overlap them.
void product(ThreadPool& pool, MatrixView<const float> a, Side a_side, MatrixView<const float> b, Side b_side,
             MatrixView<float> out);

/// The lower triangle L with L Lᵀ = c [n, n], in place; above the diagonal zeros. Throws Error when c is not positive definite.
void cholesky(MatrixView<float> c);
/// x [m, n] ← x · L⁻ᵀ, row by row: the pool shares the rows.
void solveRows(ThreadPool& pool, MatrixView<const float> lower, MatrixView<float> x);
/// x [m, n] ← x · L⁻¹.
void solveRowsPlain(ThreadPool& pool, MatrixView<const float> lower, MatrixView<float> x);

/// The columns of a [n, k] made orthonormal (QR), n ≥ k.
void orthonormalise(MatrixView<float> a);
/// Eigenvectors of the symmetric matrix s [k, k] as columns, that of the greatest eigenvalue first; s is overwritten by them.
void eigenvectors(MatrixView<float> s);

}  // namespace hearth::runtime
