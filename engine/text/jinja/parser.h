#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/lexer.h"

namespace hearth::text::jinja {

/// Recursive descent over the tokens of one template. Throws TemplateError.
class Parser {
public:
    explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
    Body parseTemplate();

private:
    // parser.cpp: tokens, statements
    const Token& current() const { return tokens_[at_]; }
    const Token& take();
    bool isName(std::string_view name) const { return current().type == TokenType::Name && current().text == name; }
    bool isOperator(std::string_view op) const { return current().type == TokenType::Operator && current().text == op; }
    bool skipName(std::string_view name);
    bool skipOperator(std::string_view op);
    void expectOperator(std::string_view op);
    void expectName(std::string_view name);
    void expectBlockEnd();
    std::string takeIdentifier();
    [[noreturn]] void error(const std::string& why) const;
    [[noreturn]] void unexpected() const;

    /// Statements up to a tag whose name is in `ends`; the parser then stands at that name.
    Body parseBody(std::initializer_list<std::string_view> ends);
    Body parseBodyUntil(std::string_view end);
    std::unique_ptr<Statement> parseTag(int line);
    std::unique_ptr<Statement> parseIf();
    std::unique_ptr<Statement> parseFor();
    std::unique_ptr<Statement> parseSet();
    std::unique_ptr<Statement> parseMacro();
    std::unique_ptr<Statement> parseCallBlock();
    std::unique_ptr<Statement> parseFilterBlock();
    std::unique_ptr<Statement> parseWith();
    std::unique_ptr<Statement> parseLoopControl(Flow flow);
    void parseParameters(MacroDefinition& macro);
    void parseMacroBody(MacroDefinition& macro, std::string_view end);
    Target parseTarget(bool allow_attribute);
    Target parseTargets(bool allow_attribute, std::string_view end_name);

    // parse_expression.cpp
    ExpressionPtr parseExpression();  ///< with inline if
    ExpressionPtr parseTuple(bool with_conditional, bool explicit_parentheses, std::string_view end_name = {});
    ExpressionPtr parseOr();
    ExpressionPtr parseAnd();
    ExpressionPtr parseNot();
    ExpressionPtr parseCompare();
    ExpressionPtr parseSum();
    ExpressionPtr parseConcat();
    ExpressionPtr parseProduct();
    ExpressionPtr parsePower();
    ExpressionPtr parseUnary(bool with_filter);
    ExpressionPtr parsePrimary();
    ExpressionPtr parseNumber();
    ExpressionPtr parseList();
    ExpressionPtr parseDict();
    ExpressionPtr parsePostfix(ExpressionPtr node);
    ExpressionPtr parseFilters(ExpressionPtr node);
    ExpressionPtr parseSubscript(ExpressionPtr object);
    ExpressionPtr parseTest(ExpressionPtr input);
    std::unique_ptr<FilterCall> parseFilter(ExpressionPtr input);
    std::unique_ptr<Call> parseCall(ExpressionPtr callee);
    CallArguments parseArguments();
    ExpressionPtr binary(Operator op, ExpressionPtr left, ExpressionPtr right, int line);
    std::string takeDottedName();
    bool atTupleEnd(std::string_view end_name) const;
    template <typename T>
    std::unique_ptr<T> checked(std::unique_ptr<T> node, int line) const;

    /// Counts nested constructs; the limits keep the native stack small.
    struct Nest;

    std::vector<Token> tokens_;
    size_t at_ = 0;
    int nesting_ = 0, loops_ = 0;
    std::vector<MacroDefinition*> macros_;  ///< those whose bodies are being read
};

/// Deepest nesting of brackets and blocks, and longest chain of operators, that a template may have.
inline constexpr int kMaxNesting = 150, kMaxDepth = 1000;

struct Parser::Nest {
    explicit Nest(Parser& parser) : parser_(parser) {
        if (++parser_.nesting_ > kMaxNesting) parser_.error("it is nested too deeply");
        checkStack();
    }
    ~Nest() { --parser_.nesting_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    Parser& parser_;
};

/// A node as its base.
template <typename T>
ExpressionPtr up(std::unique_ptr<T> node) {
    return ExpressionPtr(node.release());
}

template <typename T>
std::unique_ptr<T> Parser::checked(std::unique_ptr<T> node, int line) const {
    node->line = line;
    if (node->depth > kMaxDepth) error("an expression is too long");
    return node;
}

}  // namespace hearth::text::jinja
