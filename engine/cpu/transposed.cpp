#include <algorithm>
#include <stdexcept>
#include <vector>

#include "engine/cpu/products.h"
#include "engine/quant/quant.h"

namespace hearth::cpu {
namespace {

/// Tokens for which each chunk of neurons gets partial sums of its own; more would take too much memory.
constexpr size_t kFewTokens = 4;
/// Output elements of a piece when there are more tokens: a multiple of every type's block.
constexpr size_t kStripe = 256;

struct Job {
    const Kernels& kernels;
    const Weight& weight;
    MatrixView<const float> coefficients;
    bool everything;
};

/// sums [tokens, n] (zeroed first) = Σ over neurons [begin, end), ascending, of coefficient · elements [first, first + n).
/// A coefficient of zero adds +0 to sums that begin at +0, so leaving it out changes no bit.
void addChunk(const Job& job, size_t begin, size_t end, size_t first, size_t n, float* sums) {
    thread_local std::vector<float> decoded;
    if (decoded.size() < n) decoded.resize(n);
    const size_t tokens = job.coefficients.rows;
    std::fill_n(sums, tokens * n, 0.0f);
    const uint64_t from = gguf::rowBytes(job.weight.type, first), bytes = gguf::rowBytes(job.weight.type, n);
    for (size_t j = begin; j < end; ++j) {
        bool read = false;
        for (size_t t = 0; t < tokens; ++t) {
            const float c = job.coefficients.row(t)[j];
            if (c == 0.0f && !job.everything) continue;
            if (!read) quant::decode(job.weight.type, {job.weight.data + j * job.weight.row_bytes + from, bytes}, {decoded.data(), n});
            read = true;
            job.kernels.ops->axpy(c, decoded.data(), sums + t * n, n);
        }
    }
}

void fewTokens(const Job& job, ThreadPool& pool, MatrixView<float> out) {
    const size_t neurons = job.weight.rows, cols = job.weight.cols, tokens = out.rows;
    const size_t chunks = (neurons + kNeuronChunk - 1) / kNeuronChunk;
    std::vector<float> partial(chunks * tokens * cols);
    pool.run(chunks, [&](size_t chunk) {
        addChunk(job, chunk * kNeuronChunk, std::min(neurons, (chunk + 1) * kNeuronChunk), 0, cols, partial.data() + chunk * tokens * cols);
    });
    for (size_t t = 0; t < tokens; ++t) {
        std::fill_n(out.row(t), cols, 0.0f);
        for (size_t chunk = 0; chunk < chunks; ++chunk) job.kernels.ops->add(out.row(t), partial.data() + (chunk * tokens + t) * cols, cols);
    }
}

void manyTokens(const Job& job, ThreadPool& pool, MatrixView<float> out) {
    const size_t neurons = job.weight.rows, cols = job.weight.cols, tokens = out.rows;
    pool.run((cols + kStripe - 1) / kStripe, [&](size_t stripe) {
        const size_t first = stripe * kStripe, n = std::min(kStripe, cols - first);
        std::vector<float> sums(tokens * n);
        for (size_t t = 0; t < tokens; ++t) std::fill_n(out.row(t) + first, n, 0.0f);
        for (size_t begin = 0; begin < neurons; begin += kNeuronChunk) {
            addChunk(job, begin, std::min(neurons, begin + kNeuronChunk), first, n, sums.data());
            for (size_t t = 0; t < tokens; ++t) job.kernels.ops->add(out.row(t) + first, sums.data() + t * n, n);
        }
    });
}

}  // namespace

void decodeRow(const Weight& weight, uint64_t row, float* out) {
    quant::decode(weight.type, {weight.data + row * weight.row_bytes, gguf::rowBytes(weight.type, weight.cols)}, {out, weight.cols});
}

void multiplyTransposed(const Kernels& kernels, ThreadPool& pool, const Weight& weight, MatrixView<const float> coefficients,
                        MatrixView<float> out, bool everything) {
    if (coefficients.cols != weight.rows || out.cols != weight.cols || out.rows != coefficients.rows)
        throw std::logic_error("cpu::multiplyTransposed: shapes do not match");
    const Job job{kernels, weight, coefficients, everything};
    if (out.rows <= kFewTokens) fewTokens(job, pool, out);
    else manyTokens(job, pool, out);
}

void multiplyTransposed(ThreadPool& pool, const Weight& weight, MatrixView<const float> coefficients, MatrixView<float> out,
                        bool everything) {
    multiplyTransposed(activeKernels(), pool, weight, coefficients, out, everything);
}

}  // namespace hearth::cpu
