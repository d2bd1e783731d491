#include <charconv>
#include <cstdlib>
#include <optional>

#include "engine/text/jinja/parser.h"

namespace hearth::text::jinja {

ExpressionPtr Parser::parseExpression() {
    const Nest nest(*this);
    ExpressionPtr value = parseOr();
    while (isName("if")) {
        auto node = std::make_unique<Conditional>();
        const int line = take().line;
        node->condition = parseOr();
        if (skipName("else")) node->no = parseExpression();
        node->yes = std::move(value);
        for (const auto* child : {&node->condition, &node->yes, &node->no}) node->adopt(*child);
        value = up(checked(std::move(node), line));
    }
    return value;
}

bool Parser::atTupleEnd(std::string_view end_name) const {
    return current().type == TokenType::VariableEnd || current().type == TokenType::BlockEnd || isOperator(")") ||
           (!end_name.empty() && isName(end_name));
}

ExpressionPtr Parser::parseTuple(bool with_conditional, bool explicit_parentheses, std::string_view end_name) {
    const int line = current().line;
    auto tuple = std::make_unique<SequenceLiteral>();
    tuple->tuple = true;
    bool is_tuple = false;
    while (!atTupleEnd(end_name)) {
        tuple->items.push_back(with_conditional ? parseExpression() : parseOr());
        tuple->adopt(tuple->items.back());
        if (!skipOperator(",")) break;
        is_tuple = true;
    }
    if (!is_tuple && !tuple->items.empty()) return std::move(tuple->items.front());
    if (tuple->items.empty() && !explicit_parentheses) unexpected();
    return up(checked(std::move(tuple), line));
}

ExpressionPtr Parser::binary(Operator op, ExpressionPtr left, ExpressionPtr right, int line) {
    auto node = std::make_unique<Binary>();
    node->op = op;
    node->left = std::move(left);
    node->right = std::move(right);
    node->adopt(node->left);
    node->adopt(node->right);
    return up(checked(std::move(node), line));
}

ExpressionPtr Parser::parseOr() {
    ExpressionPtr left = parseAnd();
    while (isName("or")) {
        auto node = std::make_unique<Logical>();
        const int line = take().line;
        node->left = std::move(left);
        node->right = parseAnd();
        node->adopt(node->left);
        node->adopt(node->right);
        left = up(checked(std::move(node), line));
    }
    return left;
}

ExpressionPtr Parser::parseAnd() {
    ExpressionPtr left = parseNot();
    while (isName("and")) {
        auto node = std::make_unique<Logical>();
        const int line = take().line;
        node->is_and = true;
        node->left = std::move(left);
        node->right = parseNot();
        node->adopt(node->left);
        node->adopt(node->right);
        left = up(checked(std::move(node), line));
    }
    return left;
}

ExpressionPtr Parser::parseNot() {
    if (!isName("not")) return parseCompare();
    const Nest nest(*this);
    auto node = std::make_unique<Not>();
    const int line = take().line;
    node->operand = parseNot();
    node->adopt(node->operand);
    return up(checked(std::move(node), line));
}

ExpressionPtr Parser::parseCompare() {
    static const std::pair<std::string_view, Operator> kOperators[] = {
        {"==", Operator::Equal},     {"!=", Operator::NotEqual}, {"<", Operator::Less},
        {"<=", Operator::LessEqual}, {">", Operator::Greater},   {">=", Operator::GreaterEqual}};
    const int line = current().line;
    auto node = std::make_unique<Compare>();
    node->first = parseSum();
    node->adopt(node->first);
    for (;;) {
        std::optional<Operator> op;
        for (const auto& [text, candidate] : kOperators)
            if (!op && skipOperator(text)) op = candidate;
        if (!op && skipName("in")) op = Operator::In;
        if (!op && isName("not") && tokens_[at_ + 1].type == TokenType::Name && tokens_[at_ + 1].text == "in") {
            at_ += 2;
            op = Operator::NotIn;
        }
        if (!op) break;
        node->rest.emplace_back(*op, parseSum());
        node->adopt(node->rest.back().second);
    }
    if (node->rest.empty()) return std::move(node->first);
    return up(checked(std::move(node), line));
}

ExpressionPtr Parser::parseSum() {
    ExpressionPtr left = parseConcat();
    while (isOperator("+") || isOperator("-")) {
        const Token& token = take();
        const Operator op = token.text == "+" ? Operator::Add : Operator::Sub;
        left = binary(op, std::move(left), parseConcat(), token.line);
    }
    return left;
}

ExpressionPtr Parser::parseConcat() {
    const int line = current().line;
    ExpressionPtr first = parseProduct();
    if (!isOperator("~")) return first;
    auto node = std::make_unique<Concat>();
    node->adopt(first);
    node->parts.push_back(std::move(first));
    while (skipOperator("~")) {
        node->parts.push_back(parseProduct());
        node->adopt(node->parts.back());
    }
    return up(checked(std::move(node), line));
}

ExpressionPtr Parser::parseProduct() {
    static const std::pair<std::string_view, Operator> kOperators[] = {
        {"*", Operator::Mul}, {"/", Operator::Div}, {"//", Operator::FloorDiv}, {"%", Operator::Mod}};
    ExpressionPtr left = parsePower();
    for (;;) {
        const int line = current().line;
        std::optional<Operator> op;
        for (const auto& [text, candidate] : kOperators)
            if (!op && skipOperator(text)) op = candidate;
        if (!op) return left;
        left = binary(*op, std::move(left), parsePower(), line);
    }
}

ExpressionPtr Parser::parsePower() {
    ExpressionPtr left = parseUnary(true);
    while (isOperator("**")) {
        const int line = take().line;
        left = binary(Operator::Pow, std::move(left), parseUnary(true), line);
    }
    return left;
}

ExpressionPtr Parser::parseUnary(bool with_filter) {
    ExpressionPtr node;
    if (isOperator("-") || isOperator("+")) {
        const Nest nest(*this);
        auto sign = std::make_unique<Negate>();
        const Token& token = take();
        sign->plus = token.text == "+";
        sign->operand = parseUnary(false);
        sign->adopt(sign->operand);
        node = up(checked(std::move(sign), token.line));
    } else {
        node = parsePrimary();
    }
    node = parsePostfix(std::move(node));
    return with_filter ? parseFilters(std::move(node)) : std::move(node);
}

ExpressionPtr Parser::parsePrimary() {
    const Token token = current();
    auto literal = std::make_unique<Literal>();
    if (token.type == TokenType::Name) {
        ++at_;
        const std::string& name = token.text;
        if (name == "true" || name == "True") literal->value = Value(true);
        else if (name == "false" || name == "False") literal->value = Value(false);
        else if (name == "none" || name == "None") literal->value = Value(None{});
        else {
            for (MacroDefinition* macro : macros_) {
                macro->uses_varargs |= name == "varargs";
                macro->uses_kwargs |= name == "kwargs";
                macro->uses_caller |= name == "caller";
            }
            auto node = std::make_unique<Name>();
            node->name = name;
            return up(checked(std::move(node), token.line));
        }
        return up(checked(std::move(literal), token.line));
    }
    if (token.type == TokenType::String) {
        std::string text;
        while (current().type == TokenType::String) text += take().text;
        literal->value = Value::string(std::move(text));
        return up(checked(std::move(literal), token.line));
    }
    if (token.type == TokenType::Integer || token.type == TokenType::Float) return parseNumber();
    if (skipOperator("(")) {
        const Nest nest(*this);
        ExpressionPtr tuple = parseTuple(true, true);
        expectOperator(")");
        return tuple;
    }
    if (isOperator("[")) return parseList();
    if (isOperator("{")) return parseDict();
    unexpected();
}

ExpressionPtr Parser::parseNumber() {
    const Token& token = take();
    auto literal = std::make_unique<Literal>();
    if (token.type == TokenType::Float) {
        double value = 0;
        const auto result = std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
        if (result.ec != std::errc{}) value = std::strtod(token.text.c_str(), nullptr);
        literal->value = Value(value);
        return up(checked(std::move(literal), token.line));
    }
    std::string_view digits = token.text;
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0' && digits[1] > '9') {
        const char prefix = static_cast<char>(digits[1] | 0x20);
        base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : 2;
        digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0' && digits.find_first_not_of('0') != std::string_view::npos) {
        error("the number " + token.text + " begins with a zero");
    }
    Int value = 0;
    for (const char c : digits) {
        const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        if (__builtin_mul_overflow(value, Int{base}, &value) || __builtin_add_overflow(value, Int{digit}, &value))
            error("the number " + token.text.substr(0, 40) + " is too large");
    }
    literal->value = Value(value);
    return up(checked(std::move(literal), token.line));
}

ExpressionPtr Parser::parseList() {
    const Nest nest(*this);
    auto list = std::make_unique<SequenceLiteral>();
    const int line = take().line;
    while (!isOperator("]")) {
        if (!list->items.empty()) expectOperator(",");
        if (isOperator("]")) break;
        list->items.push_back(parseExpression());
        list->adopt(list->items.back());
    }
    expectOperator("]");
    return up(checked(std::move(list), line));
}

ExpressionPtr Parser::parseDict() {
    const Nest nest(*this);
    auto dict = std::make_unique<DictLiteral>();
    const int line = take().line;
    while (!isOperator("}")) {
        if (!dict->entries.empty()) expectOperator(",");
        if (isOperator("}")) break;
        ExpressionPtr key = parseExpression();
        expectOperator(":");
        ExpressionPtr value = parseExpression();
        dict->adopt(key);
        dict->adopt(value);
        dict->entries.emplace_back(std::move(key), std::move(value));
    }
    expectOperator("}");
    return up(checked(std::move(dict), line));
}

}  // namespace hearth::text::jinja
