#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/gguf/writer.h"

/// Rows of numbers for models that are made to be timed.
namespace hearth::bench {

/// The part of every token's embedding that all tokens share: +1, −1, +1, … Its mean is 0, so a layer norm keeps it.
inline float common(uint64_t column) { return column % 2 == 0 ? 1.0f : -1.0f; }

/// Standard deviation of an embedding, of which half the energy is common(): what a norm with weights of 1 leaves of it has
/// this share of common().
constexpr float kCommonShare = 0.70710678f;

/// How a matrix's values are drawn: shift · common(column) + deviation · (low rank + noise · normal) / √(1 + noise²),
/// every part of them with a variance of 1 for a whole row times a normalised input; rank 0: a normal distribution alone.
struct Values {
    float deviation = 1, shift = 0;
    uint32_t rank = 0;
    float noise = 1;
    bool balanced = false;  ///< rows that common() times to 0
};

/// Encoded rows that stand for all rows of the matrices of one kind: a matrix takes them in an order of its own, so that a
/// file of any size takes little time to make.
class Rows {
public:
    /// `count` rows [cols], drawn with `seed`.
    Rows(ThreadPool& pool, gguf::Type type, uint64_t count, uint64_t cols, const Values& values, uint64_t seed);

    uint64_t count() const { return count_; }
    /// Hands `rows` rows to the writer; each count() of them are a permutation of all, chosen by `seed`. Refers to this.
    gguf::Writer::Source source(uint64_t rows, uint64_t seed) const;

    /// Of the energy Σ relu(gate)² over the rows, for normalised inputs, the share kept by the neurons that the low rank
    /// part and the shift would pick; `flagged` = as many neurons as 1.3 · the active ones.
    double recall(double active) const;

private:
    void drawRow(uint64_t row, uint64_t seed, std::vector<float>& out) const;

    gguf::Type type_;
    uint64_t count_, cols_, row_bytes_;
    Values values_;
    std::vector<float> left_, right_;  ///< [count, rank], [cols, rank]
    std::vector<std::byte> bytes_;
};

}  // namespace hearth::bench
