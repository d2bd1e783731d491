#include "tests/bench/made_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "engine/quant/quant.h"

namespace hearth::bench {
namespace {

using Random = std::mt19937_64;

std::vector<float> normals(uint64_t n, uint64_t seed) {
    Random random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(n);
    for (float& v : values) v = normal(random);
    return values;
}

/// An input as a norm with weights of 1 leaves it: Σ x² = n.
std::vector<float> normalisedInput(uint64_t n, uint64_t seed) {
    std::vector<float> x = normals(n, seed);
    double squares = 0;
    for (uint64_t i = 0; i < n; ++i) {
        x[i] = kCommonShare * (x[i] + common(i));
        squares += x[i] * x[i];
    }
    const float scale = static_cast<float>(std::sqrt(static_cast<double>(n) / squares));
    for (float& v : x) v *= scale;
    return x;
}

double dot(const float* a, const float* b, uint64_t n) {
    double sum = 0;
    for (uint64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
}

}  // namespace

Rows::Rows(ThreadPool& pool, gguf::Type type, uint64_t count, uint64_t cols, const Values& values, uint64_t seed)
    : type_(type),
      count_(count),
      cols_(cols),
      row_bytes_(gguf::rowBytes(type, cols)),
      values_(values),
      left_(normals(count * values.rank, seed ^ 0x1ef7)),
      right_(normals(cols * values.rank, seed ^ 0x2197)),
      bytes_(count * row_bytes_) {
    constexpr uint64_t piece = 64;
    pool.run((count + piece - 1) / piece, [&](size_t p) {
        std::vector<float> row(cols);
        for (uint64_t r = p * piece; r < std::min(count, (p + 1) * piece); ++r) {
            drawRow(r, seed, row);
            quant::encode(type, row, std::span(bytes_).subspan(r * row_bytes_, row_bytes_));
        }
    });
}

void Rows::drawRow(uint64_t row, uint64_t seed, std::vector<float>& out) const {
    const uint64_t rank = values_.rank;
    out = normals(cols_, seed * 0x9e3779b97f4a7c15u + row);
    if (rank > 0) {
        const float whole = 1 / std::sqrt(1 + values_.noise * values_.noise),
                    low = whole / std::sqrt(static_cast<float>(rank));
        const float* left = left_.data() + row * rank;
        for (uint64_t c = 0; c < cols_; ++c) {
            const float* right = right_.data() + c * rank;
            float sums[8] = {};
            uint64_t k = 0;
            for (; k + 8 <= rank; k += 8)
                for (uint64_t j = 0; j < 8; ++j) sums[j] += left[k + j] * right[k + j];
            for (; k < rank; ++k) sums[0] += left[k] * right[k];
            out[c] = whole * values_.noise * out[c] + low * std::accumulate(sums, sums + 8, 0.0f);
        }
    }
    if (values_.balanced)
        for (uint64_t c = 1; c < cols_; c += 2) out[c] = out[c - 1];
    for (uint64_t c = 0; c < cols_; ++c) out[c] = values_.deviation * out[c] + values_.shift * common(c);
}

gguf::Writer::Source Rows::source(uint64_t rows, uint64_t seed) const {
    return [this, rows, seed](const gguf::Writer::Sink& sink) {
        constexpr size_t piece = size_t{4} << 20;   // large writes: the system then keeps the file in large pages
        std::vector<uint64_t> order(count_);
        std::vector<std::byte> pending;
        pending.reserve(piece + row_bytes_);
        Random random(seed);
        for (uint64_t r = 0; r < rows; ++r) {
            if (r % count_ == 0) {
                std::iota(order.begin(), order.end(), uint64_t{0});
                std::ranges::shuffle(order, random);
            }
            const auto row = std::span(bytes_).subspan(order[r % count_] * row_bytes_, row_bytes_);
            pending.insert(pending.end(), row.begin(), row.end());
            if (pending.size() < piece && r + 1 < rows) continue;
            sink(pending);
            pending.clear();
        }
    };
}

double Rows::recall(double active) const {
    constexpr uint64_t inputs = 8;
    const uint64_t rank = values_.rank;
    const auto flagged = static_cast<size_t>(1.3 * active * static_cast<double>(count_));
    double kept = 0, all = 0;
    std::vector<float> row(cols_), low(rank);
    for (uint64_t i = 0; i < inputs; ++i) {
        const std::vector<float> x = normalisedInput(cols_, 77 + i);
        std::ranges::fill(low, 0.0f);
        for (uint64_t c = 0; c < cols_; ++c)
            for (uint64_t k = 0; k < rank; ++k) low[k] += right_[c * rank + k] * x[c];
        std::vector<std::pair<double, double>> scored(count_);   // low rank, energy
        for (uint64_t r = 0; r < count_; ++r) {
            quant::decode(type_, std::span(bytes_).subspan(r * row_bytes_, row_bytes_), row);
            const double gate = std::max(dot(row.data(), x.data(), cols_), 0.0);
            scored[r] = {dot(left_.data() + r * rank, low.data(), rank), gate * gate};
            all += gate * gate;
        }
        std::ranges::sort(scored, std::ranges::greater());
        for (size_t r = 0; r < std::min(flagged, scored.size()); ++r) kept += scored[r].second;
    }
    return kept / all;
}

}  // namespace hearth::bench
