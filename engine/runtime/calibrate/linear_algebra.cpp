#include "engine/runtime/calibrate/linear_algebra.h"

#include <cblas.h>

#include <algorithm>
#include <stdexcept>

#include "engine/base/error.h"

extern "C" {
void openblas_set_num_threads(int);
void spotrf_(const char*, const int*, float*, const int*, int*, size_t);
void sgeqrf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
void sorgqr_(const int*, const int*, const int*, float*, const int*, const float*, float*, const int*, int*);
void ssyevd_(const char*, const char*, const int*, float*, const int*, float*, float*, const int*, int*, const int*, int*,
             size_t, size_t);
}

namespace hearth::runtime {
namespace {

constexpr size_t kPanel = 128;   // rows of a result that are computed together

void oneThread() {
    static const bool once = [] {
        openblas_set_num_threads(1);
        return true;
    }();
    (void)once;
}

int size(size_t n) { return static_cast<int>(n); }

template <typename Body>
void forPanels(ThreadPool& pool, size_t rows, Body body) {
    oneThread();
    pool.run((rows + kPanel - 1) / kPanel, [&](size_t p) {
        const size_t first = p * kPanel;
        body(first, std::min(kPanel, rows - first));
    });
}

/// LAPACK's matrices are column-major: a row-major matrix there and back.
std::vector<float> columns(MatrixView<const float> a) {
    std::vector<float> out(a.rows * a.cols);
    for (size_t r = 0; r < a.rows; ++r)
        for (size_t c = 0; c < a.cols; ++c) out[c * a.rows + r] = a.row(r)[c];
    return out;
}
void rows(const std::vector<float>& columns, MatrixView<float> a) {
    for (size_t r = 0; r < a.rows; ++r)
        for (size_t c = 0; c < a.cols; ++c) a.row(r)[c] = columns[c * a.rows + r];
}

void require(int info, const char* what) {
    if (info != 0)
        throw Error(std::string("cannot fit a predictor: ") + what + " failed",
                    "the layer's inputs on this text hardly differ, or are not finite", "Use another text");
}

}  // namespace

void product(ThreadPool& pool, MatrixView<const float> a, Side a_side, MatrixView<const float> b, Side b_side,
             MatrixView<float> out) {
    const bool ta = a_side == Side::transposed, tb = b_side == Side::transposed;
    const size_t inner = ta ? a.rows : a.cols;
    if (out.rows != (ta ? a.cols : a.rows) || out.cols != (tb ? b.rows : b.cols) || inner != (tb ? b.cols : b.rows))
        throw std::logic_error("product: shapes do not match");
    forPanels(pool, out.rows, [&](size_t first, size_t n) {
        const float* part = ta ? a.data + first : a.row(first);
        cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, size(n),
                    size(out.cols), size(inner), 1.0f, part, size(a.stride), b.data, size(b.stride), 0.0f,
                    out.row(first), size(out.stride));
    });
}

void cholesky(MatrixView<float> c) {
    oneThread();
    const int n = size(c.rows), stride = size(c.stride);
    int info = 0;
    spotrf_("U", &n, c.data, &stride, &info, 1);   // the upper triangle by columns is the lower one by rows
    require(info, "the Cholesky factorisation");
    for (size_t r = 0; r < c.rows; ++r) std::fill(c.row(r) + r + 1, c.row(r) + c.cols, 0.0f);
}

void solveRows(ThreadPool& pool, MatrixView<const float> lower, MatrixView<float> x) {
    forPanels(pool, x.rows, [&](size_t first, size_t n) {
        cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, size(n), size(x.cols), 1.0f,
                    lower.data, size(lower.stride), x.row(first), size(x.stride));
    });
}

void solveRowsPlain(ThreadPool& pool, MatrixView<const float> lower, MatrixView<float> x) {
    forPanels(pool, x.rows, [&](size_t first, size_t n) {
        cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, size(n), size(x.cols), 1.0f,
                    lower.data, size(lower.stride), x.row(first), size(x.stride));
    });
}

void orthonormalise(MatrixView<float> a) {
    oneThread();
    std::vector<float> q = columns(a), tau(a.cols);
    const int n = size(a.rows), k = size(a.cols), length = 64 * k;
    std::vector<float> work(static_cast<size_t>(length));
    int info = 0;
    sgeqrf_(&n, &k, q.data(), &n, tau.data(), work.data(), &length, &info);
    require(info, "a QR factorisation");
    sorgqr_(&n, &k, &k, q.data(), &n, tau.data(), work.data(), &length, &info);
    require(info, "a QR factorisation");
    rows(q, a);
}

void eigenvectors(MatrixView<float> s) {
    oneThread();
    std::vector<float> vectors = columns(s), values(s.rows);
    const int k = size(s.rows), length = 1 + 6 * k + 2 * k * k, integers = 3 + 5 * k;
    std::vector<float> work(static_cast<size_t>(length));
    std::vector<int> integer_work(static_cast<size_t>(integers));
    int info = 0;
    ssyevd_("V", "U", &k, vectors.data(), &k, values.data(), work.data(), &length, integer_work.data(), &integers,
            &info, 1, 1);
    require(info, "an eigenvalue problem");
    for (size_t c = 0; c < s.cols; ++c)   // LAPACK's come in ascending order
        for (size_t r = 0; r < s.rows; ++r) s.row(r)[c] = vectors[(s.cols - 1 - c) * s.rows + r];
}

}  // namespace hearth::runtime
