#include <algorithm>
#include <atomic>
#include <deque>
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

/// One feed-forward: chunks of its neuron numbers, in any order, by any thread.
class NeuronSet {
public:
    /// `parts`: [chunks, outputs]; `added` counts the rows of the down-projection.
    NeuronSet(const Kernels& kernels, const Neurons& neurons, float* parts, std::atomic<uint64_t>& added)
        : kernels_(kernels),
          n_(neurons),
          added_(added),
          outputs_(neurons.outputs()),
          parts_(parts),
          sum_(*kernels.ops, parts, chunksOf(neurons), neurons.out, outputs_) {
        if (n_.up.data != nullptr) {
            up_kernel_ = listedKernel(kernels, n_.up.type);
            up_ = listedJob(n_.up, *n_.x, n_.x_row);
        }
        if (n_.down.data == nullptr) prepareRegrouped();
    }

    static size_t chunksOf(const Neurons& n) { return (n.neurons() + kNeuronChunk - 1) / kNeuronChunk; }

    void chunk(size_t c) {
        float* sums = parts_ + c * outputs_;
        std::fill_n(sums, outputs_, 0.0f);
        const auto begin = std::ranges::lower_bound(n_.list, static_cast<uint32_t>(c * kNeuronChunk));
        const auto last = std::lower_bound(begin, n_.list.end(), static_cast<uint32_t>((c + 1) * kNeuronChunk));
        const auto end = static_cast<size_t>(last - n_.list.begin());
        for (auto at = static_cast<size_t>(begin - n_.list.begin()); at < end;) {
            const size_t count = together(at, end);
            group(at, count, sums);
            at += count;
        }
        sum_.ready(c);
    }

private:
    void prepareRegrouped() {
        const RegroupedWeight& r = n_.regrouped;
        regrouped_kernel_ = kernels_.products->addRegrouped(r.type);
        if (regrouped_kernel_ == nullptr || r.group == 0 || kNeuronChunk % r.group != 0)
            throw std::logic_error("cpu::multiplyNeurons: a regrouped weight of no block type");
        regrouped_.codes = reinterpret_cast<const uint8_t*>(r.codes);
        regrouped_.scales = reinterpret_cast<const uint8_t*>(r.scales);
        regrouped_.common = reinterpret_cast<const uint8_t*>(r.common);
        regrouped_.code_row_bytes = r.code_row_bytes;
        regrouped_.scale_row_bytes = r.scale_row_bytes;
        regrouped_.common_row_bytes = r.common_row_bytes;
        regrouped_.group = r.group;
        regrouped_.common_group = r.common_group;
        regrouped_.outputs = r.outputs;
    }

    /// How many entries of the list are in work at once: some, and with shared scales all of a group.
    size_t together(size_t at, size_t end) const {
        size_t count = std::min(kListedRows, end - at);
        if (regrouped_kernel_ == nullptr) return count;
        const auto groupOf = [&](size_t i) { return n_.list[i] / regrouped_.group; };
        while (at + count < end && groupOf(at + count) == groupOf(at + count - 1)) ++count;
        return count;
    }

    const uint8_t* downRows() const {
        return regrouped_kernel_ != nullptr ? regrouped_.codes : reinterpret_cast<const uint8_t*>(n_.down.data);
    }
    size_t downRowBytes() const {
        return regrouped_kernel_ != nullptr ? regrouped_.code_row_bytes : n_.down.row_bytes;
    }

