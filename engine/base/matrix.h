#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

namespace hearth {

/// A view of [rows, cols] values, a row contiguous, rows `stride` values apart. Owns nothing.
template <typename T>
struct MatrixView {
    T* data = nullptr;
    size_t rows = 0, cols = 0, stride = 0;

    MatrixView() = default;
    MatrixView(T* values, size_t n_rows, size_t n_cols) : data(values), rows(n_rows), cols(n_cols), stride(n_cols) {}
    MatrixView(T* values, size_t n_rows, size_t n_cols, size_t row_stride)
        : data(values), rows(n_rows), cols(n_cols), stride(row_stride) {}
    operator MatrixView<const T>() const
        requires(!std::is_const_v<T>)
    {
        return {data, rows, cols, stride};
    }

    T* row(size_t r) const {
        assert(r < rows);
        return data + r * stride;
    }
    std::span<T> rowSpan(size_t r) const { return {row(r), cols}; }
    /// Rows [first, first + n).
    MatrixView slice(size_t first, size_t n) const { return {data + first * stride, n, cols, stride}; }
    /// Columns [first, first + n) of every row.
    MatrixView columns(size_t first, size_t n) const { return {data + first, rows, n, stride}; }
};

/// Owns [rows, cols] values; keeps its memory when it is made smaller, so a step of a loop allocates nothing.
template <typename T>
class Matrix {
public:
    Matrix() = default;
    Matrix(size_t rows, size_t cols) { resize(rows, cols); }

    /// Values are unspecified afterwards, except that new memory is zero.
    void resize(size_t rows, size_t cols) {
        rows_ = rows;
        cols_ = cols;
        if (values_.size() < rows * cols) values_.resize(rows * cols);
    }
    MatrixView<T> view() { return {values_.data(), rows_, cols_}; }
    MatrixView<const T> view() const { return {values_.data(), rows_, cols_}; }
    T* row(size_t r) { return values_.data() + r * cols_; }
    const T* row(size_t r) const { return values_.data() + r * cols_; }
    T* data() { return values_.data(); }
    const T* data() const { return values_.data(); }
    size_t rows() const { return rows_; }
    size_t cols() const { return cols_; }

private:
    std::vector<T> values_;
    size_t rows_ = 0, cols_ = 0;
};

}  // namespace hearth
