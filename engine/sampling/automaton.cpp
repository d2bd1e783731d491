#include "engine/sampling/automaton.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace hearth::sampling {
namespace {

constexpr size_t max_places = 1u << 16, max_bytes = 96u << 20, max_visits = 1u << 24;

[[noreturn]] void throwTooLarge() {
    throw Error("cannot follow the grammar", "it is too ambiguous: too many ways to read the same text",
                "Write it so that fewer alternatives can begin alike");
}

uint64_t mix(uint64_t x) {   // the finaliser of splitmix64 (Steele, Lea, Flood 2014)
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

bool contains(const CharClass& ranges, uint32_t low, uint32_t high) {
    const auto range = std::lower_bound(ranges.begin(), ranges.end(), low,
                                        [](const auto& r, uint32_t value) { return r.second < value; });
    return range != ranges.end() && range->first <= high;
}

}  // namespace

Automaton::Automaton(std::shared_ptr<const Grammar> grammar) : grammar_(std::move(grammar)) {
    frames_.emplace_back();
    seen_.resize(64);
    stamps_.resize(64);
    work_.push_back({grammar_->rules()[grammar_->root()].entry, 0});
    start_ = close();
}

bool Automaton::canStep(State state, uint32_t low, uint32_t high) const {
    for (const Place& place : places(state)) {
        const Grammar::Node& node = grammar_->nodes()[place.node];
        if (node.kind == Grammar::Kind::Char && contains(grammar_->classes()[node.a], low, high)) return true;
    }
    return false;
}

Automaton::State Automaton::makeStep(State state, uint32_t letter) {
    if (states_[state].row == no_row) {
        if (bytes() > max_bytes) throwTooLarge();
        states_[state].row = static_cast<uint32_t>(steps_.size());
        steps_.resize(steps_.size() + grammar_->alphabet().size(), unknown);
    }
    const uint32_t code = grammar_->alphabet()[letter];
    for (const Place& place : places(state)) {
        const Grammar::Node& node = grammar_->nodes()[place.node];
        if (node.kind == Grammar::Kind::Char && contains(grammar_->classes()[node.a], code, code))
            work_.push_back({node.b, place.frame});
    }
    const State next = work_.empty() ? dead : close();
    steps_[states_[state].row + letter] = next;
    return next;
}

Automaton::State Automaton::stepToken(State state, Token token, bool is_text) {
    for (const Place& place : places(state)) {
        const Grammar::Node& node = grammar_->nodes()[place.node];
        if (node.kind != Grammar::Kind::Tokens) continue;
        const Grammar::TokenSet& set = grammar_->tokenSets()[node.a];
        if (set.negated ? is_text && token != set.token : token == set.token) work_.push_back({node.b, place.frame});
    }
    return work_.empty() ? dead : close();
}

Automaton::State Automaton::join(State a, State b) {
    if (a == dead || a == b) return b;
    if (b == dead) return a;
    std::vector<Place> both;
    std::set_union(places(a).begin(), places(a).end(), places(b).begin(), places(b).end(), std::back_inserter(both));
    return stateOf(both, mayEnd(a) || mayEnd(b));
}

/// Follows all steps that consume nothing. First the places that came over from the last position, then the rules that
/// they call, callers before called: when a rule's turn comes, all its callers at this position are known, so its frame
/// is complete. (Grammar::Rule::order; without left recursion there is such an order. A rule that may be empty also
/// returns at once, and so needs no second look.)
Automaton::State Automaton::close() {
    ++stamp_;
    n_seen_ = 0;
    may_end_ = false;
    found_.clear();
    pending_.clear();
    std::vector<Place> first;
    first.swap(work_);
    for (const Place& place : first) visit(place);
    for (;;) {
        while (!work_.empty()) {
            const Place place = work_.back();
            work_.pop_back();
            expand(place);
        }
        if (pending_.empty()) break;
        const auto by_order = [](const Pending& a, const Pending& b) { return a.order > b.order; };
        std::pop_heap(pending_.begin(), pending_.end(), by_order);
        Pending next = std::move(pending_.back());
        pending_.pop_back();
        // Calls of one rule lie next to each other in the heap's order.
        while (!pending_.empty() && pending_.front().order == next.order) {
            next.returns.push_back(pending_.front().returns.front());
            std::pop_heap(pending_.begin(), pending_.end(), by_order);
            pending_.pop_back();
        }
        visit({grammar_->rules()[next.rule].entry, frameOf(next.returns)});
    }
    if (found_.empty() && !may_end_) return dead;
    std::sort(found_.begin(), found_.end());
    return stateOf(found_, may_end_);
}

/// Notes a place for expansion unless it has been seen or leads nowhere.
void Automaton::visit(Place place) {
    if (!grammar_->productive(place.node)) return;
    if (++n_visits_ > max_visits) throwTooLarge();
    if (n_seen_ * 2 >= seen_.size()) {
        if (n_seen_ >= max_places) throwTooLarge();
        std::vector<uint64_t> old_seen(seen_.size() * 2);
        std::vector<uint32_t> old_stamps(stamps_.size() * 2);
        old_seen.swap(seen_);
        old_stamps.swap(stamps_);
        for (size_t i = 0; i < old_seen.size(); ++i) {
            if (old_stamps[i] != stamp_) continue;
            size_t slot = mix(old_seen[i]) & (seen_.size() - 1);
            while (stamps_[slot] == stamp_) slot = (slot + 1) & (seen_.size() - 1);
            seen_[slot] = old_seen[i];
            stamps_[slot] = stamp_;
        }
    }
    const uint64_t key = static_cast<uint64_t>(place.node) << 32 | place.frame;
    size_t slot = mix(key) & (seen_.size() - 1);
    for (; stamps_[slot] == stamp_; slot = (slot + 1) & (seen_.size() - 1))
        if (seen_[slot] == key) return;
    seen_[slot] = key;
    stamps_[slot] = stamp_;
    ++n_seen_;
    work_.push_back(place);
}

void Automaton::expand(Place place) {
    const Grammar::Node& node = grammar_->nodes()[place.node];
    switch (node.kind) {
        case Grammar::Kind::Char:
        case Grammar::Kind::Tokens: found_.push_back(place); break;
        case Grammar::Kind::Split:
            visit({node.b, place.frame});
            visit({node.a, place.frame});
            break;
        case Grammar::Kind::Call: {
            const Grammar::Rule& rule = grammar_->rules()[node.a];
            if (grammar_->nodes()[node.b].kind == Grammar::Kind::End) {  // a call at the end needs no frame of its own
                visit({rule.entry, place.frame});
                break;
            }
            if (rule.nullable) visit({node.b, place.frame});
            pending_.push_back({rule.order, node.a, {{node.b, place.frame}}});
            std::push_heap(pending_.begin(), pending_.end(),
                           [](const Pending& a, const Pending& b) { return a.order > b.order; });
            break;
        }
        case Grammar::Kind::End:
            if (place.frame == 0) {
                may_end_ = true;
                break;
            }
            for (uint32_t i = 0; i < frames_[place.frame].count; ++i) visit(returns_[frames_[place.frame].first + i]);
            break;
    }
}

uint32_t Automaton::frameOf(std::vector<Place>& returns) {
    std::sort(returns.begin(), returns.end());
    returns.erase(std::unique(returns.begin(), returns.end()), returns.end());
    uint64_t hash = returns.size();
    for (const Place& place : returns) hash = mix(hash ^ (static_cast<uint64_t>(place.node) << 32 | place.frame));
    const auto [begin, end] = frame_index_.equal_range(hash);
    for (auto entry = begin; entry != end; ++entry) {
        const Range& frame = frames_[entry->second];
        if (frame.count == returns.size() &&
            std::equal(returns.begin(), returns.end(), returns_.begin() + static_cast<std::ptrdiff_t>(frame.first)))
            return entry->second;
    }
    const auto id = static_cast<uint32_t>(frames_.size());
    frames_.push_back({returns_.size(), static_cast<uint32_t>(returns.size())});
    returns_.insert(returns_.end(), returns.begin(), returns.end());
    frame_index_.emplace(hash, id);
    return id;
}

Automaton::State Automaton::stateOf(std::span<const Place> sorted, bool may_end) {
    uint64_t hash = may_end;
    for (const Place& place : sorted) hash = mix(hash ^ (static_cast<uint64_t>(place.node) << 32 | place.frame));
    const auto [begin, end] = state_index_.equal_range(hash);
    for (auto entry = begin; entry != end; ++entry) {
        const auto known = places(entry->second);
        if (mayEnd(entry->second) == may_end && std::equal(known.begin(), known.end(), sorted.begin(), sorted.end()))
            return entry->second;
    }
    if (bytes() > max_bytes) throwTooLarge();
    const auto id = static_cast<State>(states_.size());
    states_.push_back({{places_.size(), static_cast<uint32_t>(sorted.size())}, no_row, may_end});
    places_.insert(places_.end(), sorted.begin(), sorted.end());
    state_index_.emplace(hash, id);
    return id;
}

size_t Automaton::bytes() const {
    constexpr size_t index_entry = 48;
    return states_.size() * (sizeof(StateData) + index_entry) + frames_.size() * (sizeof(Range) + index_entry) +
           (places_.size() + returns_.size()) * sizeof(Place) + steps_.size() * sizeof(State);
}

/// A frame is always made after those that it returns to, so one pass in each direction suffices.
void Automaton::keepOnly(std::span<State> wanted) {
    std::vector<uint32_t> moved(frames_.size(), 0);
    for (const State state : wanted)
        for (const Place& place : places(state)) moved[place.frame] = 1;
    for (size_t frame = frames_.size(); frame-- > 1;)
        if (moved[frame])
            for (uint32_t i = 0; i < frames_[frame].count; ++i) moved[returns_[frames_[frame].first + i].frame] = 1;

    Automaton fresh(grammar_);
    std::vector<Place> copy;
    const auto renumber = [&](std::span<const Place> old) {
        copy.assign(old.begin(), old.end());
        for (Place& place : copy) place.frame = moved[place.frame];
    };
    moved[0] = 0;
    for (size_t frame = 1; frame < frames_.size(); ++frame) {
        if (!moved[frame]) continue;
        renumber({returns_.data() + frames_[frame].first, frames_[frame].count});
        moved[frame] = fresh.frameOf(copy);
    }
    for (State& state : wanted) {
        renumber(places(state));
        std::sort(copy.begin(), copy.end());
        state = fresh.stateOf(copy, mayEnd(state));
    }
    *this = std::move(fresh);
}

}  // namespace hearth::sampling
