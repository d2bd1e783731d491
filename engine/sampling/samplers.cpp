#include "engine/sampling/samplers.h"

#include <algorithm>
#include <cmath>

namespace hearth::sampling {
namespace {

size_t atLeast(int32_t min_keep) { return static_cast<size_t>(std::max(min_keep, 1)); }

/// Removes what `keep` refuses; the order of the others stays, so a sorted front stays sorted as far as it survives.
template <typename Keep>
void filter(Candidates& candidates, Keep keep) {
    auto& list = candidates.list();
    const auto front = list.begin() + static_cast<std::ptrdiff_t>(candidates.sortedPrefix());
    const auto sorted = static_cast<size_t>(std::count_if(list.begin(), front, keep));
    std::erase_if(list, [&](const Candidate& c) { return !keep(c); });
    candidates.setSortedPrefix(sorted);
}

/// Length of the shortest best-first prefix with `enough(sum of p)`, sorting no more than needed; p must be filled.
template <typename Enough>
size_t prefixLength(Candidates& candidates, Enough enough) {
    auto& list = candidates.list();
    double sum = 0;
    size_t done = 0;
    for (size_t sorted = std::min<size_t>(list.size(), 128); done < list.size();
         sorted = std::min(list.size(), sorted * 4)) {
        candidates.sortBest(sorted);
        while (done < sorted) {
            sum += list[done++].p;
            if (enough(sum)) return done;
        }
    }
    return done;
}

double entropy(const std::vector<Candidate>& list) {
    double h = 0;
    for (const Candidate& c : list)
        if (c.p > 0) h -= c.p * std::log(c.p);
    return h;
}

}  // namespace

void addLogitBias(Candidates& candidates, std::span<const std::pair<Token, float>> bias) {
    for (const auto& [token, value] : bias)
        candidates.changeLogit(token, [&](double logit) { return logit + static_cast<double>(value); });
}

void topNSigma(Candidates& candidates, double n) {
    if (n <= 0) return;
    const auto& list = candidates.list();
    double sum = 0, squares = 0;
    for (const Candidate& c : list) sum += c.logit;
    const double mean = sum / static_cast<double>(list.size());
    for (const Candidate& c : list) squares += (c.logit - mean) * (c.logit - mean);
    const double limit = candidates.maxLogit() - n * std::sqrt(squares / static_cast<double>(list.size()));
    filter(candidates, [&](const Candidate& c) { return c.logit >= limit; });
}

void topK(Candidates& candidates, int32_t k) {
    if (k > 0) candidates.keepBest(static_cast<size_t>(k));
}

void typical(Candidates& candidates, double p, int32_t min_keep) {
    if (p >= 1) return;
    candidates.softmax();
    auto& list = candidates.list();
    const double h = entropy(list);
    // (distance from typical, index in the list): the list is in order of ids or of logits, so ties are settled too.
    auto& keys = candidates.keys();
    keys.resize(list.size());
    for (size_t i = 0; i < list.size(); ++i) keys[i] = {std::abs(-std::log(list[i].p) - h), static_cast<Token>(i)};
    double sum = 0;
    size_t done = 0, sorted = 0;
    bool enough = false;
    while (done < keys.size() && !enough) {
        const auto first = keys.begin() + static_cast<std::ptrdiff_t>(sorted);
        sorted = std::min(keys.size(), std::max<size_t>(128, sorted * 4));
        const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(sorted);
        if (middle != keys.end()) std::nth_element(first, middle, keys.end());
        std::sort(first, middle);
        while (done < sorted && !enough) {
            sum += list[static_cast<size_t>(keys[done++].second)].p;
            enough = sum > p && done >= atLeast(min_keep);
        }
    }
    // What stays keeps its place in the list.
    std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(done),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    size_t sorted_left = 0;
    for (size_t i = 0; i < done; ++i) {
        const auto from = static_cast<size_t>(keys[i].second);
        sorted_left += from < candidates.sortedPrefix();
        list[i] = list[from];
    }
    list.resize(done);
    candidates.setSortedPrefix(sorted_left);
}

void topP(Candidates& candidates, double p, int32_t min_keep) {
    if (p >= 1) return;
    candidates.softmax();
    const size_t n = prefixLength(candidates, [&](double sum) { return sum >= p; });
    candidates.keepBest(std::max(n, atLeast(min_keep)));
}

void minP(Candidates& candidates, double p, int32_t min_keep) {
    if (p <= 0) return;
    const double limit = candidates.maxLogit() + std::log(p);
    const auto passes = [&](const Candidate& c) { return c.logit >= limit; };
    const auto& list = candidates.list();
    if (static_cast<size_t>(std::count_if(list.begin(), list.end(), passes)) < atLeast(min_keep))
        candidates.keepBest(atLeast(min_keep));
    else filter(candidates, passes);
}

void xtc(Candidates& candidates, double probability, double threshold, int32_t min_keep, Random& random) {
    if (probability <= 0 || threshold > 0.5) return;
    if (probability < 1 && random.uniform() >= probability) return;
    candidates.softmax();
    auto& list = candidates.list();
    size_t above = 0;
    const Candidate* least = nullptr;
    for (const Candidate& c : list) {
        if (c.p < threshold) continue;
        ++above;
        if (!least || better(*least, c)) least = &c;
    }
    if (above < 2 || list.size() - (above - 1) < atLeast(min_keep)) return;
    const Token stays = least->id;
    filter(candidates, [&](const Candidate& c) { return c.p < threshold || c.id == stays; });
}

void temperature(Candidates& candidates, double t, double range, double exponent) {
    if (range > 0) {
        const size_t n = candidates.list().size();
        if (n > 1) {
            candidates.softmax();
            const double low = std::max(0.0, t - range), high = t + range;
            t = low + (high - low) * std::pow(entropy(candidates.list()) / std::log(static_cast<double>(n)), exponent);
        }
    }
    if (t <= 0) {
        candidates.keepBestOne();
        return;
    }
    for (Candidate& c : candidates.list()) c.logit /= t;
}

void adaptiveP(Candidates& candidates, double target, double average) {
    if (target < 0) return;
    candidates.softmax();
    const double aim = std::clamp(2 * target - average, 0.0, 1.0);
    for (Candidate& c : candidates.list()) {
        const double d = std::abs(c.p - aim) / 0.3;
        c.logit = 5 - 10 * d * d / (1 + d);
    }
    candidates.setSortedPrefix(0);
}

void mirostat2(Candidates& candidates, double mu) {
    candidates.softmax();
    const double limit = std::exp2(-mu);
    const auto passes = [&](const Candidate& c) { return c.p >= limit; };
    const auto& list = candidates.list();
    if (std::none_of(list.begin(), list.end(), passes)) candidates.keepBestOne();
    else filter(candidates, passes);
}

void mirostat1(Candidates& candidates, double mu, int32_t m) {
    candidates.softmax();
    const auto& list = candidates.list();
    candidates.sortBest(static_cast<size_t>(m));
    double tb = 0, tt = 0;
    for (size_t i = 0; i + 1 < std::min(list.size(), static_cast<size_t>(m)); ++i) {
        const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
        const double b = list[i].logit - list[i + 1].logit;  // ln(p_i / p_i+1), also where p has run out of range
        tb += t * b;
        tt += t * t;
    }
    if (tt == 0) return;  // a single candidate
    const double s = tb / tt, n = static_cast<double>(candidates.vocabularySize());
    const double k = std::pow((s - 1) * std::exp2(mu) / (1 - std::pow(n, -(s - 1))), 1 / s);
    // An even distribution (s = 0 or 1) makes this no number: then nothing is cut.
    if (!(k < static_cast<double>(list.size()))) return;
    candidates.keepBest(static_cast<size_t>(std::max(k, 1.0)));
}

size_t draw(std::span<const Candidate> list, Random& random) {
    const double u = random.uniform();
    double sum = 0;
    for (size_t i = 0; i < list.size(); ++i) {
        sum += list[i].p;
        if (u < sum) return i;
    }
    // Rounding left the sum a little below u: the last token that has a chance at all.
    size_t last = list.size() - 1;
    while (last > 0 && list[last].p == 0) --last;
    return last;
}

}  // namespace hearth::sampling
