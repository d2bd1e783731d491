#include "engine/text/bpe.h"

#include <algorithm>
#include <bit>

namespace hearth::text {

namespace {

constexpr uint64_t kFree = ~uint64_t{0};
constexpr uint32_t kEnd = 0xffffffff;

uint64_t pairOf(Symbol left, Symbol right) { return uint64_t{left} << 32 | right; }

uint64_t mixed(uint64_t pair) {
    const uint64_t h = pair * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

}  // namespace

MergeTable::MergeTable(size_t expected)
    : entries_(std::bit_ceil(std::max<size_t>(16, expected * 2)), Entry{kFree, {0, kNoSymbol}}) {}

void MergeTable::prefetch(Symbol left, Symbol right) const {
    __builtin_prefetch(&entries_[mixed(pairOf(left, right)) & (entries_.size() - 1)]);
}

size_t MergeTable::slot(uint64_t pair) const {
    const size_t mask = entries_.size() - 1;
    for (size_t i = mixed(pair) & mask;; i = (i + 1) & mask) {
        if (entries_[i].pair == pair || entries_[i].pair == kFree) return i;
    }
}

void MergeTable::add(Symbol left, Symbol right, Merge merge) {
    if ((used_ + 1) * 2 > entries_.size()) grow();
    Entry& entry = entries_[slot(pairOf(left, right))];
    if (entry.pair == kFree) {
        entry = {pairOf(left, right), merge};
        ++used_;
    } else if (merge.rank < entry.merge.rank) {
        entry.merge = merge;
    }
}

void MergeTable::grow() {
    std::vector<Entry> old(entries_.size() * 2, Entry{kFree, {0, kNoSymbol}});
    old.swap(entries_);
    for (const Entry& entry : old) {
        if (entry.pair != kFree) entries_[slot(entry.pair)] = entry;
    }
}

const MergeTable::Merge* MergeTable::find(Symbol left, Symbol right) const {
    if (left == kNoSymbol || right == kNoSymbol) return nullptr;
    const Entry& entry = entries_[slot(pairOf(left, right))];
    return entry.pair == kFree ? nullptr : &entry.merge;
}

void Merger::offer(const MergeTable& table, const std::vector<Part>& parts, uint32_t left, uint32_t right) {
    if (const MergeTable::Merge* merge = table.find(parts[left].symbol, parts[right].symbol)) {
        heap_.push_back({merge->rank, left, parts[left].length + parts[right].length, merge->merged});
    }
}

void Merger::run(const MergeTable& table, std::vector<Part>& parts, const Observer& observer) {
    const auto n = static_cast<uint32_t>(parts.size());
    if (n < 2) return;
    heap_.clear();
    next_.resize(n);
    previous_.resize(n);
    for (uint32_t i = 0; i < n; ++i) {
        next_[i] = i + 1 < n ? i + 1 : kEnd;
        previous_[i] = i > 0 ? i - 1 : kEnd;
        if (i + 1 < n) offer(table, parts, i, i + 1);
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
    const auto push = [&](uint32_t left, uint32_t right) {
        const size_t before = heap_.size();
        offer(table, parts, left, right);
        if (heap_.size() != before) std::push_heap(heap_.begin(), heap_.end(), later);
    };
    while (!heap_.empty()) {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Candidate best = heap_.back();
        heap_.pop_back();
        // Parts only grow, so a candidate still holds if the two together are as long as they were. A part that was
        // swallowed has length 0.
        Part& left = parts[best.left];
        const uint32_t right = next_[best.left];
        if (left.length == 0 || right == kEnd || left.length + parts[right].length != best.length) continue;
        if (observer) observer(left.symbol, parts[right].symbol, best.merged);
        left.symbol = best.merged;
        left.length = best.length;
        parts[right].length = 0;
        next_[best.left] = next_[right];
        if (next_[right] != kEnd) previous_[next_[right]] = best.left;
        if (previous_[best.left] != kEnd) push(previous_[best.left], best.left);
        if (next_[best.left] != kEnd) push(best.left, next_[best.left]);
    }
    size_t kept = 0;
    for (uint32_t i = 0; i != kEnd; i = next_[i]) parts[kept++] = parts[i];
    parts.resize(kept);
}

}  // namespace hearth::text
