#include "engine/text/jinja/library.h"
#include "engine/text/jinja/parser.h"

/// What may follow a value: calls, attributes, subscripts, filters, tests.
namespace hearth::text::jinja {

ExpressionPtr Parser::parsePostfix(ExpressionPtr node) {
    for (;;) {
        if (isOperator("(")) {
            node = up(parseCall(std::move(node)));
        } else if (isOperator(".")) {
            const int line = take().line;
            if (current().type == TokenType::Integer) {
                auto item = std::make_unique<Item>();
                item->object = std::move(node);
                item->key = parseNumber();
                item->adopt(item->object);
                node = up(checked(std::move(item), line));
            } else {
                auto attribute = std::make_unique<Attribute>();
                attribute->object = std::move(node);
                attribute->name = takeIdentifier();
                attribute->adopt(attribute->object);
                node = up(checked(std::move(attribute), line));
            }
        } else if (isOperator("[")) {
            node = parseSubscript(std::move(node));
        } else {
            return node;
        }
    }
}

ExpressionPtr Parser::parseSubscript(ExpressionPtr object) {
    const Nest nest(*this);
    const int line = take().line;
    ExpressionPtr parts[3];
    int colons = 0;
    while (!isOperator("]")) {
        if (skipOperator(":")) {
            if (++colons > 2) unexpected();
        } else if (!parts[colons]) {
            parts[colons] = parseExpression();
        } else {
            unexpected();
        }
    }
    expectOperator("]");
    if (colons == 0) {
        if (!parts[0]) unexpected();
        auto item = std::make_unique<Item>();
        item->object = std::move(object);
        item->key = std::move(parts[0]);
        item->adopt(item->object);
        item->adopt(item->key);
        return up(checked(std::move(item), line));
    }
    auto slice = std::make_unique<Slice>();
    slice->object = std::move(object);
    slice->start = std::move(parts[0]);
    slice->stop = std::move(parts[1]);
    slice->step = std::move(parts[2]);
    for (const auto* child : {&slice->object, &slice->start, &slice->stop, &slice->step}) slice->adopt(*child);
    return up(checked(std::move(slice), line));
}

ExpressionPtr Parser::parseFilters(ExpressionPtr node) {
    for (;;) {
        if (skipOperator("|")) node = up(parseFilter(std::move(node)));
        else if (skipName("is")) node = parseTest(std::move(node));
        else if (isOperator("(")) node = up(parseCall(std::move(node)));
        else return node;
    }
}

std::string Parser::takeDottedName() {
    std::string name = takeIdentifier();
    while (skipOperator(".")) name += '.' + takeIdentifier();
    return name;
}

std::unique_ptr<FilterCall> Parser::parseFilter(ExpressionPtr input) {
    const int line = current().line;
    auto node = std::make_unique<FilterCall>();
    node->input = std::move(input);
    node->name = takeDottedName();
    node->filter = findFilter(node->name);
    node->adopt(node->input);
    if (isOperator("(")) node->arguments = parseArguments();
    node->depth = std::max(node->depth, node->arguments.depth + 1);
    return checked(std::move(node), line);
}

ExpressionPtr Parser::parseTest(ExpressionPtr input) {
    const int line = current().line;
    const bool negated = skipName("not");
    auto node = std::make_unique<TestCall>();
    node->input = std::move(input);
    node->name = takeDottedName();
    node->test = findTest(node->name);
    node->adopt(node->input);
    const auto type = current().type;
    if (isOperator("(")) {
        node->arguments = parseArguments();
        node->depth = std::max(node->depth, node->arguments.depth + 1);
    } else if (type == TokenType::String || type == TokenType::Integer || type == TokenType::Float || isOperator("[") ||
               isOperator("{") || (type == TokenType::Name && !isName("else") && !isName("or") && !isName("and"))) {
        if (isName("is")) error("tests cannot follow each other");
        if (!isName("if") && !isName("not") && !isName("in") && !isName("recursive")) {
            ExpressionPtr argument = parsePostfix(parsePrimary());
            node->adopt(argument);
            node->arguments.positional.push_back(std::move(argument));
        }
    }
    ExpressionPtr result = up(checked(std::move(node), line));
    if (!negated) return result;
    auto inverse = std::make_unique<Not>();
    inverse->adopt(result);
    inverse->operand = std::move(result);
    return up(checked(std::move(inverse), line));
}

std::unique_ptr<Call> Parser::parseCall(ExpressionPtr callee) {
    auto node = std::make_unique<Call>();
    const int line = current().line;
    node->callee = std::move(callee);
    node->adopt(node->callee);
    node->arguments = parseArguments();
    node->depth = std::max(node->depth, node->arguments.depth + 1);
    return checked(std::move(node), line);
}

CallArguments Parser::parseArguments() {
    const Nest nest(*this);
    CallArguments arguments;
    expectOperator("(");
    bool first = true;
    const auto read = [&] {
        ExpressionPtr argument = parseExpression();
        arguments.depth = std::max(arguments.depth, argument->depth);
        return argument;
    };
    while (!isOperator(")")) {
        if (!first) expectOperator(",");
        first = false;
        if (isOperator(")")) break;
        if (skipOperator("**")) {
            if (arguments.double_star) unexpected();
            arguments.double_star = read();
        } else if (skipOperator("*")) {
            if (arguments.star || arguments.double_star) unexpected();
            arguments.star = read();
        } else if (current().type == TokenType::Name && tokens_[at_ + 1].type == TokenType::Operator &&
                   tokens_[at_ + 1].text == "=") {
            std::string name = take().text;
            ++at_;
            arguments.named.emplace_back(std::move(name), read());
        } else {
            if (!arguments.named.empty() || arguments.star || arguments.double_star)
                error("a positional argument follows a named one");
            arguments.positional.push_back(read());
        }
    }
    expectOperator(")");
    return arguments;
}

}  // namespace hearth::text::jinja
