#include "engine/text/splits.h"

#include <algorithm>
#include <array>

#include "engine/base/error.h"

namespace hearth::text {

namespace {

struct Keyed {
    uint64_t key;
    uint32_t text;
};

/// A text as it is compared: from its beginning, or from its end backwards.
template <bool kEnds>
struct Order {
    static unsigned char byte(std::string_view s, size_t i) {
        return static_cast<unsigned char>(kEnds ? s[s.size() - 1 - i] : s[i]);
    }
    /// The first eight bytes, the first one most significant.
    static uint64_t key(std::string_view s) {
        uint64_t key = 0;
        for (size_t i = 0; i < 8; ++i) key = key << 8 | (i < s.size() ? byte(s, i) : 0);
        return key;
    }
    /// Bytes that two texts share.
    static size_t shared(std::string_view a, std::string_view b) {
        const size_t most = std::min(a.size(), b.size());
        size_t n = 0;
        while (n < most && byte(a, n) == byte(b, n)) ++n;
        return n;
    }
    static bool less(std::string_view a, std::string_view b) {
        const size_t n = shared(a, b);
        if (n == a.size() || n == b.size()) return a.size() < b.size();
        return byte(a, n) < byte(b, n);
    }
};

/// Sorts by key, keeping the order of equals: a pass of counting for each byte that differs anywhere.
void radixSort(std::vector<Keyed>& items) {
    std::vector<Keyed> other(items.size());
    for (unsigned shift = 0; shift < 64; shift += 8) {
        std::array<size_t, 257> begin{};
        for (const Keyed& item : items) ++begin[(item.key >> shift & 255) + 1];
        if (std::ranges::find(begin, items.size()) != begin.end()) continue;
        for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
        for (const Keyed& item : items) other[begin[item.key >> shift & 255]++] = item;
        items.swap(other);
    }
}

template <bool kEnds>
std::vector<Keyed> sorted(std::span<const std::string_view> texts, const std::stop_token& stop) {
    std::vector<Keyed> items(texts.size());
    for (size_t i = 0; i < texts.size(); ++i) items[i] = {Order<kEnds>::key(texts[i]), static_cast<uint32_t>(i)};
    radixSort(items);
    throwIfStopped(stop);
    size_t compared = 0;
    const auto less = [&](const Keyed& a, const Keyed& b) {
        if (++compared % 1024 == 0) throwIfStopped(stop);
        return Order<kEnds>::less(texts[a.text], texts[b.text]);
    };
    for (auto run = items.begin(); run != items.end();) {
        const auto end = std::find_if(run, items.end(), [&](const Keyed& item) { return item.key != run->key; });
        if (end - run > 1) std::stable_sort(run, end, less);
        run = end;
    }
    return items;
}

}  // namespace

template <bool kEnds>
Splits::Affixes Splits::find(std::span<const std::string_view> texts, const std::stop_token& stop) {
    Affixes found;
    found.ranges.resize(texts.size());
    found.order.reserve(texts.size());
    // In sorted order the texts that one begins with stand before it, each the beginning of the next.
    std::vector<Affix> chain;
    std::string_view previous;
    const std::vector<Keyed> items = sorted<kEnds>(texts, stop);
    for (size_t k = 0; k < items.size(); ++k) {
        throwIfStopped(stop);
        if (k + kAhead < items.size()) __builtin_prefetch(texts[items[k + kAhead].text].data());
        const uint32_t number = items[k].text;
        const std::string_view text = texts[number];
        const size_t shared = Order<kEnds>::shared(previous, text);
        while (!chain.empty() && chain.back().length > shared) chain.pop_back();
        previous = text;
        if (!chain.empty() && chain.back().length == text.size()) continue;  // it stood earlier
        found.ranges[number] = {found.all.size(), chain.size()};
        found.order.push_back(number);
        found.all.insert(found.all.end(), chain.begin(), chain.end());
        chain.push_back({static_cast<uint32_t>(text.size()), number});
    }
    return found;
}

Splits::Splits(std::span<const std::string_view> texts, const std::stop_token& stop)
    : lengths_(texts.size()), beginnings_(find<false>(texts, stop)), ends_(find<true>(texts, stop)) {
    for (size_t i = 0; i < texts.size(); ++i) lengths_[i] = static_cast<uint32_t>(texts[i].size());
}

}  // namespace hearth::text
