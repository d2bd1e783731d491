#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace hearth::cpu {

/// Hands pieces out so that a thread goes through neighbours, whose weights it prefetches, and then helps the others. Each
/// call takes one piece, so as many calls as there are pieces take them all.
class Ranges {
public:
    Ranges(size_t pieces, unsigned threads) : ranges_(threads) {
        for (size_t t = 0; t < threads; ++t) {
            ranges_[t].next = pieces * t / threads;
            ranges_[t].end = pieces * (t + 1) / threads;
        }
    }
    struct Taken {
        size_t piece, end;
    };
    Taken take(unsigned thread) {
        for (size_t i = thread;; i = (i + 1) % ranges_.size()) {
            Range& range = ranges_[i];
            if (range.next.load(std::memory_order_relaxed) >= range.end) continue;
            const size_t piece = range.next.fetch_add(1, std::memory_order_relaxed);
            if (piece < range.end) return {piece, range.end};
        }
    }

private:
    struct alignas(64) Range {
        std::atomic<size_t> next = 0;
        size_t end = 0;
    };
    std::vector<Range> ranges_;
};

}  // namespace hearth::cpu
