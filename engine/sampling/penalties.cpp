#include <algorithm>
#include <cmath>

#include "engine/sampling/samplers.h"

namespace hearth::sampling {
namespace {

std::span<const Token> lastOf(std::span<const Token> history, int32_t last_n) {
    const size_t n = last_n < 0 ? history.size() : std::min(history.size(), static_cast<size_t>(last_n));
    return history.last(n);
}

}  // namespace

void Penalties::apply(Candidates& candidates, std::span<const Token> history) {
    if (isOff()) return;
    const auto recent = lastOf(history, last_n);
    recent_.assign(recent.begin(), recent.end());
    std::sort(recent_.begin(), recent_.end());
    for (size_t i = 0; i < recent_.size();) {
        size_t end = i;
        while (end < recent_.size() && recent_[end] == recent_[i]) ++end;
        const double fixed = static_cast<double>(end - i) * frequency + presence;
        candidates.changeLogit(recent_[i],
                               [&](double logit) { return (logit <= 0 ? logit * repeat : logit / repeat) - fixed; });
        i = end;
    }
}

/// Tokens at the end of `recent` that follow the last breaker; all of them when there is none.
size_t Dry::freeTail(std::span<const Token> recent) const {
    size_t tail = recent.size();
    for (const auto& breaker : breakers) {
        if (breaker.empty() || breaker.size() > recent.size()) continue;
        const auto found = std::find_end(recent.begin(), recent.end(), breaker.begin(), breaker.end());
        if (found == recent.end()) continue;
        const auto after = found + static_cast<std::ptrdiff_t>(breaker.size());
        tail = std::min(tail, static_cast<size_t>(recent.end() - after));
    }
    return tail;
}

void Dry::apply(Candidates& candidates, std::span<const Token> history) {
    if (isOff()) return;
    const auto recent = lastOf(history, last_n);
    const size_t n = recent.size(), limit = freeTail(recent);
    // z[i]: how many of the last tokens before position n − i equal the last tokens of all, read backwards.
    z_.assign(n, 0);
    const auto back = [&](size_t i) { return recent[n - 1 - i]; };
    for (size_t i = 1, left = 0, right = 0; i < n; ++i) {
        size_t length = i < right ? std::min(right - i, z_[i - left]) : 0;
        while (i + length < n && back(length) == back(i + length)) ++length;
        z_[i] = length;
        if (i + length > right) left = i, right = i + length;
    }
    repeats_.clear();
    for (size_t i = 1; i < n; ++i) {
        const size_t length = std::min(z_[i], limit);
        if (length == 0 || length < static_cast<size_t>(allowed_length)) continue;
        const Token next = back(i - 1);
        const bool is_breaker = std::any_of(breakers.begin(), breakers.end(), [&](const auto& breaker) {
            return breaker.size() == 1 && breaker[0] == next;
        });
        if (!is_breaker) repeats_.emplace_back(next, length);
    }
    std::sort(repeats_.begin(), repeats_.end());
    for (size_t i = 0; i < repeats_.size(); ++i) {
        const auto [token, length] = repeats_[i];
        if (i + 1 < repeats_.size() && repeats_[i + 1].first == token) continue;   // a longer one follows
        // Far beyond any logit the penalty says "never" just as well; keep it finite.
        const double penalty =
            std::min(multiplier * std::pow(base, static_cast<double>(length) - allowed_length), 1e30);
        candidates.changeLogit(token, [&](double logit) { return logit - penalty; });
    }
}

}  // namespace hearth::sampling
