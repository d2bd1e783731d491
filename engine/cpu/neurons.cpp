#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "engine/cpu/products.h"
#include "engine/cpu/ranges.h"

namespace hearth::cpu {
namespace {

/// Adds up the chunks' sums in their order, whoever computes them and in whatever order they come: each thread that brings one
/// adds all that are due, unless another one is at it.
class OrderedSum {
public:
    OrderedSum(const Ops& ops, const float* parts, size_t count, float* out, size_t n)
        : ops_(ops), parts_(parts), out_(out), n_(n), ready_(count) {
        std::fill_n(out, n, 0.0f);
    }

    void ready(size_t part) {
        ready_[part].store(true);
        while (due() && !busy_.exchange(true)) {
            for (; due(); ++next_) ops_.add(out_, parts_ + next_ * n_, n_);
            busy_.store(false);
        }
    }

private:
    bool due() const {
        const size_t next = next_.load();
        return next < ready_.size() && ready_[next].load();
    }

    const Ops& ops_;
    const float* parts_;
    float* out_;
    size_t n_;
    std::vector<std::atomic<bool>> ready_;
    std::atomic<size_t> next_ = 0;
    std::atomic<bool> busy_ = false;
};

/// One hand-out: pieces are chunks of neuron numbers.
class NeuronPass {
public:
    NeuronPass(const Kernels& kernels, const Neurons& neurons, unsigned threads, float* out)
        : kernels_(kernels),
          n_(neurons),
          chunks_((neurons.down.rows + kNeuronChunk - 1) / kNeuronChunk),
          parts_(scratch(chunks_ * neurons.down.cols)),
          sum_(*kernels.ops, parts_, chunks_, out, neurons.down.cols),
          ranges_(chunks_, threads) {
        if (n_.up.data == nullptr) return;
        up_kernel_ = listedKernel(kernels, n_.up.type);
        up_ = listedJob(n_.up, *n_.x);
    }

    size_t chunks() const { return chunks_; }

    void chunk(unsigned thread) {
        const size_t c = ranges_.take(thread).piece, cols = n_.down.cols;
        float* sums = parts_ + c * cols;
        std::fill_n(sums, cols, 0.0f);
        auto first = std::ranges::lower_bound(n_.list, static_cast<uint32_t>(c * kNeuronChunk));
        const auto end = std::lower_bound(first, n_.list.end(), static_cast<uint32_t>((c + 1) * kNeuronChunk));
        while (first != end) {
            const auto count = std::min<std::ptrdiff_t>(kListedRows, end - first);
            group(static_cast<size_t>(first - n_.list.begin()), static_cast<size_t>(count), sums);
            first += count;
        }
        sum_.ready(c);
    }

private:
    static float* scratch(size_t n) {
        thread_local std::vector<float> sums;
        if (sums.size() < n) sums.resize(n);
        return sums.data();
    }

    /// Entries [at, at + count) of the list: while one matrix is computed, rows of the other come nearer.
    void group(size_t at, size_t count, float* sums) {
        const uint32_t* rows = n_.list.data() + at;
        float hidden[kListedRows];
        if (up_kernel_ != nullptr) {
            ups(rows, count, hidden);
        } else {
            for (size_t i = 0; i < count; ++i) hidden[i] = n_.hidden[rows[i]];
        }
        const Weight& next = up_kernel_ != nullptr ? n_.up : n_.down;
        AddRowsJob add;
        add.weight = reinterpret_cast<const uint8_t*>(n_.down.data);
        add.row_bytes = n_.down.row_bytes;
        add.rows = rows;
        add.count = count;
        add.coefficients = hidden;
        add.n = n_.down.cols;
        add.sums = sums;
        add.ahead = {reinterpret_cast<const uint8_t*>(next.data), next.row_bytes, rows + count,
                     std::min(kListedRows, n_.list.size() - at - count)};
        addRows(kernels_, n_.down.type, add);
    }

    void ups(const uint32_t* rows, size_t count, float* hidden) {
        ListedJob job = up_;
        float up[kListedRows], gate[kListedRows];
        job.rows = rows;
        job.count = count;
        job.out = up;
        job.ahead = {reinterpret_cast<const uint8_t*>(n_.down.data), n_.down.row_bytes, rows, count};
        up_kernel_(job);
        for (size_t i = 0; i < count; ++i) {
            if (n_.up_scale != 1) up[i] *= n_.up_scale;
            if (n_.up_bias != nullptr) up[i] += n_.up_bias[rows[i]];
            if (n_.gate != nullptr) gate[i] = n_.gate[rows[i]];
        }
        if (n_.gate != nullptr) kernels_.ops->activate(n_.activation, gate, up, hidden, count);
        else kernels_.ops->activate(n_.activation, up, nullptr, hidden, count);
        for (size_t i = 0; i < count; ++i) n_.hidden[rows[i]] = hidden[i];
    }

    const Kernels& kernels_;
    const Neurons& n_;
    size_t chunks_;
    float* parts_;
    OrderedSum sum_;
    Ranges ranges_;
    ListedKernel up_kernel_ = nullptr;
    ListedJob up_;
};

}  // namespace

void multiplyNeurons(const Kernels& kernels, ThreadPool& pool, const Neurons& neurons, float* out) {
    const Weight& up = neurons.up;
    const bool fits = up.data == nullptr || (neurons.x != nullptr && neurons.x->values().rows == 1 &&
                                             neurons.x->values().cols == up.cols && up.rows == neurons.down.rows);
    if (!fits || neurons.hidden == nullptr) throw std::logic_error("cpu::multiplyNeurons: shapes do not match");
    if (up.data != nullptr) roundActivations(kernels, pool, up, *neurons.x);
    NeuronPass pass(kernels, neurons, pool.threads(), out);
    pool.run(pass.chunks(), [&](size_t, unsigned thread) { pass.chunk(thread); });
}

void multiplyNeurons(ThreadPool& pool, const Neurons& neurons, float* out) {
    multiplyNeurons(activeKernels(), pool, neurons, out);
}

}  // namespace hearth::cpu
