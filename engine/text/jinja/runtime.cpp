#include "engine/text/jinja/runtime.h"

#include "engine/text/jinja/library.h"

namespace hearth::text::jinja {

namespace {

void clearVariables(std::vector<std::pair<std::string, Value>>& variables) {
    std::vector<Value> values;
    for (auto& [name, value] : variables)
        if (!value.isString()) values.push_back(std::move(value));
    variables.clear();
    bury(std::move(values));
}

Value* findVariable(std::vector<std::pair<std::string, Value>>& variables, std::string_view name) {
    spend(variables.size() / 16);
    for (auto& [key, value] : variables)
        if (key == name) return &value;
    return nullptr;
}

}  // namespace

void Scope::clear() { clearVariables(variables); }

Value* Scope::find(std::string_view name) { return findVariable(variables, name); }

void Scope::set(std::string_view name, Value value) {
    if (Value* old = find(name)) {
        *old = std::move(value);
        return;
    }
    chargeMore(sizeof(Value) + sizeof(std::string) + name.size());
    variables.emplace_back(name, std::move(value));
}

Runtime::Runtime(const Limits& limits, const std::tm& now)
    : meter_(Meter::Use::Render, limits), now_(now), globals_(std::make_shared<Scope>(nullptr)) {
    scope = std::make_shared<Scope>(globals_);
}

Runtime::~Runtime() {
    scope.reset();  // values must go before the meter that counts them
    for (const ScopePtr& s : scopes_) s->clear();
    for (const SequencePtr& list : lists_) bury(std::move(list->items));
    for (const ObjectPtr& object : objects_) {
        if (auto* space = dynamic_cast<Namespace*>(object.get())) space->clear();
        if (auto* loop = dynamic_cast<Loop*>(object.get())) bury(std::move(loop->last_changed));
    }
}

void Runtime::remember(const ScopePtr& s) {
    if (std::exchange(s->remembered, true)) return;
    scopes_.push_back(s);
}

void Runtime::remember(const SequencePtr& list) {
    if (std::exchange(list->remembered, true)) return;
    lists_.push_back(list);
}

void Runtime::enter(int line) {
    meter_.line = line;
    meter_.spend(1);
    meter_.checkStack();
}

Value Runtime::lookup(const std::string& name) {
    for (Scope* s = scope.get(); s; s = s->parent.get())
        if (const Value* value = s->find(name)) return *value;
    if (auto function = findFunction(*this, name)) return *std::move(function);
    return Value::undefined("'" + name + "' is undefined");
}

Flow Runtime::run(const Body& body) {
    for (const auto& statement : body) {
        enter(statement->line);
        const Flow flow = statement->execute(*this);
        if (flow != Flow::Normal) return flow;
    }
    return Flow::Normal;
}

TextPtr Runtime::capture(const Body& body, ScopePtr inner) {
    TextBuilder builder;
    TextBuilder* const outer_out = std::exchange(out, &builder);
    const ScopePtr outer_scope = std::exchange(scope, std::move(inner));
    run(body);  // an error ends the whole rendering, so nothing needs restoring then
    scope = outer_scope;
    out = outer_out;
    return builder.finish();
}

Value Runtime::callValue(const Value& callee, Arguments& arguments) {
    if (callee.isUndefined()) fail(callee.undefinedWhy());
    if (!callee.isObject() || !callee.object()->callable()) fail("'" + callee.typeName() + "' cannot be called");
    return callee.object()->call(*this, arguments);
}

Value Runtime::applyFilter(const std::string& name, const Value& input, Arguments& arguments) {
    const Filter filter = findFilter(name);
    if (!filter) fail("there is no filter '" + name + "'");
    return filter(*this, input, arguments);
}

TextPtr Runtime::render(const Program& program) { return capture(program.body, scope); }

Namespace::~Namespace() { clear(); }

void Namespace::clear() { clearVariables(attributes); }

std::optional<Value> Namespace::attribute(std::string_view name) {
    if (const Value* value = findVariable(attributes, name)) return *value;
    return std::nullopt;
}

void Namespace::set(std::string_view name, Value value) {
    if (Value* old = findVariable(attributes, name)) {
        *old = std::move(value);
        return;
    }
    chargeMore(sizeof(Value) + sizeof(std::string) + name.size());
    attributes.emplace_back(name, std::move(value));
}

std::optional<Value> Macro::attribute(std::string_view name) {
    if (name == "name") return Value::string(definition.name);
    if (name == "catch_kwargs") return Value(definition.uses_kwargs);
    if (name == "catch_varargs") return Value(definition.uses_varargs);
    if (name == "caller") return Value(definition.uses_caller);
    if (name != "arguments") return std::nullopt;
    std::vector<Value> names;
    for (const auto& parameter : definition.parameters) names.push_back(Value::string(parameter.first));
    return makeTuple(std::move(names));
}

Value Macro::call(Runtime& runtime, Arguments& arguments) {
    spend(4);
    const auto& parameters = definition.parameters;
    auto inner = std::make_shared<Scope>(closure);
    std::vector<Value> extra;
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
        if (i < parameters.size()) inner->set(parameters[i].first, std::move(arguments.positional[i]));
        else extra.push_back(std::move(arguments.positional[i]));
    }
    auto named = std::make_shared<Dict>();
    for (auto& [name, value] : arguments.named) {
        spend(parameters.size() / 16 + 1);
        const bool known =
            std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.first == name; });
        if (known && inner->find(name)) fail("macro '" + definition.name + "' got the argument '" + name + "' twice");
        if (known || (name == "caller" && definition.uses_caller)) inner->set(name, std::move(value));
        else if (definition.uses_kwargs) named->set(Value::string(name), std::move(value));
        else fail("macro '" + definition.name + "' has no argument '" + name + "'");
    }
    if (!extra.empty() && !definition.uses_varargs)
        fail("macro '" + definition.name + "' takes no more than " + std::to_string(parameters.size()) + " arguments");
    if (definition.uses_varargs) inner->set("varargs", makeTuple(std::move(extra)));
    if (definition.uses_kwargs) inner->set("kwargs", DictPtr(std::move(named)));
    if (definition.uses_caller && !inner->find("caller"))
        inner->set("caller", Value::undefined("no caller is defined"));
    const ScopePtr outer = std::exchange(runtime.scope, inner);
    for (const auto& [name, fallback] : parameters) {
        if (inner->find(name)) continue;
        inner->set(name,
                   fallback ? fallback->evaluate(runtime) : Value::undefined("parameter '" + name + "' was not given"));
    }
    runtime.scope = outer;
    return runtime.capture(definition.body, std::move(inner));
}

}  // namespace hearth::text::jinja
