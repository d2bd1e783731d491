#include "engine/sampling/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"

namespace hearth::sampling {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr size_t block = 64;

[[noreturn]] void throwNothing() {
    throw Error("cannot choose the next token", "no token is left: every logit is banned or not a number",
                "Look at the logit biases and the grammar; if there are none, the model file may be damaged");
}

/// Written so that it becomes a vector maximum; a NaN in `values` is skipped.
float blockMax(const float* values, size_t n) {
    float lanes[16];
    std::fill(std::begin(lanes), std::end(lanes), minus_infinity);
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (size_t j = 0; j < 16; ++j) lanes[j] = values[i + j] > lanes[j] ? values[i + j] : lanes[j];
    for (; i < n; ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
    float result = minus_infinity;
    for (const float lane : lanes) result = lane > result ? lane : result;
    return result;
}

}  // namespace

Token argmax(std::span<const float> logits) {
    float best = minus_infinity;
    size_t best_block = logits.size();
    for (size_t i = 0; i < logits.size(); i += block) {
        const float here = blockMax(logits.data() + i, std::min(block, logits.size() - i));
        if (here > best) {
            best = here;
            best_block = i;
        }
    }
    if (best_block == logits.size()) throwNothing();
    return static_cast<Token>(std::find(logits.begin() + static_cast<std::ptrdiff_t>(best_block), logits.end(), best) -
                              logits.begin());
}

void Candidates::reset(std::span<const float> logits) {
    dense_.resize(logits.size());
    constexpr float largest = std::numeric_limits<float>::max();
    for (size_t i = 0; i < logits.size(); ++i) {
        const float value = logits[i] < largest ? logits[i] : largest;   // a NaN becomes the largest here …
        dense_[i] = logits[i] == logits[i] ? value : minus_infinity;     // … and unavailable here
    }
    list_.clear();
    sorted_ = 0;
    is_dense_ = true;
}

void Candidates::listFromDense() {
    list_.resize(dense_.size());
    size_t n = 0;
    for (size_t i = 0; i < dense_.size(); ++i) {
        list_[n] = {static_cast<Token>(i), dense_[i], 0};
        n += dense_[i] > minus_infinity;
    }
    list_.resize(n);
    sorted_ = 0;
    is_dense_ = false;
    if (list_.empty()) throwNothing();
}

std::vector<Candidate>& Candidates::list() {
    if (is_dense_) listFromDense();
    return list_;
}

/// A heap of the k best so far, worst on top; blocks that hold nothing better than the worst are passed by.
void Candidates::denseBest(size_t k) {
    list_.clear();
    for (size_t i = 0; i < dense_.size(); i += block) {
        const size_t n = std::min(block, dense_.size() - i);
        if (list_.size() == k && !(blockMax(dense_.data() + i, n) > list_.front().logit)) continue;
        for (size_t j = i; j < i + n; ++j) {
            if (!(dense_[j] > minus_infinity)) continue;
            if (list_.size() < k) {
                list_.push_back({static_cast<Token>(j), dense_[j], 0});
                std::push_heap(list_.begin(), list_.end(), better);
            } else if (dense_[j] > list_.front().logit) {
                std::pop_heap(list_.begin(), list_.end(), better);
                list_.back() = {static_cast<Token>(j), dense_[j], 0};
                std::push_heap(list_.begin(), list_.end(), better);
            }
        }
    }
    is_dense_ = false;
    if (list_.empty()) throwNothing();
    std::sort(list_.begin(), list_.end(), better);
    sorted_ = list_.size();
}

void Candidates::keepBest(size_t k) {
    // A heap beats a full list only while most blocks can be passed by.
    if (is_dense_ && k <= 4096) {
        denseBest(k);
        return;
    }
    const size_t n = std::min(k, list().size());
    sortBest(n);
    list_.resize(n);
    sorted_ = n;
}

void Candidates::keepBestOne() {
    if (is_dense_) {
        const Token best = argmax(dense_);
        list_.assign(1, {best, dense_[static_cast<size_t>(best)], 0});
        is_dense_ = false;
    } else {
        const Candidate best = *std::min_element(list_.begin(), list_.end(), better);
        list_.assign(1, best);
    }
    sorted_ = 1;
}

void Candidates::sortBest(size_t n) {
    auto& entries = list();
    n = std::min(n, entries.size());
    if (n <= sorted_) return;
    const auto first = entries.begin() + static_cast<std::ptrdiff_t>(sorted_);
    const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(n);
    if (middle != entries.end()) std::nth_element(first, middle, entries.end(), better);
    std::sort(first, middle, better);
    sorted_ = n;
}

double Candidates::maxLogit() {
    auto& entries = list();
    if (sorted_ > 0) return entries.front().logit;
    double best = entries.front().logit;
    for (const Candidate& c : entries) best = std::max(best, c.logit);
    return best;
}

void Candidates::softmax() {
    const double best = maxLogit();
    double sum = 0;
    for (Candidate& c : list_) sum += c.p = std::exp(c.logit - best);
    for (Candidate& c : list_) c.p /= sum;
}

}  // namespace hearth::sampling
