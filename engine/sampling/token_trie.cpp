#include "engine/sampling/token_trie.h"

#include <algorithm>
#include <string>

namespace hearth::sampling {

TokenTrie::TokenTrie(const VocabularyView& vocabulary) {
    kinds_.resize(vocabulary.size, Kind::Text);
    text_mask_.resize((vocabulary.size + 63) / 64);
    offsets_.push_back(0);
    std::vector<Token> sorted;
    for (size_t i = 0; i < vocabulary.size; ++i) {
        const auto token = static_cast<Token>(i);
        const std::string bytes = vocabulary.bytes(token);
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        offsets_.push_back(bytes_.size());
        if (vocabulary.is_end(token)) {
            kinds_[i] = Kind::End;
            ends_.push_back(token);
        } else if (vocabulary.is_control(token)) {
            kinds_[i] = Kind::Control;
        } else {
            text_mask_[i / 64] |= uint64_t{1} << (i % 64);
            if (!bytes.empty()) sorted.push_back(token);
        }
    }
    std::stable_sort(sorted.begin(), sorted.end(), [&](Token a, Token b) { return bytes(a) < bytes(b); });

    std::vector<uint32_t> path;   // nodes from the root to the last token
    std::string_view last;
    for (const Token token : sorted) {
        const std::string_view text = bytes(token);
        const auto common =
            static_cast<size_t>(std::mismatch(last.begin(), last.end(), text.begin(), text.end()).first - last.begin());
        for (; path.size() > common; path.pop_back()) nodes_[path.back()].behind = static_cast<uint32_t>(nodes_.size());
        for (size_t i = common; i < text.size(); ++i) {
            path.push_back(static_cast<uint32_t>(nodes_.size()));
            nodes_.push_back({0, static_cast<uint32_t>(tokens_.size()), static_cast<uint32_t>(i + 1),
                              static_cast<uint8_t>(text[i])});
        }
        tokens_.push_back(token);
        depth_ = std::max(depth_, static_cast<uint32_t>(text.size()));
        last = text;
    }
    const auto size = static_cast<uint32_t>(nodes_.size());
    for (const uint32_t node : path) nodes_[node].behind = size;
    nodes_.push_back({size + 1, static_cast<uint32_t>(tokens_.size()), 0, 0});
}

std::string_view TokenTrie::bytes(Token token) const {
    const auto i = static_cast<size_t>(token);
    return {bytes_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
}

}  // namespace hearth::sampling
