#include "engine/sampling/grammar_state.h"

#include <algorithm>

#include "engine/base/error.h"

namespace hearth::sampling {
namespace {

constexpr size_t max_masks = 64, max_automaton_bytes = 48u << 20;

void setBit(std::span<uint64_t> bits, Token token) {
    const auto i = static_cast<size_t>(token);
    if (i / 64 < bits.size()) bits[i / 64] |= uint64_t{1} << (i % 64);
}

/// One byte on; false when it cannot come next. A character that can no longer fit is refused at its first byte.
template <typename Place>
bool advance(Automaton& automaton, const Grammar& grammar, Place& place, uint8_t byte) {
    switch (place.partial.push(byte)) {
        case Utf8Partial::Result::Invalid: return false;
        case Utf8Partial::Result::More:
            return automaton.canStep(place.state, place.partial.lowest(), place.partial.highest());
        case Utf8Partial::Result::Done: break;
    }
    place.state = automaton.step(place.state, grammar.letter(place.partial.code));
    place.partial = {};
    return place.state != Automaton::dead;
}

}  // namespace

GrammarState::GrammarState(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTrie> trie)
    : automaton_(std::move(grammar)), trie_(std::move(trie)) {
    reset();
    if (trie_) {
        mask_.resize((trie_->vocabularySize() + 63) / 64);
        path_.resize(trie_->depth() + 1);
        mask();
    }
}

void GrammarState::reset() {
    finished_ = false;
    places_.assign(1, {automaton_.start(), {}});
}

bool GrammarState::mayEnd() const {
    return !finished_ && std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
        return place.partial.missing == 0 && automaton_.mayEnd(place.state);
    });
}

std::vector<GrammarState::Place> GrammarState::afterText(std::string_view bytes) {
    std::vector<Place> result;
    for (Place place : places_) {
        const bool fits = std::all_of(bytes.begin(), bytes.end(), [&](char byte) {
            return advance(automaton_, automaton_.grammar(), place, static_cast<uint8_t>(byte));
        });
        if (fits) result.push_back(place);
    }
    return result;
}

std::vector<GrammarState::Place> GrammarState::afterToken(Token token) {
    if (finished_) return {};
    if (!trie_) throw Error("cannot check a token against the grammar", "the grammar was made without a vocabulary");
    if (token < 0 || static_cast<size_t>(token) >= trie_->vocabularySize()) return {};
    std::vector<Place> result;
    const bool is_text = trie_->isText(token);
    if (is_text && !trie_->bytes(token).empty()) result = afterText(trie_->bytes(token));
    for (const Place& place : places_) {
        if (place.partial.missing != 0) continue;
        const Automaton::State next = automaton_.stepToken(place.state, token, is_text);
        if (next == Automaton::dead) continue;
        const auto between =
            std::find_if(result.begin(), result.end(), [](const Place& p) { return p.partial.missing == 0; });
        if (between == result.end()) result.push_back({next, {}});
        else between->state = automaton_.join(between->state, next);
    }
    return result;
}

bool GrammarState::allowed(Token token) {
    if (finished_) return false;
    automaton_.startWork();
    if (trie_ && trie_->isEnd(token) && mayEnd()) return true;
    return !afterToken(token).empty();
}

bool GrammarState::allowedText(std::string_view bytes) {
    automaton_.startWork();
    return !finished_ && !afterText(bytes).empty();
}

void GrammarState::accept(Token token) {
    automaton_.startWork();
    auto next = afterToken(token);
    if (!next.empty()) {
        places_ = std::move(next);
        limitMemory();
        return;
    }
    if (!trie_->isEnd(token) || !mayEnd())
        throw Error("cannot go on with the text",
                    "the grammar does not allow token " + std::to_string(token) + " here");
    finished_ = true;
}

bool GrammarState::acceptText(std::string_view bytes) {
    if (finished_) return false;
    automaton_.startWork();
    auto next = afterText(bytes);
    if (next.empty()) return false;
    places_ = std::move(next);
    limitMemory();
    return true;
}

void GrammarState::addTextMask(const Place& start, std::span<uint64_t> bits) {
    const auto nodes = trie_->nodes();
    const auto tokens = trie_->tokens();
    const Grammar& grammar = automaton_.grammar();
    path_[0] = start;
    const auto end = static_cast<uint32_t>(nodes.size() - 1);
    for (uint32_t i = 0; i < end;) {
        const TokenTrie::Node& node = nodes[i];
        Place place = path_[node.depth - 1];
        if (!advance(automaton_, grammar, place, node.byte)) {
            i = node.behind;
            continue;
        }
        path_[node.depth] = place;
        ++i;
        for (uint32_t t = node.first_token; t < nodes[i].first_token; ++t) setBit(bits, tokens[t]);
    }
}

const std::vector<uint64_t>& GrammarState::textMask(Automaton::State state) {
    const auto known = text_masks_.find(state);
    if (known != text_masks_.end()) return known->second;
    if (text_masks_.size() >= max_masks) text_masks_.clear();
    std::vector<uint64_t>& bits = text_masks_[state];
    bits.assign(mask_.size(), 0);
    addTextMask({state, {}}, bits);
    return bits;
}

void GrammarState::addTokenMask(Automaton::State state, std::span<uint64_t> bits) const {
    automaton_.tokenSets(state, [&](const Grammar::TokenSet& set) {
        if (!set.negated) {
            setBit(bits, set.token);
            return;
        }
        const auto text = trie_->textMask();
        const auto i = static_cast<size_t>(set.token);
        const bool was_set = i / 64 < bits.size() && (bits[i / 64] >> (i % 64) & 1);
        for (size_t word = 0; word < bits.size(); ++word) bits[word] |= text[word];
        if (i / 64 < bits.size() && !was_set) bits[i / 64] &= ~(uint64_t{1} << (i % 64));
    });
}

std::span<const uint64_t> GrammarState::mask() {
    if (!trie_) throw Error("cannot list the tokens that a grammar allows", "it was made without a vocabulary");
    automaton_.startWork();
    std::fill(mask_.begin(), mask_.end(), 0);
    if (!finished_)
        for (const Place& place : places_) {
            if (place.partial.missing != 0) {
                addTextMask(place, mask_);
                continue;
            }
            const auto& text = textMask(place.state);
            for (size_t word = 0; word < mask_.size(); ++word) mask_[word] |= text[word];
            addTokenMask(place.state, mask_);
        }
    if (mayEnd())
        for (const Token token : trie_->ends()) setBit(mask_, token);
    if (!finished_ && std::all_of(mask_.begin(), mask_.end(), [](uint64_t word) { return word == 0; }))
        throw Error("cannot go on with the text", "no token of this model's vocabulary fits the grammar here",
                    "Use another grammar or another model");
    return mask_;
}

/// Masks and states of places that the text has left for good pile up in a long text; then only the present is kept.
void GrammarState::limitMemory() {
    if (automaton_.bytes() < max_automaton_bytes) return;
    std::vector<Automaton::State> wanted;
    for (const Place& place : places_) wanted.push_back(place.state);
    automaton_.keepOnly(wanted);
    for (size_t i = 0; i < places_.size(); ++i) places_[i].state = wanted[i];
    text_masks_.clear();
}

}  // namespace hearth::sampling
