#include "engine/sampling/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace hearth::sampling {

StopMatcher::StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {
    std::erase(stops_, std::string());
    for (const std::string& stop : stops_) longest_ = std::max(longest_, stop.size());
}

std::string StopMatcher::push(std::string_view text) {
    if (stopped()) return {};
    held_ += text;
    size_t first = std::string::npos;
    for (size_t i = 0; i < stops_.size(); ++i) {
        const size_t at = held_.find(stops_[i]);
        if (at < first) {   // of two that begin at one place the first in the list
            first = at;
            hit_ = i;
        }
    }
    // The first stop string that is whole ends the text, also inside another one that might have become whole later.
    size_t show = first;
    if (!stopped()) {
        const size_t earliest = held_.size() - std::min(held_.size(), longest_ ? longest_ - 1 : 0);
        show = earliest;
        for (; show < held_.size(); ++show) {
            const std::string_view rest = std::string_view(held_).substr(show);
            if (std::any_of(stops_.begin(), stops_.end(),
                            [&](const std::string& stop) { return stop.starts_with(rest); }))
                break;
        }
    }
    std::string result = held_.substr(0, show);
    if (stopped()) held_.clear();
    else held_.erase(0, show);
    return result;
}

std::string StopMatcher::finish() { return std::exchange(held_, std::string()); }

void StopMatcher::reset() {
    held_.clear();
    hit_ = none;
}

}  // namespace hearth::sampling
