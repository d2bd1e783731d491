#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/sampling/token.h"

namespace hearth::sampling {

struct Candidate {
    Token id;
    double logit;
    double p;   ///< valid after Candidates::softmax()
};

/// The tokens that may still be sampled. Starts as a dense row of logits (cheap to change here and there and to take
/// the best k of) and becomes a list when a sampler asks for one. Buffers are kept, so a step allocates nothing once
/// the first has run. Ties are always broken by the lower id, so the result does not depend on the standard library.
class Candidates {
public:
    /// Copies the logits. NaN counts as -infinity (not available), +infinity as the largest float.
    /// Throws Error when no token is available.
    void reset(std::span<const float> logits);

    bool isDense() const { return is_dense_; }
    /// The dense row; only while isDense().
    std::span<float> dense() { return dense_; }
    /// Size of the vocabulary of the last reset().
    size_t vocabularySize() const { return dense_.size(); }

    /// The list, made from the dense row without the tokens at -infinity when there is none yet.
    /// Throws Error when no token is left.
    std::vector<Candidate>& list();
    /// The k best tokens, sorted (all of them when there are fewer).
    void keepBest(size_t k);
    /// The best token alone.
    void keepBestOne();
    /// Makes the first n entries of the list the n best, sorted by falling logit, then rising id.
    void sortBest(size_t n);
    /// Entries from the front of the list that are known to be sorted best first.
    size_t sortedPrefix() const { return sorted_; }
    /// A sampler that reordered or removed entries says how many are still sorted from the front.
    void setSortedPrefix(size_t n) { sorted_ = n; }
    /// Fills p from the logits of the list.
    void softmax();
    double maxLogit();
    /// Scratch for samplers that order by something else.
    std::vector<std::pair<double, Token>>& keys() { return keys_; }
    /// Sets the logit of `id` to change(logit), when that token is still there.
    template <typename Change>
    void changeLogit(Token id, Change change) {
        if (is_dense_) {
            if (id >= 0 && static_cast<size_t>(id) < dense_.size()) {
                float& logit = dense_[static_cast<size_t>(id)];
                logit = static_cast<float>(change(static_cast<double>(logit)));
            }
            return;
        }
        for (Candidate& c : list_)
            if (c.id == id) c.logit = change(c.logit);
        sorted_ = 0;
    }

private:
    void listFromDense();
    void denseBest(size_t k);

    std::vector<float> dense_;
    std::vector<Candidate> list_;
    std::vector<std::pair<double, Token>> keys_;
    size_t sorted_ = 0;
    bool is_dense_ = true;
};

/// Best first: higher logit, then lower id.
inline bool better(const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

/// Index of the largest logit, the lowest on ties; NaN never wins. Throws Error when there is none.
Token argmax(std::span<const float> logits);

}  // namespace hearth::sampling
