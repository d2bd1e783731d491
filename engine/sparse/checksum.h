#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hearth::sparse {

/// A sum that notices damage on a disk, at the speed of memory; no defence against anyone. Bytes come in pieces of any size.
/// Words go to four lanes in turn; each step can be undone, so that data that differ in one word have different sums.
class Checksum {
public:
    void add(std::span<const std::byte> bytes) {
        size_ += bytes.size();
        while (!bytes.empty()) {
            if (held_ == 0 && bytes.size() >= sizeof block_) {
                const size_t whole = bytes.size() / sizeof block_ * sizeof block_;
                for (size_t at = 0; at < whole; at += sizeof block_) addBlock(bytes.data() + at);
                bytes = bytes.subspan(whole);
                continue;
            }
            const size_t n = bytes.size() < sizeof block_ - held_ ? bytes.size() : sizeof block_ - held_;
            std::memcpy(block_ + held_, bytes.data(), n);
            bytes = bytes.subspan(n);
            held_ += n;
            if (held_ < sizeof block_) continue;
            addBlock(block_);
            held_ = 0;
        }
    }

    /// Of all bytes so far.
    uint64_t value() const {
        Checksum last = *this;
        if (last.held_ > 0) {
            std::memset(last.block_ + last.held_, 0, sizeof block_ - last.held_);
            last.addBlock(last.block_);
        }
        uint64_t sum = size_;
        for (const uint64_t lane : last.lanes_) sum = step(sum, lane);
        return sum;
    }

private:
    /// Odd multiplier: 2^64 divided by the golden ratio.
    static uint64_t step(uint64_t sum, uint64_t word) {
        const uint64_t product = (sum ^ word) * 0x9e3779b97f4a7c15u;
        return product ^ product >> 32;
    }
    void addBlock(const std::byte* from) {
        uint64_t words[4];
        std::memcpy(words, from, sizeof words);
        for (size_t i = 0; i < 4; ++i) lanes_[i] = step(lanes_[i], words[i]);
    }

    uint64_t lanes_[4] = {1, 2, 3, 4}, size_ = 0;
    std::byte block_[32] = {};
    size_t held_ = 0;
};

}  // namespace hearth::sparse
