#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/text/jinja/ast.h"
#include "engine/text/jinja/value.h"

namespace hearth::text::jinja {

/// Variables of one block, inside those of the block around it.
struct Scope : Charged {
    explicit Scope(std::shared_ptr<Scope> outer) : Charged(sizeof(Scope) + 64), parent(std::move(outer)) {}
    ~Scope() { clear(); }
    void clear();
    Value* find(std::string_view name);
    void set(std::string_view name, Value value);

    std::shared_ptr<Scope> parent;
    std::vector<std::pair<std::string, Value>> variables;
    bool remembered = false;
};
using ScopePtr = std::shared_ptr<Scope>;

/// One run of a template: variables, output, limits.
class Runtime {
public:
    Runtime(const Limits& limits, const std::tm& now);
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    void setGlobal(std::string_view name, Value value) { globals_->set(name, std::move(value)); }
    TextPtr render(const Program& program);

    // For the nodes.
    void enter(int line);
    Value lookup(const std::string& name);
    Flow run(const Body& body);
    /// Runs `body` in a scope inside `outer` and returns what it printed.
    TextPtr capture(const Body& body, ScopePtr scope);
    Value callValue(const Value& callee, Arguments& arguments);
    Value applyFilter(const std::string& name, const Value& input, Arguments& arguments);
    /// Objects that may come to contain themselves are emptied at the end.
    void remember(const ScopePtr& scope);
    void remember(const ObjectPtr& object) { objects_.push_back(object); }
    void remember(const SequencePtr& list);

    const std::tm& now() const noexcept { return now_; }

    ScopePtr scope;
    TextBuilder* out = nullptr;

private:
    Meter meter_;
    std::tm now_;
    ScopePtr globals_;
    std::vector<ScopePtr> scopes_;
    std::vector<ObjectPtr> objects_;
    std::vector<SequencePtr> lists_;
};

/// namespace(...): attributes that can be assigned to from inner scopes.
struct Namespace : Object {
    Namespace() : Object(sizeof(Namespace)) {}
    ~Namespace() override;
    std::string typeName() const override { return "Namespace"; }
    std::optional<Value> attribute(std::string_view name) override;
    void set(std::string_view name, Value value);
    void clear();

    std::vector<std::pair<std::string, Value>> attributes;
};

/// A macro together with the scope it was defined in.
struct Macro : Object {
    Macro(const MacroDefinition& macro, ScopePtr defined_in)
        : Object(sizeof(Macro)), definition(macro), closure(std::move(defined_in)) {}
    std::string typeName() const override { return "Macro"; }
    std::optional<Value> attribute(std::string_view name) override;
    bool callable() const override { return true; }
    Value call(Runtime& runtime, Arguments& arguments) override;

    const MacroDefinition& definition;
    ScopePtr closure;
};

/// The variable `loop`.
struct Loop : Object {
    Loop(const For& statement, SequencePtr values, ScopePtr outer, size_t nested)
        : Object(sizeof(Loop)), node(statement), items(std::move(values)), scope(std::move(outer)), depth(nested) {}
    ~Loop() override;
    std::string typeName() const override { return "LoopContext"; }
    std::optional<Value> attribute(std::string_view name) override;
    bool callable() const override { return node.recursive; }
    Value call(Runtime& runtime, Arguments& arguments) override;
    Flow run(Runtime& runtime);

    const For& node;
    SequencePtr items;
    ScopePtr scope;
    size_t index = 0, depth;
    std::vector<Value> last_changed;
};

}  // namespace hearth::text::jinja
