#pragma once

#include "engine/runtime/calibrate/linear_algebra.h"

namespace hearth::runtime {

/// Second moments of a layer's inputs, means taken off: own = E[x xᵀ] of what the predictor reads, and, for one that reads
/// the input of an earlier layer, cross = E[y xᵀ] with y the input that the gate reads (empty: the same).
struct Moments {
    Matrix<float> own, cross;   ///< [d, d]
};

/// Of rows x [n, d] and y [n, d] (or none). A small part of the mean variance is added to the diagonal, so that directions that
/// the text hardly shows do not count.
Moments momentsOf(ThreadPool& pool, MatrixView<const float> x, MatrixView<const float> y = {});

/// in [rank, d] and out [f, rank]: of all such pairs the one with the least E‖gate · y − out · in · x‖² (reduced-rank
/// regression, Izenman 1975; the singular vectors by a randomised range finder with power iterations, Halko et al. 2011,
/// §4.5). The first r rows of `in` and columns of `out` are the best pair of rank r, and in · x has unit covariance.
struct LowRank {
    Matrix<float> in, out;
};
/// `gate` [f, d]. Overwrites the moments. Throws Error, Stopped.
LowRank fitLowRank(ThreadPool& pool, MatrixView<const float> gate, Moments& moments, size_t rank);

}  // namespace hearth::runtime
