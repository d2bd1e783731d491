#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/sampling/grammar.h"

namespace hearth::sampling {

/// Runs a grammar over characters. A state is everything that may go on after some text: a set of places in the graph,
/// each with a frame that says where its rule returns to. Frames are shared between all callers of a rule at one
/// position (the graph-structured stack of generalised parsing: Scott and Johnstone, "GLL parsing", 2010), so that
/// ambiguity costs polynomial room, and equal frames and states are one object, so that a text that comes back to a
/// state finds its steps already there. States stay valid until keepOnly().
class Automaton {
public:
    using State = uint32_t;
    static constexpr State dead = 0xFFFFFFFFu;

    explicit Automaton(std::shared_ptr<const Grammar> grammar);

    const Grammar& grammar() const { return *grammar_; }
    State start() const { return start_; }
    /// The state after a character of that letter (Grammar::letter); dead when there is none.
    /// Throws Error when the grammar is too ambiguous to be followed.
    State step(State state, uint32_t letter) {
        const uint32_t row = states_[state].row;
        if (row != no_row) {
            const State next = steps_[row + letter];
            if (next != unknown) return next;
        }
        return makeStep(state, letter);
    }
    bool mayEnd(State state) const { return states_[state].may_end; }
    /// Whether a character in [low, high] can come next.
    bool canStep(State state, uint32_t low, uint32_t high) const;
    /// The state after a whole token that a token literal takes; dead when none does. `is_text`: negated literals
    /// take it.
    State stepToken(State state, Token token, bool is_text);
    /// Calls visit(TokenSet) for every token literal that may come next.
    template <typename Visit>
    void tokenSets(State state, Visit visit) const {
        for (const Place& place : places(state))
            if (grammar_->nodes()[place.node].kind == Grammar::Kind::Tokens)
                visit(grammar_->tokenSets()[grammar_->nodes()[place.node].a]);
    }
    /// Both possibilities at once.
    State join(State a, State b);

    /// Begins a new allowance of work: what one token may cost. Used up, the next step throws Error.
    void startWork() { n_visits_ = 0; }
    /// Bytes in use, roughly.
    size_t bytes() const;
    /// Forgets all states but these, which are renumbered in place.
    void keepOnly(std::span<State> wanted);

private:
    struct Place {
        uint32_t node, frame;
        friend auto operator<=>(const Place&, const Place&) = default;
    };
    struct Range {
        size_t first = 0;
        uint32_t count = 0;
    };
    struct StateData {
        Range places;
        uint32_t row = no_row;
        bool may_end = false;
    };
    static constexpr State unknown = 0xFFFFFFFEu;
    static constexpr uint32_t no_row = 0xFFFFFFFFu;

    std::span<const Place> places(State state) const {
        return {places_.data() + states_[state].places.first, states_[state].places.count};
    }
    State makeStep(State state, uint32_t letter);
    /// The state that begins with the places in work_.
    State close();
    void visit(Place place);
    void expand(Place place);
    uint32_t frameOf(std::vector<Place>& returns);
    State stateOf(std::span<const Place> sorted, bool may_end);

    std::shared_ptr<const Grammar> grammar_;
    std::vector<StateData> states_;
    std::vector<Place> places_;  ///< of all states
    std::vector<Range> frames_;  ///< frame 0 is the bottom
    std::vector<Place> returns_;  ///< of all frames: where to go on, and in which frame
    std::vector<State> steps_;  ///< rows of one entry a letter
    std::unordered_multimap<uint64_t, uint32_t> frame_index_, state_index_;
    State start_ = 0;

    // Scratch of close().
    struct Pending {
        uint32_t order, rule;
        std::vector<Place> returns;
    };
    std::vector<Place> work_, found_;
    std::vector<Pending> pending_;
    std::vector<uint64_t> seen_;  ///< open addressing; an entry counts when its stamp is the current one
    std::vector<uint32_t> stamps_;
    uint32_t stamp_ = 0;
    size_t n_seen_ = 0, n_visits_ = 0;
    bool may_end_ = false;
};

}  // namespace hearth::sampling
