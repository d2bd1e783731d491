#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::sampling {

/// Finds stop strings in text that comes in pieces, however they are cut. What might be the beginning of a stop
/// string is held back until it is clear, so no part of a stop string is ever shown.
class StopMatcher {
public:
    explicit StopMatcher(std::vector<std::string> stops);

    /// Takes more text and returns what may be shown now. Once stopped() no text comes out any more.
    std::string push(std::string_view text);
    /// The generation ended by itself: returns what was held back.
    std::string finish();
    void reset();

    bool stopped() const { return hit_ != none; }
    /// The stop string that was found; empty before that.
    std::string_view hit() const { return stopped() ? std::string_view(stops_[hit_]) : std::string_view(); }

private:
    static constexpr size_t none = static_cast<size_t>(-1);
    std::vector<std::string> stops_;
    std::string held_;
    size_t longest_ = 0, hit_ = none;
};

}  // namespace hearth::sampling
