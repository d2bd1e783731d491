#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/vocabulary.h"

namespace hearth::text {

/// Texts to numbers, by open addressing: one allocation, no strings of its own. The views must outlive the table.
class TextTable {
public:
    static constexpr uint32_t kNone = 0xffffffff;

    explicit TextTable(size_t expected = 0);
    static uint32_t hashOf(std::string_view text);

    uint32_t find(std::string_view text) const { return text.size() > longest_ ? kNone : find(text, hashOf(text)); }
    uint32_t find(std::string_view text, uint32_t hash) const { return entries_[slot(text, hash)].value; }
    /// Adds `text` unless it is there; returns what is stored for it then.
    uint32_t add(std::string_view text, uint32_t value);
    /// Tell the processor which memory find() will want soon: first the entry, some time later the text it points to.
    void prefetch(uint32_t hash) const { __builtin_prefetch(&entries_[hash & (entries_.size() - 1)]); }
    void prefetchText(uint32_t hash) const { __builtin_prefetch(entries_[hash & (entries_.size() - 1)].text.data()); }
    /// Longest text added, in bytes.
    size_t longest() const { return longest_; }

private:
    struct Entry {
        std::string_view text;
        uint32_t hash = 0, value = kNone;
    };

    size_t slot(std::string_view text, uint32_t hash) const;
    void grow();

    std::vector<Entry> entries_;
    size_t used_ = 0, longest_ = 0;
};

/// Texts to tokens, walked byte by byte.
class Trie {
public:
    /// `entries`: texts (not empty) with their tokens; of equal texts the first counts. Throws Stopped once `stop` asks.
    explicit Trie(std::vector<std::pair<std::string_view, Token>> entries = {}, const std::stop_token& stop = {});

    bool empty() const { return nodes_.size() <= 1; }
    /// Calls visit(length, token) for every text that `s` starts with, shortest first.
    template <typename Visit>
    void forEachPrefix(std::string_view s, Visit&& visit) const {
        if (s.empty()) return;
        uint32_t node = roots_[static_cast<unsigned char>(s[0])];
        for (size_t n = 1; node != 0; ++n) {
            if (nodes_[node].token != kNoToken) visit(n, nodes_[node].token);
            if (n == s.size()) break;
            node = child(node, static_cast<unsigned char>(s[n]));
        }
    }

private:
    struct Node {
        uint32_t first_child = 0;
        uint16_t children = 0;
        unsigned char label = 0;
        Token token = kNoToken;
    };

    uint32_t child(uint32_t node, unsigned char label) const;

    std::vector<Node> nodes_;  ///< children of a node are neighbours, ascending by label; 0 is the root
    std::array<uint32_t, 256> roots_{};  ///< children of the root, 0 where there is none
};

}  // namespace hearth::text
