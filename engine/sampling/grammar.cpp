#include "engine/sampling/grammar.h"

#include <algorithm>
#include <deque>

#include "engine/base/error.h"
#include "engine/sampling/grammar_parser.h"

namespace hearth::sampling {

/// What follows from the rules together: shortcuts, empty rules, left recursion, dead ends, the alphabet.
class GrammarAnalysis {
public:
    explicit GrammarAnalysis(Grammar& grammar) : g_(grammar) {}
    void run() {
        shortenWays();
        findNullable();
        orderRules();
        findProductive();
        cutAlphabet();
    }

private:
    using Kind = Grammar::Kind;

    /// A step to a node that only leads on becomes a step to where that leads.
    void shortenWays() {
        const auto behind = [&](uint32_t node) {
            for (int hops = 0; hops < 64; ++hops) {
                const Grammar::Node& n = g_.nodes_[node];
                if (n.kind != Kind::Split || n.a != n.b || n.a == node || n.a >= g_.nodes_.size()) break;
                node = n.a;
            }
            return node;
        };
        const auto size = static_cast<uint32_t>(g_.nodes_.size());
        for (uint32_t i = 0; i < size; ++i) {
            Grammar::Node& node = g_.nodes_[i];
            if (node.kind == Kind::End) continue;
            if (node.b < size) node.b = behind(node.b);
            if (node.kind == Kind::Split && node.a < size) node.a = behind(node.a);
        }
        for (Grammar::Rule& rule : g_.rules_) rule.entry = behind(rule.entry);
    }

    /// Walks from the start of every rule as far as nothing is consumed. A call of a rule that is not known to be
    /// nullable waits until it is. On the way every call that can be the first thing of a rule is noted.
    void findNullable() {
        const size_t rules = g_.rules_.size();
        std::vector<bool> seen(g_.nodes_.size());
        std::vector<std::vector<std::pair<uint32_t, uint32_t>>> waiting(rules);   // (node behind the call, its rule)
        std::vector<std::pair<uint32_t, uint32_t>> work;
        first_calls_.resize(rules);
        for (uint32_t r = 0; r < rules; ++r) work.emplace_back(g_.rules_[r].entry, r);
        while (!work.empty()) {
            const auto [at, rule] = work.back();
            work.pop_back();
            if (seen[at]) continue;
            seen[at] = true;
            const Grammar::Node& node = g_.nodes_[at];
            if (node.kind == Kind::Split) {
                work.emplace_back(node.a, rule);
                work.emplace_back(node.b, rule);
            } else if (node.kind == Kind::Call) {
                first_calls_[rule].push_back(node.a);
                if (g_.rules_[node.a].nullable) work.emplace_back(node.b, rule);
                else waiting[node.a].emplace_back(node.b, rule);
            } else if (node.kind == Kind::End && !g_.rules_[rule].nullable) {
                g_.rules_[rule].nullable = true;
                work.insert(work.end(), waiting[rule].begin(), waiting[rule].end());
            }
        }
    }

    /// Depth first without recursion; a call of a rule that is still open is left recursion.
    void orderRules() {
        enum : uint8_t { fresh, open, closed };
        std::vector<uint8_t> mark(g_.rules_.size(), fresh);
        auto next_order = static_cast<uint32_t>(g_.rules_.size());
        std::vector<std::pair<uint32_t, size_t>> path;   // rule, its next first call to look at
        for (uint32_t start = 0; start < g_.rules_.size(); ++start) {
            if (mark[start] != fresh) continue;
            path.emplace_back(start, 0);
            mark[start] = open;
            while (!path.empty()) {
                auto& [rule, i] = path.back();
                if (i == first_calls_[rule].size()) {
                    mark[rule] = closed;
                    g_.rules_[rule].order = --next_order;
                    path.pop_back();
                    continue;
                }
                const uint32_t called = first_calls_[rule][i++];
                if (mark[called] == open)
                    throw Error("cannot use the grammar",
                                "the rule \"" + g_.rules_[called].name + "\" can begin with itself (left recursion)",
                                "Write the repetition with * or + or with the rule at the end");
                if (mark[called] == fresh) {
                    mark[called] = open;
                    path.emplace_back(called, 0);
                }
            }
        }
    }

