#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

namespace hearth::text {

/// Every way in which a text of a list is two texts of the list. Found by sorting the texts by their beginnings and by their
/// ends, which goes through memory in order: looked up in a table, hundreds of thousands of texts would wait for it each time.
class Splits {
public:
    /// `texts`: not empty each, fewer than 2^32; of equal ones only the first counts. O(n log n) comparisons at worst, and
    /// memory for each pair of texts of which one begins or ends with the other. Throws Stopped once `stop` asks.
    Splits(std::span<const std::string_view> texts, const std::stop_token& stop);

    /// visit(whole, at, left, right) for each way in which text number `whole` is text number `left`, of `at` bytes, and text
    /// number `right`; the ways of one text together, shortest left first.
    template <typename Visit>
    void forEach(Visit&& visit) const {
        for (size_t k = 0; k < beginnings_.order.size(); ++k) {
            if (k + kAhead < beginnings_.order.size()) ends_.prefetch(beginnings_.order[k + kAhead]);
            const uint32_t whole = beginnings_.order[k];
            const std::span<const Affix> left = beginnings_.of(whole), right = ends_.of(whole);
            size_t r = right.size();
            for (const Affix& l : left) {
                const size_t wanted = lengths_[whole] - l.length;
                while (r > 0 && right[r - 1].length > wanted) --r;
                if (r > 0 && right[r - 1].length == wanted) visit(whole, size_t{l.length}, l.text, right[r - 1].text);
            }
        }
    }

private:
    struct Affix {
        uint32_t length, text;
    };
    /// For each text those that it begins (or ends) with, shortest first, itself left out.
    struct Affixes {
        struct Range {
            size_t first = 0, count = 0;
        };
        std::vector<Affix> all;  ///< in the order of the sorted texts
        std::vector<Range> ranges;  ///< by number of the text
        std::vector<uint32_t> order;  ///< texts as sorted, but for those that stood earlier in the list
        std::span<const Affix> of(size_t i) const { return {all.data() + ranges[i].first, ranges[i].count}; }
        void prefetch(size_t i) const { __builtin_prefetch(all.data() + ranges[i].first); }
    };
    /// Texts to look ahead, so that memory has come when it is wanted.
    static constexpr size_t kAhead = 16;
    template <bool kEnds>
    static Affixes find(std::span<const std::string_view> texts, const std::stop_token& stop);

    std::vector<uint32_t> lengths_;
    Affixes beginnings_, ends_;
};

}  // namespace hearth::text
