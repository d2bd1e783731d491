#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/jinja/value.h"

/// The syntax tree of a template. Nodes run themselves against a Runtime.
namespace hearth::text::jinja {

class Runtime;

/// A filter: `input | name(arguments)`.
using Filter = Value (*)(Runtime&, const Value& input, Arguments&);
/// A test: `input is name(arguments)`.
using Test = bool (*)(Runtime&, const Value& input, Arguments&);

struct Expression {
    virtual ~Expression() = default;
    virtual Value evaluate(Runtime& runtime) const = 0;
    /// Notes a child, so that depth is known. The parser refuses trees that are too deep to take apart.
    void adopt(const std::unique_ptr<Expression>& child) {
        if (child) depth = std::max(depth, child->depth + 1);
    }

    int line = 0, depth = 1;
};
using ExpressionPtr = std::unique_ptr<Expression>;

enum class Flow { Normal, Break, Continue };

struct Statement {
    virtual ~Statement() = default;
    virtual Flow execute(Runtime& runtime) const = 0;

    int line = 0;
};
using Body = std::vector<std::unique_ptr<Statement>>;

struct CallArguments {
    std::vector<ExpressionPtr> positional;
    std::vector<std::pair<std::string, ExpressionPtr>> named;
    ExpressionPtr star, double_star;
    int depth = 0;  ///< of the deepest argument

    Arguments evaluate(Runtime& runtime) const;
};

// Expressions

struct Literal : Expression {
    Value value;
    Value evaluate(Runtime&) const override { return value; }
};

struct Name : Expression {
    std::string name;
    Value evaluate(Runtime&) const override;
};

struct SequenceLiteral : Expression {
    bool tuple = false;
    std::vector<ExpressionPtr> items;
    Value evaluate(Runtime&) const override;
};

struct DictLiteral : Expression {
    std::vector<std::pair<ExpressionPtr, ExpressionPtr>> entries;
    Value evaluate(Runtime&) const override;
};

enum class Operator {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn
};

struct Negate : Expression {
    ExpressionPtr operand;
    bool plus = false;
    Value evaluate(Runtime&) const override;
};

struct Not : Expression {
    ExpressionPtr operand;
    Value evaluate(Runtime&) const override;
};

struct Binary : Expression {
    Operator op = Operator::Add;
    ExpressionPtr left, right;
    Value evaluate(Runtime&) const override;
};

struct Logical : Expression {
    bool is_and = false;
    ExpressionPtr left, right;
    Value evaluate(Runtime&) const override;
};

struct Compare : Expression {
    ExpressionPtr first;
    std::vector<std::pair<Operator, ExpressionPtr>> rest;
    Value evaluate(Runtime&) const override;
};

struct Concat : Expression {
    std::vector<ExpressionPtr> parts;
    Value evaluate(Runtime&) const override;
};

struct Conditional : Expression {
    ExpressionPtr condition, yes, no;  ///< `no` may be missing
    Value evaluate(Runtime&) const override;
};

struct Attribute : Expression {
    ExpressionPtr object;
    std::string name;
    Value evaluate(Runtime&) const override;
};

struct Item : Expression {
    ExpressionPtr object, key;
    Value evaluate(Runtime&) const override;
};

struct Slice : Expression {
    ExpressionPtr object, start, stop, step;  ///< the last three may be missing
    Value evaluate(Runtime&) const override;
};

struct Call : Expression {
    ExpressionPtr callee;
    CallArguments arguments;
    Value evaluate(Runtime&) const override;
};

struct FilterCall : Expression {
    ExpressionPtr input;  ///< missing in {% filter %} and {% set x | f %}: the text of the block
    std::string name;
    Filter filter = nullptr;
    CallArguments arguments;
    Value evaluate(Runtime&) const override;
    Value apply(Runtime& runtime, const Value& input_value) const;
};

struct TestCall : Expression {
    ExpressionPtr input;
    std::string name;
    Test test = nullptr;
    CallArguments arguments;
    Value evaluate(Runtime&) const override;
};

// Statements

/// What is assigned to: a name, an attribute of a namespace, or several of them.
struct Target {
    std::string name, attribute;
    std::vector<Target> parts;

    void assign(Runtime& runtime, const Value& value) const;
};

struct Data : Statement {
    TextPtr text;
    Flow execute(Runtime&) const override;
};

struct Output : Statement {
    ExpressionPtr value;
    Flow execute(Runtime&) const override;
};

struct If : Statement {
    std::vector<std::pair<ExpressionPtr, Body>> branches;
    Body otherwise;
    Flow execute(Runtime&) const override;
};

struct For : Statement {
    Target target;
    ExpressionPtr items, condition;
    Body body, otherwise;
    bool recursive = false;
    Flow execute(Runtime&) const override;
};

struct Set : Statement {
    Target target;
    ExpressionPtr value;
    Flow execute(Runtime&) const override;
};

/// {% set x | filter %}…{% endset %} and {% filter f %}…{% endfilter %} (without a target: it is printed).
struct CaptureBlock : Statement {
    bool has_target = false;
    Target target;
    std::vector<std::unique_ptr<FilterCall>> filters;
    Body body;
    Flow execute(Runtime&) const override;
};

/// {% with %}, {% generation %}, {% block %}: a scope of its own.
struct Scoped : Statement {
    std::vector<std::pair<Target, ExpressionPtr>> variables;
    Body body;
    Flow execute(Runtime&) const override;
};

struct MacroDefinition {
    std::string name;
    std::vector<std::pair<std::string, ExpressionPtr>> parameters;  ///< with defaults, which may be missing
    Body body;
    bool uses_varargs = false, uses_kwargs = false, uses_caller = false;
};

struct MacroStatement : Statement {
    MacroDefinition macro;
    Flow execute(Runtime&) const override;
};

struct CallBlock : Statement {
    MacroDefinition caller;
    std::unique_ptr<Call> call;
    Flow execute(Runtime&) const override;
};

struct LoopControl : Statement {
    Flow flow = Flow::Break;
    Flow execute(Runtime&) const override { return flow; }
};

/// A parsed template.
struct Program {
    Body body;
};

/// Throws TemplateError.
Program parse(std::string_view source);

}  // namespace hearth::text::jinja
