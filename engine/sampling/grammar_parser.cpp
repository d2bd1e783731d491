#include "engine/sampling/grammar_parser.h"

#include <algorithm>
#include <optional>

#include "engine/base/error.h"
#include "engine/sampling/utf8.h"

namespace hearth::sampling {
namespace {

constexpr uint32_t open_end = 0xFFFFFFFFu;
constexpr size_t max_text = 8u << 20, max_nodes = 1u << 20, max_rules = 65536;
constexpr uint64_t max_count = 100000;
constexpr int max_depth = 500;

using Kind = Grammar::Kind;

bool isNameCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

CharClass normalised(CharClass ranges) {
    std::sort(ranges.begin(), ranges.end());
    CharClass result;
    for (const auto& [first, last] : ranges) {
        if (!result.empty() && first <= result.back().second + 1)
            result.back().second = std::max(result.back().second, last);
        else result.emplace_back(first, last);
    }
    return result;
}

CharClass complement(const CharClass& ranges) {
    CharClass result;
    uint32_t next = 0;
    for (const auto& [first, last] : ranges) {
        if (first > next) result.emplace_back(next, first - 1);
        next = last + 1;
    }
    if (next <= max_code_point) result.emplace_back(next, max_code_point);
    return result;
}

void GrammarParser::fail(const std::string& why) const {
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n');
    throw Error("cannot use the grammar", why + " (line " + std::to_string(line) + ")", "Correct the grammar");
}

void GrammarParser::parse() {
    if (text_.size() > max_text) fail("it is larger than 8 MiB");
    skipSpace(true);
    while (!atEnd()) {
        const std::string rule_name = name();
        skipSpace(false);
        if (!take("::=")) fail("::= was expected after the name \"" + rule_name + "\"");
        skipSpace(true);
        const uint32_t rule = ruleId(rule_name);
        const Fragment body = alternatives(0);
        connect(body.exit, add(Kind::End, 0, 0));
        g_.rules_[rule].entry = body.entry;
        g_.rules_[rule].defined = true;
        if (!atEnd() && peek() != '\n' && peek() != '\r')
            fail(std::string("there is an unexpected \"") + peek() + "\" in the rule \"" + rule_name + "\"");
        skipSpace(true);
    }
    for (const Grammar::Rule& rule : g_.rules_)
        if (!rule.defined)
            throw Error("cannot use the grammar", "the rule \"" + rule.name + "\" is used but not defined",
                        "Define it");
    const auto root = rule_ids_.find("root");
    if (root == rule_ids_.end())
        throw Error("cannot use the grammar", "it has no rule \"root\"", "Name the first rule root");
    g_.root_ = root->second;
}

GrammarParser::Fragment GrammarParser::alternatives(int depth) {
    if (depth > max_depth) fail("parentheses are nested more than " + std::to_string(max_depth) + " deep");
    const auto begin = static_cast<uint32_t>(g_.nodes_.size());
    Fragment first = sequence(depth);
    if (peek() != '|') return {begin, first.entry, first.exit};
    std::vector<Fragment> ways{first};
    while (take("|")) {
        skipSpace(true);
        ways.push_back(sequence(depth));
    }
    const uint32_t join = add(Kind::Split, open_end, open_end);
    uint32_t entry = ways.back().entry;
    for (const Fragment& way : ways) connect(way.exit, join);
    for (size_t i = ways.size() - 1; i-- > 0;) entry = add(Kind::Split, ways[i].entry, entry);
    return {begin, entry, join};
}

GrammarParser::Fragment GrammarParser::sequence(int depth) {
    const auto begin = static_cast<uint32_t>(g_.nodes_.size());
    std::optional<Fragment> whole;
    for (;;) {
        const char c = peek();
        const bool starts = c == '"' || c == '[' || c == '(' || c == '.' || c == '<' || c == '!' || isNameCharacter(c);
        if (!starts) break;
        Fragment next = repeated(element(depth));
        whole = whole ? joined(*whole, next) : next;
    }
    const char c = peek();
    if (c == '*' || c == '+' || c == '?' || c == '{')
        fail(std::string("there is nothing that \"") + c + "\" could repeat");
    if (!whole) whole = empty();
    whole->begin = begin;
    return *whole;
}

GrammarParser::Fragment GrammarParser::element(int depth) {
    const char c = peek();
    if (c == '"') return literal();
    if (c == '[') return characterClass();
    if (c == '<' || c == '!') return tokenLiteral();
    if (take("(")) {
        ++parentheses_;
        skipSpace(true);
        const Fragment inner = alternatives(depth + 1);
        if (!take(")")) fail("a closing parenthesis is missing");
        --parentheses_;
        return inner;
    }
    if (take(".")) {
        const uint32_t node = add(Kind::Char, classId({{0, max_code_point}}), open_end);
        return {node, node, node};
    }
    const uint32_t node = add(Kind::Call, ruleId(name()), open_end);
    return {node, node, node};
}

GrammarParser::Fragment GrammarParser::literal() {
    take("\"");
    std::optional<Fragment> whole;
    while (peek() != '"') {
        if (atEnd()) fail("a closing quote is missing");
        const uint32_t code = character();
        const uint32_t node = add(Kind::Char, classId({{code, code}}), open_end);
        const Fragment next{node, node, node};
        whole = whole ? joined(*whole, next) : next;
    }
    take("\"");
    return whole ? *whole : empty();
}

GrammarParser::Fragment GrammarParser::characterClass() {
    take("[");
    const bool negated = take("^");
    CharClass ranges;
    while (peek() != ']') {
        if (atEnd()) fail("a closing ] is missing");
        const uint32_t first = character();
        uint32_t last = first;
        if (peek() == '-' && peek(1) != ']') {
            take("-");
            if (atEnd()) fail("a closing ] is missing");
            last = character();
        }
        if (last < first) fail("a range in [ ] runs backwards");
        ranges.emplace_back(first, last);
    }
    take("]");
    ranges = normalised(std::move(ranges));
    const uint32_t node = add(Kind::Char, classId(negated ? complement(ranges) : std::move(ranges)), open_end);
    return {node, node, node};
}

GrammarParser::Fragment GrammarParser::tokenLiteral() {
    Grammar::TokenSet set;
    set.negated = take("!");
    if (!take("<")) fail("a token in < > was expected after !");
    if (take("[")) {
        uint64_t id = 0;
        if (peek() < '0' || peek() > '9') fail("a token number was expected in <[ ]>");
        while (peek() >= '0' && peek() <= '9') {
            id = id * 10 + static_cast<uint64_t>(text_[at_++] - '0');
            if (id > 0x7FFFFFFF) fail("a token number is too large");
        }
        if (!take("]>")) fail("]> is missing after a token number");
        if (vocabulary_ && id >= vocabulary_->size)
            fail("there is no token " + std::to_string(id) + " in the vocabulary");
        set.token = static_cast<Token>(id);
    } else {
        const size_t end = text_.find_first_of(">\n", at_);
        if (end == std::string_view::npos || text_[end] != '>') fail("a closing > is missing");
        const std::string piece(text_.substr(at_ - 1, end - at_ + 2));
        at_ = end + 1;
        if (!vocabulary_) fail("the token " + piece + " needs a vocabulary to be looked up in");
        size_t id = 0;
        while (id < vocabulary_->size && vocabulary_->bytes(static_cast<Token>(id)) != piece) ++id;
        if (id == vocabulary_->size) fail("there is no token " + piece + " in the vocabulary");
        set.token = static_cast<Token>(id);
    }
    g_.token_sets_.push_back(set);
    const uint32_t node = add(Kind::Tokens, static_cast<uint32_t>(g_.token_sets_.size() - 1), open_end);
    return {node, node, node};
}

/// The repetition signs that follow an element, and the space after it.
GrammarParser::Fragment GrammarParser::repeated(Fragment once) {
    for (;;) {
        skipSpace(parentheses_ > 0);
        if (take("*")) {
            once = repeat(once, 0, 0, true);
        } else if (take("+")) {
            once = repeat(once, 1, 0, true);
        } else if (take("?")) {
            once = repeat(once, 0, 1, false);
        } else if (take("{")) {
            skipSpace(false);
            const auto [least, least_given] = count();
            if (!least_given) fail("a number was expected after {");
            uint64_t most = least;
            bool endless = false;
            if (take(",")) {
                skipSpace(false);
                const auto [number, given] = count();
                endless = !given;
                most = number;
            }
            if (!take("}")) fail("a closing } is missing");
            if (!endless && most < least) fail("a repetition has an upper bound below its lower one");
            once = repeat(once, least, most, endless);
        } else {
            return once;
        }
    }
}

std::pair<uint64_t, bool> GrammarParser::count() {
    if (peek() < '0' || peek() > '9') return {0, false};
    uint64_t n = 0;
    while (peek() >= '0' && peek() <= '9') {
        n = n * 10 + static_cast<uint64_t>(text_[at_++] - '0');
        if (n > max_count) fail("a repetition of more than " + std::to_string(max_count) + " times is not supported");
    }
    skipSpace(false);
    return {n, true};
}

/// Copies the nodes of `once` as often as needed: the graph has no counters, so that every state of it is a plain
/// place.
GrammarParser::Fragment GrammarParser::repeat(Fragment once, uint64_t least, uint64_t most, bool endless) {
    const std::vector<Grammar::Node> pattern(g_.nodes_.begin() + once.begin, g_.nodes_.end());
    const uint64_t copies = endless ? std::max<uint64_t>(least, 1) : most;
    if (copies * (pattern.size() + 1) + g_.nodes_.size() > max_nodes)
        fail("its repetitions add up to more than " + std::to_string(max_nodes) + " steps");
    g_.nodes_.resize(once.begin);
    const auto copy = [&]() -> Fragment {
        const auto begin = static_cast<uint32_t>(g_.nodes_.size());
        const uint32_t shift = begin - once.begin;
        for (Grammar::Node node : pattern) {
            if (node.kind == Kind::Split && node.a != open_end) node.a += shift;
            if (node.b != open_end) node.b += shift;
            g_.nodes_.push_back(node);
        }
        return {begin, once.entry + shift, once.exit + shift};
    };
    Fragment whole{once.begin, open_end, open_end};
    const auto append = [&](uint32_t entry, uint32_t exit) {
        if (whole.exit != open_end) connect(whole.exit, entry);
        else whole.entry = entry;
        whole.exit = exit;
    };
    Fragment last = once;
    for (uint64_t i = 0; i < least; ++i) {
        last = copy();
        append(last.entry, last.exit);
    }
    if (endless) {
        if (least == 0) last = copy();
        const uint32_t loop = add(Kind::Split, last.entry, open_end);
        if (least == 0) {
            connect(last.exit, loop);
            append(loop, loop);
        } else {
            append(loop, loop);
        }
        return whole;
    }
    if (most == 0) return empty();
    if (most == least) return whole;
    const uint32_t join = add(Kind::Split, open_end, open_end);
    for (uint64_t i = least; i < most; ++i) {
        const Fragment next = copy();
        append(add(Kind::Split, next.entry, join), next.exit);
    }
    append(join, join);
    return whole;
}

uint32_t GrammarParser::add(Kind kind, uint32_t a, uint32_t b) {
    if (g_.nodes_.size() >= max_nodes) fail("it has more than " + std::to_string(max_nodes) + " steps");
    g_.nodes_.push_back({kind, a, b});
    return static_cast<uint32_t>(g_.nodes_.size() - 1);
}

void GrammarParser::connect(uint32_t exit, uint32_t target) {
    Grammar::Node& node = g_.nodes_[exit];
    if (node.kind == Kind::Split && node.a == open_end) node.a = target;
    node.b = target;
}

GrammarParser::Fragment GrammarParser::joined(Fragment first, Fragment second) {
    connect(first.exit, second.entry);
    return {first.begin, first.entry, second.exit};
}

GrammarParser::Fragment GrammarParser::empty() {
    const uint32_t node = add(Kind::Split, open_end, open_end);
    return {node, node, node};
}

uint32_t GrammarParser::classId(CharClass ranges) {
    // No text holds a surrogate, so no class needs one; without them an unusable class is an empty one.
    CharClass usable;
    for (const auto& [first, last] : ranges) {
        if (first < 0xD800) usable.emplace_back(first, std::min(last, 0xD7FFu));
        if (last > 0xDFFF) usable.emplace_back(std::max(first, 0xE000u), last);
    }
    const auto [entry, is_new] = class_ids_.try_emplace(usable, static_cast<uint32_t>(g_.classes_.size()));
    if (is_new) g_.classes_.push_back(std::move(usable));
    return entry->second;
}

uint32_t GrammarParser::ruleId(const std::string& rule_name) {
    const auto [entry, is_new] = rule_ids_.try_emplace(rule_name, static_cast<uint32_t>(g_.rules_.size()));
    if (is_new) {
        if (g_.rules_.size() >= max_rules) fail("it has more than " + std::to_string(max_rules) + " rules");
        g_.rules_.push_back({rule_name, 0, 0, false, false});
    }
    return entry->second;
}

bool GrammarParser::take(std::string_view expected) {
    if (!text_.substr(std::min(at_, text_.size())).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
}

void GrammarParser::skipSpace(bool newlines) {
    while (!atEnd()) {
        const char c = peek();
        if (c == '#') {
            while (!atEnd() && peek() != '\n' && peek() != '\r') ++at_;
        } else if (c == ' ' || c == '\t' || (newlines && (c == '\n' || c == '\r'))) {
            ++at_;
        } else {
            return;
        }
    }
}

std::string GrammarParser::name() {
    const size_t begin = at_;
    while (isNameCharacter(peek())) ++at_;
    if (at_ == begin) fail("the name of a rule was expected");
    return std::string(text_.substr(begin, at_ - begin));
}

/// One character of a literal or class, written out or as an escape.
uint32_t GrammarParser::character() {
    if (take("\\")) {
        if (atEnd()) fail("it ends in the middle of an escape");
        const char c = text_[at_++];
        switch (c) {
            case 't': return '\t';
            case 'n': return '\n';
            case 'r': return '\r';
            case '\\':
            case '"':
            case '[':
            case ']': return static_cast<uint32_t>(c);
            case 'x': return hex(2);
            case 'u': return hex(4);
            case 'U': return hex(8);
            default: fail(std::string("the escape \\") + c + " is unknown");
        }
    }
    const std::optional<uint32_t> code = takeCodePoint(text_, at_);
    if (!code) fail("it is not valid UTF-8");
    return *code;
}

uint32_t GrammarParser::hex(int digits) {
    uint32_t value = 0;
    for (int i = 0; i < digits; ++i) {
        const char c = peek();
        uint32_t digit = 0;
        if (c >= '0' && c <= '9') digit = static_cast<uint32_t>(c - '0');
        else if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a' + 10);
        else if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A' + 10);
        else fail("an escape needs " + std::to_string(digits) + " hexadecimal digits");
        value = value << 4 | digit;
        ++at_;
    }
    if (value > max_code_point) fail("an escape is beyond the last character of Unicode");
    return value;
}

}  // namespace hearth::sampling