    /// Backwards from the ends of the rules.
    void findProductive() {
        const auto size = static_cast<uint32_t>(g_.nodes_.size());
        std::vector<std::vector<uint32_t>> calls(g_.rules_.size());
        std::vector<uint32_t> first(size + 1), from;
        const auto targets = [&](uint32_t i, auto visit) {
            const Grammar::Node& node = g_.nodes_[i];
            if (node.kind == Kind::End) return;
            if (node.b < size) visit(node.b);
            if (node.kind == Kind::Split && node.a < size && node.a != node.b) visit(node.a);
        };
        for (uint32_t i = 0; i < size; ++i) targets(i, [&](uint32_t t) { ++first[t]; });
        uint32_t sum = 0;
        for (uint32_t& n : first) n = sum += n;   // ends of the lists; filling below moves them to the beginnings
        from.resize(sum);
        for (uint32_t i = 0; i < size; ++i) targets(i, [&](uint32_t t) { from[--first[t]] = i; });

        std::vector<uint32_t> owners(size, static_cast<uint32_t>(g_.rules_.size()));
        for (uint32_t r = 0; r < g_.rules_.size(); ++r) owners[g_.rules_[r].entry] = r;
        std::vector<bool> rule_done(g_.rules_.size());
        g_.productive_.assign(size, false);
        std::vector<uint32_t> work;
        const auto settle = [&](uint32_t i) {
            const Grammar::Node& node = g_.nodes_[i];
            if (g_.productive_[i]) return;
            if (node.kind == Kind::Char && g_.classes_[node.a].empty()) return;
            if (node.kind == Kind::Call && !rule_done[node.a]) {
                calls[node.a].push_back(i);
                return;
            }
            g_.productive_[i] = true;
            work.push_back(i);
        };
        for (uint32_t i = 0; i < size; ++i)
            if (g_.nodes_[i].kind == Kind::End) settle(i);
        while (!work.empty()) {
            const uint32_t at = work.back();
            work.pop_back();
            for (uint32_t i = first[at]; i < first[at + 1]; ++i) settle(from[i]);
            const uint32_t rule = owners[at];
            if (rule == g_.rules_.size() || rule_done[rule]) continue;
            rule_done[rule] = true;
            for (const uint32_t call : calls[rule]) settle(call);
        }
        if (!rule_done[g_.root_])
            throw Error("cannot use the grammar", "no text can ever fulfil it", "Give every rule a way to end");
    }

    void cutAlphabet() {
        std::vector<uint32_t>& cuts = g_.alphabet_;
        cuts = {0};
        for (const CharClass& ranges : g_.classes_)
            for (const auto& [low, high] : ranges) {
                cuts.push_back(low);
                if (high < max_code_point) cuts.push_back(high + 1);
            }
        std::sort(cuts.begin(), cuts.end());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        for (uint32_t c = 0; c < 128; ++c)
            g_.ascii_letters_[c] =
                static_cast<uint32_t>(std::upper_bound(cuts.begin(), cuts.end(), c) - cuts.begin() - 1);
    }

    Grammar& g_;
    std::vector<std::vector<uint32_t>> first_calls_;   ///< by rule: the rules it can begin with
};

uint32_t Grammar::letter(uint32_t code_point) const {
    if (code_point < 128) return ascii_letters_[code_point];
    return static_cast<uint32_t>(std::upper_bound(alphabet_.begin(), alphabet_.end(), code_point) - alphabet_.begin() -
                                 1);
}

std::shared_ptr<const Grammar> Grammar::parse(std::string_view text, const VocabularyView* vocabulary) {
    auto grammar = std::make_shared<Grammar>();
    GrammarParser(*grammar, text, vocabulary).parse();
    GrammarAnalysis(*grammar).run();
    return grammar;
}

}  // namespace hearth::sampling