    /// Entries [at, at + count) of the list: while one matrix is computed, rows of the other come nearer.
    void group(size_t at, size_t count, float* sums) {
        const uint32_t* listed = n_.list.data() + at;
        uint32_t rows[kNeuronChunk];
        float hidden[kNeuronChunk];
        if (up_kernel_ != nullptr) {
            for (size_t i = 0; i < count; i += kListedRows)
                ups(listed + i, std::min(kListedRows, count - i), hidden + i);
        } else {
            for (size_t i = 0; i < count; ++i) hidden[i] = n_.hidden[listed[i]];
        }
        const bool next_up = up_kernel_ != nullptr;
        const Ahead ahead{next_up ? up_.weight : downRows(), next_up ? up_.row_bytes : downRowBytes(), listed + count,
                          std::min(kListedRows, n_.list.size() - at - count)};
        size_t firing = 0;
        for (size_t i = 0; i < count; ++i) {
            rows[firing] = listed[i];
            hidden[firing] = hidden[i];
            firing += n_.everything || hidden[i] != 0;
        }
        added_.fetch_add(firing, std::memory_order_relaxed);
        if (regrouped_kernel_ != nullptr) {
            AddRegroupedJob add = regrouped_;
            add.rows = rows;
            add.count = firing;
            add.coefficients = hidden;
            add.sums = sums;
            add.ahead = ahead;
            return regrouped_kernel_(add);
        }
        AddRowsJob add;
        add.weight = downRows();
        add.row_bytes = n_.down.row_bytes;
        add.rows = rows;
        add.count = firing;
        add.coefficients = hidden;
        add.n = outputs_;
        add.sums = sums;
        add.ahead = ahead;
        addRows(kernels_, n_.down.type, add);
    }

    void ups(const uint32_t* rows, size_t count, float* hidden) {
        ListedJob job = up_;
        float up[kListedRows], gate[kListedRows];
        job.rows = rows;
        job.count = count;
        job.out = up;
        // Where two factors must fire, most of these rows would come for nothing.
        if (n_.activation != Activation::drelu) job.ahead = {downRows(), downRowBytes(), rows, count};
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
    std::atomic<uint64_t>& added_;
    size_t outputs_;
    float* parts_;
    OrderedSum sum_;
    ListedKernel up_kernel_ = nullptr;
    ListedJob up_;
    AddRegroupedKernel regrouped_kernel_ = nullptr;
    AddRegroupedJob regrouped_;
};

float* partsOfThread(size_t n) {
    thread_local std::vector<float> sums;
    if (sums.size() < n) sums.resize(n);
    return sums.data();
}

void checkShapes(const Neurons& n) {
    const Weight& up = n.up;
    const bool fits = up.data == nullptr || (n.x != nullptr && n.x_row < n.x->values().rows &&
                                             n.x->values().cols == up.cols && up.rows == n.neurons());
    if (!fits || n.hidden == nullptr || n.out == nullptr)
        throw std::logic_error("cpu::multiplyNeurons: shapes do not match");
}

}  // namespace

uint64_t multiplyNeurons(const Kernels& kernels, ThreadPool& pool, std::span<const Neurons> all) {
    std::atomic<uint64_t> added = 0;
    size_t pieces = 0, values = 0;
    for (const Neurons& n : all) {
        checkShapes(n);
        if (n.up.data != nullptr) roundActivations(kernels, pool, n.up, *n.x);
        pieces += NeuronSet::chunksOf(n);
        values += NeuronSet::chunksOf(n) * n.outputs();
    }
    float* parts = partsOfThread(values);
    std::deque<NeuronSet> sets;
    std::vector<size_t> ends;   // of each set's pieces
    for (const Neurons& n : all) {
        sets.emplace_back(kernels, n, parts, added);
        parts += NeuronSet::chunksOf(n) * n.outputs();
        ends.push_back((ends.empty() ? 0 : ends.back()) + NeuronSet::chunksOf(n));
    }
    Ranges ranges(pieces, pool.threads());
    pool.run(pieces, [&](size_t, unsigned thread) {
        const size_t piece = ranges.take(thread).piece;
        const auto set = static_cast<size_t>(std::ranges::upper_bound(ends, piece) - ends.begin());
        sets[set].chunk(piece - (set == 0 ? 0 : ends[set - 1]));
    });
    return added;
}

uint64_t multiplyNeurons(ThreadPool& pool, std::span<const Neurons> all) {
    return multiplyNeurons(activeKernels(), pool, all);
}

}  // namespace hearth::cpu
