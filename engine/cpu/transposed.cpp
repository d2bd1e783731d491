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

/// The neurons of a stretch that have a coefficient other than zero for some token, and those coefficients side by side.
struct Listed {
    std::vector<uint32_t> rows;
    std::vector<float> coefficients;  // [tokens, rows.size()]

    void fill(const Job& job, size_t begin, size_t end) {
        rows.clear();
        const size_t tokens = job.coefficients.rows;
        for (size_t j = begin; j < end; ++j) {
            bool wanted = job.everything;
            for (size_t t = 0; t < tokens && !wanted; ++t) wanted = job.coefficients.row(t)[j] != 0.0f;
            if (wanted) rows.push_back(static_cast<uint32_t>(j));
        }
        coefficients.resize(tokens * rows.size());
        for (size_t t = 0; t < tokens; ++t)
            for (size_t i = 0; i < rows.size(); ++i)
                coefficients[t * rows.size() + i] = job.coefficients.row(t)[rows[i]];
    }
};

/// sums [tokens, n] = Σ over neurons [begin, end), ascending, of coefficient · elements [first, first + n).
void sumChunk(const Job& job, size_t begin, size_t end, size_t first, size_t n, float* sums) {
    thread_local Listed listed;
    listed.fill(job, begin, end);
    const size_t tokens = job.coefficients.rows;
    std::fill_n(sums, tokens * n, 0.0f);
    AddRowsJob add;
    add.weight = reinterpret_cast<const uint8_t*>(job.weight.data);
    add.row_bytes = job.weight.row_bytes;
    add.rows = listed.rows.data();
    add.count = listed.rows.size();
    add.coefficients = listed.coefficients.data();
    add.coefficient_stride = listed.rows.size();
    add.first = first;
    add.n = n;
    add.tokens = tokens;
    add.sums = sums;
    add.sums_stride = n;
    addRows(job.kernels, job.weight.type, add);
}

void fewTokens(const Job& job, ThreadPool& pool, MatrixView<float> out) {
    const size_t neurons = job.weight.rows, cols = job.weight.cols, tokens = out.rows;
    const size_t chunks = (neurons + kNeuronChunk - 1) / kNeuronChunk;
    std::vector<float> partial(chunks * tokens * cols);
    pool.run(chunks, [&](size_t chunk) {
        sumChunk(job, chunk * kNeuronChunk, std::min(neurons, (chunk + 1) * kNeuronChunk), 0, cols,
                 partial.data() + chunk * tokens * cols);
    });
    for (size_t t = 0; t < tokens; ++t) {
        std::fill_n(out.row(t), cols, 0.0f);
        for (size_t chunk = 0; chunk < chunks; ++chunk)
            job.kernels.ops->add(out.row(t), partial.data() + (chunk * tokens + t) * cols, cols);
    }
}

void manyTokens(const Job& job, ThreadPool& pool, MatrixView<float> out) {
    const size_t neurons = job.weight.rows, cols = job.weight.cols, tokens = out.rows;
    pool.run((cols + kStripe - 1) / kStripe, [&](size_t stripe) {
        const size_t first = stripe * kStripe, n = std::min(kStripe, cols - first);
        std::vector<float> sums(tokens * n);
        for (size_t t = 0; t < tokens; ++t) std::fill_n(out.row(t) + first, n, 0.0f);
        for (size_t begin = 0; begin < neurons; begin += kNeuronChunk) {
            sumChunk(job, begin, std::min(neurons, begin + kNeuronChunk), first, n, sums.data());
            for (size_t t = 0; t < tokens; ++t) job.kernels.ops->add(out.row(t) + first, sums.data() + t * n, n);
        }
    });
}

}  // namespace

void addRows(const Kernels& kernels, gguf::Type type, const AddRowsJob& job) {
    if (const AddRowsKernel kernel = kernels.products->addRows(type); kernel != nullptr) return kernel(job);
    thread_local std::vector<float> decoded;
    if (decoded.size() < job.n) decoded.resize(job.n);
    const uint64_t from = gguf::rowBytes(type, job.first), bytes = gguf::rowBytes(type, job.n);
    for (size_t i = 0; i < job.count; ++i) {
        const auto* row = reinterpret_cast<const std::byte*>(job.weight + job.rows[i] * job.row_bytes + from);
        quant::decode(type, {row, bytes}, {decoded.data(), job.n});
        for (size_t t = 0; t < job.tokens; ++t)
            kernels.ops->axpy(job.coefficients[t * job.coefficient_stride + i], decoded.data(),
                              job.sums + t * job.sums_stride, job.n);
    }
}

void decodeRow(const Weight& weight, uint64_t row, float* out) {
    quant::decode(weight.type, {weight.data + row * weight.row_bytes, gguf::rowBytes(weight.type, weight.cols)},
                  {out, weight.cols});
}

void multiplyTransposed(const Kernels& kernels, ThreadPool& pool, const Weight& weight,
                        MatrixView<const float> coefficients, MatrixView<float> out, bool everything) {
    if (coefficients.cols != weight.rows || out.cols != weight.cols || out.rows != coefficients.rows)
        throw std::logic_error("cpu::multiplyTransposed: shapes do not match");
    const Job job{kernels, weight, coefficients, everything};
    if (out.rows == 1) {
        thread_local Listed listed;
        listed.fill(job, 0, weight.rows);
        Neurons neurons;
        neurons.list = listed.rows;
        neurons.hidden = const_cast<float*>(coefficients.row(0));  // read only: there is no `up`
        neurons.down = weight;
        neurons.out = out.row(0);
        neurons.everything = everything;
        multiplyNeurons(kernels, pool, {&neurons, 1});
    } else if (out.rows <= kFewTokens) {
        fewTokens(job, pool, out);
    } else {
        manyTokens(job, pool, out);
    }
}

void multiplyTransposed(ThreadPool& pool, const Weight& weight, MatrixView<const float> coefficients,
                        MatrixView<float> out, bool everything) {
    multiplyTransposed(activeKernels(), pool, weight, coefficients, out, everything);
}

}  // namespace hearth::cpu
