#include "engine/text/tokenizer_tables.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "engine/base/error.h"

namespace hearth::text {

uint32_t TextTable::hashOf(std::string_view text) {
    const uint64_t h = std::hash<std::string_view>{}(text);
    return static_cast<uint32_t>(h ^ h >> 32);
}

TextTable::TextTable(size_t expected) : entries_(std::bit_ceil(std::max<size_t>(16, expected * 2))) {}

size_t TextTable::slot(std::string_view text, uint32_t hash) const {
    const size_t mask = entries_.size() - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        const Entry& entry = entries_[i];
        if (entry.value == kNone || (entry.hash == hash && entry.text == text)) return i;
    }
}

uint32_t TextTable::add(std::string_view text, uint32_t value) {
    if ((used_ + 1) * 2 > entries_.size()) grow();
    const uint32_t hash = hashOf(text);
    Entry& entry = entries_[slot(text, hash)];
    if (entry.value == kNone) {
        entry = {text, hash, value};
        ++used_;
        longest_ = std::max(longest_, text.size());
    }
    return entry.value;
}

void TextTable::grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old) {
        if (entry.value != kNone) entries_[slot(entry.text, entry.hash)] = entry;
    }
}

Trie::Trie(std::vector<std::pair<std::string_view, Token>> entries, const std::stop_token& stop) {
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    struct Range {
        size_t from, to, depth;
        uint32_t node;
    };
    nodes_.emplace_back();
    std::vector<Range> level{{0, entries.size(), 0, 0}}, next;
    // Breadth first, so that the children of a node are neighbours.
    while (!level.empty()) {
        for (Range range : level) {
            throwIfStopped(stop);
            while (range.from < range.to && entries[range.from].first.size() == range.depth) {
                Token& token = nodes_[range.node].token;
                if (token == kNoToken) token = entries[range.from].second;
                ++range.from;
            }
            nodes_[range.node].first_child = static_cast<uint32_t>(nodes_.size());
            for (size_t from = range.from; from < range.to;) {
                const auto label = static_cast<unsigned char>(entries[from].first[range.depth]);
                size_t to = from + 1;
                while (to < range.to && static_cast<unsigned char>(entries[to].first[range.depth]) == label) ++to;
                next.push_back({from, to, range.depth + 1, static_cast<uint32_t>(nodes_.size())});
                nodes_.push_back({.label = label});
                ++nodes_[range.node].children;
                from = to;
            }
        }
        level.swap(next);
        next.clear();
    }
    for (uint32_t i = 0; i < nodes_[0].children; ++i) roots_[nodes_[1 + i].label] = 1 + i;
}

uint32_t Trie::child(uint32_t node, unsigned char label) const {
    const Node& parent = nodes_[node];
    const auto first = nodes_.begin() + parent.first_child, last = first + parent.children;
    const auto found = std::lower_bound(first, last, label, [](const Node& n, unsigned char l) { return n.label < l; });
    return found == last || found->label != label ? 0 : static_cast<uint32_t>(found - nodes_.begin());
}

}  // namespace hearth::text
