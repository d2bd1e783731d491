#include "engine/text/jinja/parser.h"

#include <algorithm>

namespace hearth::text::jinja {

const Token& Parser::take() {
    const Token& token = tokens_[at_];
    if (token.type != TokenType::End) ++at_;
    return token;
}

bool Parser::skipName(std::string_view name) {
    if (!isName(name)) return false;
    ++at_;
    return true;
}

bool Parser::skipOperator(std::string_view op) {
    if (!isOperator(op)) return false;
    ++at_;
    return true;
}

void Parser::expectOperator(std::string_view op) {
    if (!skipOperator(op)) error("'" + std::string(op) + "' is missing");
}

void Parser::expectName(std::string_view name) {
    if (!skipName(name)) error("'" + std::string(name) + "' is missing");
}

void Parser::expectBlockEnd() {
    if (current().type != TokenType::BlockEnd) unexpected();
    ++at_;
}

std::string Parser::takeIdentifier() {
    if (current().type != TokenType::Name) unexpected();
    return take().text;
}

void Parser::error(const std::string& why) const { throw TemplateError(current().line, why); }

void Parser::unexpected() const {
    const Token& token = current();
    if (token.type == TokenType::End) error("it ends too early");
    if (token.type == TokenType::BlockEnd || token.type == TokenType::VariableEnd) error("a tag ends too early");
    error("'" + token.text.substr(0, 40) + "' is not expected here");
}

Body Parser::parseTemplate() {
    Body body = parseBody({});
    if (current().type != TokenType::End) unexpected();
    return body;
}

Body Parser::parseBody(std::initializer_list<std::string_view> ends) {
    const Nest nest(*this);
    Body body;
    for (;;) {
        const int line = current().line;
        if (current().type == TokenType::End) {
            if (ends.size() != 0) error("'" + std::string(*(ends.end() - 1)) + "' is missing");
            return body;
        }
        if (current().type == TokenType::Data) {
            auto data = std::make_unique<Data>();
            data->text = makeText(take().text);
            data->line = line;
            body.push_back(std::move(data));
        } else if (current().type == TokenType::VariableBegin) {
            ++at_;
            auto output = std::make_unique<Output>();
            output->value = parseTuple(true, false);
            output->line = line;
            if (current().type != TokenType::VariableEnd) unexpected();
            ++at_;
            body.push_back(std::move(output));
        } else {
            ++at_;  // the lexer gives nothing but a block's begin here
            if (current().type == TokenType::Name && std::find(ends.begin(), ends.end(), current().text) != ends.end())
                return body;
            auto statement = parseTag(line);
            statement->line = line;
            body.push_back(std::move(statement));
            expectBlockEnd();
        }
    }
}

Body Parser::parseBodyUntil(std::string_view end) {
    expectBlockEnd();
    Body body = parseBody({end});
    expectName(end);
    return body;
}

std::unique_ptr<Statement> Parser::parseTag(int line) {
    const std::string tag = takeIdentifier();
    if (tag == "if") return parseIf();
    if (tag == "for") return parseFor();
    if (tag == "set") return parseSet();
    if (tag == "macro") return parseMacro();
    if (tag == "call") return parseCallBlock();
    if (tag == "filter") return parseFilterBlock();
    if (tag == "with") return parseWith();
    if (tag == "break") return parseLoopControl(Flow::Break);
    if (tag == "continue") return parseLoopControl(Flow::Continue);
    if (tag == "print") {
        auto output = std::make_unique<Output>();
        output->value = parseTuple(true, false);
        return output;
    }
    if (tag == "generation" || tag == "block") {
        auto scoped = std::make_unique<Scoped>();
        if (tag == "block") takeIdentifier();
        scoped->body = parseBodyUntil("end" + tag);
        if (tag == "block" && current().type == TokenType::Name) ++at_;
        return scoped;
    }
    if (tag == "include" || tag == "import" || tag == "from" || tag == "extends")
        throw TemplateError(line, "it wants other files ('" + tag + "'), which chat templates cannot have");
    throw TemplateError(line, "the tag '" + tag + "' is unknown or stands in the wrong place");
}

std::unique_ptr<Statement> Parser::parseIf() {
    auto statement = std::make_unique<If>();
    for (;;) {
        ExpressionPtr condition = parseTuple(false, false);
        expectBlockEnd();
        Body body = parseBody({"elif", "else", "endif"});
        statement->branches.emplace_back(std::move(condition), std::move(body));
        if (skipName("elif")) continue;
        if (skipName("else")) {
            statement->otherwise = parseBodyUntil("endif");
        } else {
            expectName("endif");
        }
        return statement;
    }
}

std::unique_ptr<Statement> Parser::parseFor() {
    auto statement = std::make_unique<For>();
    statement->target = parseTargets(false, "in");
    expectName("in");
    statement->items = parseTuple(false, false, "recursive");
    if (skipName("if")) statement->condition = parseExpression();
    statement->recursive = skipName("recursive");
    expectBlockEnd();
    ++loops_;
    statement->body = parseBody({"else", "endfor"});
    --loops_;
    if (skipName("else")) {
        statement->otherwise = parseBodyUntil("endfor");
    } else {
        expectName("endfor");
    }
    return statement;
}

std::unique_ptr<Statement> Parser::parseSet() {
    Target target = parseTargets(true, "=");
    if (skipOperator("=")) {
        auto statement = std::make_unique<Set>();
        statement->target = std::move(target);
        statement->value = parseTuple(true, false);
        return statement;
    }
    auto statement = std::make_unique<CaptureBlock>();
    statement->has_target = true;
    statement->target = std::move(target);
    while (skipOperator("|")) statement->filters.push_back(parseFilter(nullptr));
    statement->body = parseBodyUntil("endset");
    return statement;
}

std::unique_ptr<Statement> Parser::parseFilterBlock() {
    auto statement = std::make_unique<CaptureBlock>();
    do statement->filters.push_back(parseFilter(nullptr));
    while (skipOperator("|"));
    statement->body = parseBodyUntil("endfilter");
    return statement;
}

std::unique_ptr<Statement> Parser::parseMacro() {
    auto statement = std::make_unique<MacroStatement>();
    statement->macro.name = takeIdentifier();
    parseParameters(statement->macro);
    parseMacroBody(statement->macro, "endmacro");
    return statement;
}

std::unique_ptr<Statement> Parser::parseCallBlock() {
    auto statement = std::make_unique<CallBlock>();
    statement->caller.name = "caller";
    if (isOperator("(")) parseParameters(statement->caller);
    ExpressionPtr call = parseExpression();
    if (!dynamic_cast<Call*>(call.get())) error("'call' needs a call");
    statement->call.reset(static_cast<Call*>(call.release()));
    parseMacroBody(statement->caller, "endcall");
    return statement;
}

void Parser::parseParameters(MacroDefinition& macro) {
    expectOperator("(");
    while (!isOperator(")")) {
        if (!macro.parameters.empty()) expectOperator(",");
        std::string name = takeIdentifier();
        ExpressionPtr fallback;
        if (skipOperator("=")) {
            fallback = parseExpression();
        } else if (!macro.parameters.empty() && macro.parameters.back().second) {
            error("a parameter without a default follows one with a default");
        }
        macro.parameters.emplace_back(std::move(name), std::move(fallback));
    }
    expectOperator(")");
}

void Parser::parseMacroBody(MacroDefinition& macro, std::string_view end) {
    macros_.push_back(&macro);
    const int loops = std::exchange(loops_, 0);
    macro.body = parseBodyUntil(end);
    loops_ = loops;
    macros_.pop_back();
}

std::unique_ptr<Statement> Parser::parseWith() {
    auto statement = std::make_unique<Scoped>();
    while (current().type != TokenType::BlockEnd) {
        if (!statement->variables.empty()) expectOperator(",");
        Target target = parseTarget(false);
        expectOperator("=");
        statement->variables.emplace_back(std::move(target), parseExpression());
    }
    statement->body = parseBodyUntil("endwith");
    return statement;
}

std::unique_ptr<Statement> Parser::parseLoopControl(Flow flow) {
    if (loops_ == 0) error("'break' and 'continue' need a loop around them");
    auto statement = std::make_unique<LoopControl>();
    statement->flow = flow;
    return statement;
}

Target Parser::parseTarget(bool allow_attribute) {
    if (skipOperator("(")) {
        const Nest nest(*this);
        Target target = parseTargets(allow_attribute, ")");
        expectOperator(")");
        return target;
    }
    Target target;
    target.name = takeIdentifier();
    for (const std::string_view reserved : {"true", "false", "none", "True", "False", "None"})
        if (target.name == reserved) error("'" + target.name + "' cannot be assigned to");
    if (allow_attribute && skipOperator(".")) target.attribute = takeIdentifier();
    return target;
}

Target Parser::parseTargets(bool allow_attribute, std::string_view end_name) {
    Target first = parseTarget(allow_attribute);
    if (!isOperator(",")) return first;
    Target several;
    several.parts.push_back(std::move(first));
    while (skipOperator(",")) {
        if (isName(end_name) || isOperator(end_name)) break;
        several.parts.push_back(parseTarget(allow_attribute));
    }
    return several;
}

Program parse(std::string_view source) {
    constexpr size_t kMaxSource = size_t{1} << 20;
    if (source.size() > kMaxSource) throw TemplateError(0, "it is longer than 1 MiB");
    const Meter meter(Meter::Use::Parse);
    return {Parser(tokenize(source)).parseTemplate()};
}

}  // namespace hearth::text::jinja
