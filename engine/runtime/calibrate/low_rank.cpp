#include "engine/runtime/calibrate/low_rank.h"

#include <algorithm>
#include <random>

namespace hearth::runtime {
namespace {

constexpr float kRidge = 0.01f;   // of the mean variance
constexpr int kPowerIterations = 3;
constexpr size_t kOversampling = 16;

std::vector<float> meanOf(MatrixView<const float> x) {
    std::vector<double> sum(x.cols);
    for (size_t t = 0; t < x.rows; ++t)
        for (size_t c = 0; c < x.cols; ++c) sum[c] += x.row(t)[c];
    std::vector<float> mean(x.cols);
    for (size_t c = 0; c < x.cols; ++c) mean[c] = static_cast<float>(sum[c] / static_cast<double>(x.rows));
    return mean;
}

/// E[a bᵀ] − E[a] E[b]ᵀ
Matrix<float> covariance(ThreadPool& pool, MatrixView<const float> a, MatrixView<const float> b) {
    Matrix<float> c(a.cols, b.cols);
    product(pool, a, Side::transposed, b, Side::plain, c.view());
    const std::vector<float> mean_a = meanOf(a), mean_b = meanOf(b);
    const float share = 1 / static_cast<float>(a.rows);
    for (size_t i = 0; i < c.rows(); ++i)
        for (size_t j = 0; j < c.cols(); ++j) c.row(i)[j] = c.row(i)[j] * share - mean_a[i] * mean_b[j];
    return c;
}

Matrix<float> drawn(size_t rows, size_t cols) {
    std::mt19937 bits(20240607);
    std::normal_distribution<float> normal;
    Matrix<float> m(rows, cols);
    std::generate_n(m.data(), rows * cols, [&] { return normal(bits); });
    return m;
}

}  // namespace

Moments momentsOf(ThreadPool& pool, MatrixView<const float> x, MatrixView<const float> y) {
    Moments m{covariance(pool, x, x), {}};
    if (y.data != nullptr) m.cross = covariance(pool, y, x);
    float trace = 0;
    for (size_t i = 0; i < x.cols; ++i) trace += m.own.row(i)[i];
    for (size_t i = 0; i < x.cols; ++i) m.own.row(i)[i] += kRidge * trace / static_cast<float>(x.cols) + 1e-12f;
    return m;
}

LowRank fitLowRank(ThreadPool& pool, MatrixView<const float> gate, Moments& moments, size_t rank) {
    // With own = L Lᵀ and whitened inputs z = L⁻¹ x, the regression of the gates on z is A = G · cross · L⁻ᵀ (= G L where both
    // are the same); its best approximation of rank r is A V Vᵀ, V being A's first right singular vectors.
    const size_t d = gate.cols, f = gate.rows, k = std::min({rank + kOversampling, d, f});
    cholesky(moments.own.view());
    const bool ahead = moments.cross.rows() > 0;
    if (ahead) solveRows(pool, moments.own.view(), moments.cross.view());
    const MatrixView<const float> middle = ahead ? moments.cross.view() : moments.own.view();

    Matrix<float> v = drawn(d, k), inner(d, k), outer(f, k);
    const auto apply = [&] {
        product(pool, middle, Side::plain, v.view(), Side::plain, inner.view());
        product(pool, gate, Side::plain, inner.view(), Side::plain, outer.view());
    };
    orthonormalise(v.view());
    for (int round = 0; round < kPowerIterations; ++round) {
        apply();
        product(pool, gate, Side::transposed, outer.view(), Side::plain, inner.view());
        product(pool, middle, Side::transposed, inner.view(), Side::plain, v.view());
        orthonormalise(v.view());
    }
    apply();
    Matrix<float> turn(k, k);
    product(pool, outer.view(), Side::transposed, outer.view(), Side::plain, turn.view());
    eigenvectors(turn.view());
    const MatrixView<const float> best{turn.data(), k, std::min(rank, k), k};

    LowRank fit{Matrix<float>(best.cols, d), Matrix<float>(f, best.cols)};
    product(pool, outer.view(), Side::plain, best, Side::plain, fit.out.view());
    product(pool, best, Side::transposed, v.view(), Side::transposed, fit.in.view());
    solveRowsPlain(pool, moments.own.view(), fit.in.view());   // Vᵀ L⁻¹
    return fit;
}

}  // namespace hearth::runtime
