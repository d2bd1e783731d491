#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/base/error.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/matmul.h"
#include "engine/quant/quant.h"

namespace hearth::cpu {

void Activations::set(MatrixView<const float> x) {
    x_ = x;
    rounded_ = false;
}

void decodeRow(const Weight& weight, uint64_t row, float* out) {
    quant::decode(weight.type, {weight.data + row * weight.row_bytes, weight.row_bytes}, {out, weight.cols});
}

void multiply(ThreadPool& pool, std::span<const Product> products) {
    struct Piece { const Product* product; uint64_t row; };
    std::vector<Piece> pieces;
    for (const Product& product : products)
        for (uint64_t row = 0; row < product.weight.rows; ++row) pieces.push_back({&product, row});
    pool.run(pieces.size(), [&](size_t piece) {
        const Product& product = *pieces[piece].product;
        const MatrixView<const float> x = product.x->values();
        thread_local std::vector<float> decoded;
        if (decoded.size() < product.weight.cols) decoded.resize(product.weight.cols);
        decodeRow(product.weight, pieces[piece].row, decoded.data());
        const size_t n = product.n != 0 ? product.n : x.rows - product.first;
        for (size_t t = 0; t < n; ++t)
            product.out.row(t)[pieces[piece].row] = dot(x.row(product.first + t), decoded.data(), product.weight.cols);
    });
}

void multiplyTransposed(ThreadPool& pool, const Weight& weight, MatrixView<const float> coefficients, MatrixView<float> out) {
    pool.run(out.rows, [&](size_t t) {
        std::fill_n(out.row(t), out.cols, 0.0f);
        std::vector<float> decoded(weight.cols);
        for (uint64_t j = 0; j < weight.rows; ++j) {
            if (coefficients.row(t)[j] == 0.0f) continue;
            decodeRow(weight, j, decoded.data());
            axpy(coefficients.row(t)[j], decoded.data(), out.row(t), weight.cols);
        }
    });
}

}  // namespace hearth::cpu
