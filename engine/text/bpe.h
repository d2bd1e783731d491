#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace hearth::text {

/// A unit of merging: a token's id, or a number from the vocabulary's size up for a text that is no token.
using Symbol = uint32_t;
inline constexpr Symbol kNoSymbol = 0xffffffff;

/// Which neighbours merge into what, and which pair goes first (lowest rank).
class MergeTable {
public:
    struct Merge {
        uint32_t rank;
        Symbol merged;
    };

    explicit MergeTable(size_t expected = 0);
    /// Of two merges of the same pair the one of lower rank stays.
    void add(Symbol left, Symbol right, Merge merge);
    /// nullptr when the pair does not merge.
    const Merge* find(Symbol left, Symbol right) const;
    /// Tells the processor that add() of the pair comes soon.
    void prefetch(Symbol left, Symbol right) const;

private:
    struct Entry {
        uint64_t pair;
        Merge merge;
    };

    size_t slot(uint64_t pair) const;
    void grow();

    std::vector<Entry> entries_;
    size_t used_ = 0;
};

/// A stretch of text and the symbol for it (kNoSymbol where the vocabulary has none).
struct Part {
    Symbol symbol;
    uint32_t begin, length;
};

/// Merges neighbouring parts, lowest rank first, leftmost of equals, until no pair merges: O(n log n).
/// Keeps its memory, so that merging many short pieces allocates nothing.
class Merger {
public:
    /// `merged`, where set, is told each merge that happens.
    using Observer = std::function<void(Symbol left, Symbol right, Symbol merged)>;

    /// `parts`: in text order and adjoining; replaced by what is left.
    void run(const MergeTable& table, std::vector<Part>& parts, const Observer& observer = {});

private:
    struct Candidate {
        uint32_t rank, left, length;
        Symbol merged;
    };

    static bool later(const Candidate& a, const Candidate& b) {
        return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
    }
    void offer(const MergeTable& table, const std::vector<Part>& parts, uint32_t left, uint32_t right);

    std::vector<Candidate> heap_;
    std::vector<uint32_t> next_, previous_;
};

}  // namespace hearth::text
