#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

namespace hearth::text::jinja {

namespace {

/// A scope inside the current one for as long as it lives; errors end the whole rendering.
class InnerScope {
public:
    explicit InnerScope(Runtime& runtime) : runtime_(runtime), outer_(runtime.scope) {
        runtime.scope = std::make_shared<Scope>(outer_);
    }
    ~InnerScope() { runtime_.scope = outer_; }
    InnerScope(const InnerScope&) = delete;
    InnerScope& operator=(const InnerScope&) = delete;

private:
    Runtime& runtime_;
    ScopePtr outer_;
};

}  // namespace

void Target::assign(Runtime& runtime, const Value& value) const {
    if (!attribute.empty()) {
        const Value object = runtime.lookup(name);
        auto* space = object.isObject() ? dynamic_cast<Namespace*>(object.object().get()) : nullptr;
        if (!space) fail("only attributes of a namespace can be assigned to, and '" + name + "' is none");
        space->set(attribute, value);
        return;
    }
    if (parts.empty()) {
        runtime.scope->set(name, value);
        return;
    }
    if (value.isUndefined()) fail(value.undefinedWhy());
    const SequencePtr values = iterate(value);
    if (values->items.size() != parts.size())
        fail(std::to_string(parts.size()) + " values are needed, there are " + std::to_string(values->items.size()));
    for (size_t i = 0; i < parts.size(); ++i) parts[i].assign(runtime, values->items[i]);
}

Flow Data::execute(Runtime& runtime) const {
    runtime.out->append(*text);
    return Flow::Normal;
}

Flow Output::execute(Runtime& runtime) const {
    runtime.out->append(*toText(value->evaluate(runtime)));
    return Flow::Normal;
}

Flow If::execute(Runtime& runtime) const {
    for (const auto& [condition, body] : branches)
        if (condition->evaluate(runtime).truth()) return runtime.run(body);
    return runtime.run(otherwise);
}

Flow Set::execute(Runtime& runtime) const {
    target.assign(runtime, value->evaluate(runtime));
    return Flow::Normal;
}

Flow CaptureBlock::execute(Runtime& runtime) const {
    Value value = runtime.capture(body, std::make_shared<Scope>(runtime.scope));
    for (const auto& filter : filters) value = filter->apply(runtime, value);
    if (has_target) target.assign(runtime, value);
    else runtime.out->append(*toText(value));
    return Flow::Normal;
}

Flow Scoped::execute(Runtime& runtime) const {
    const InnerScope inner(runtime);
    const ScopePtr own = runtime.scope, outer = own->parent;
    for (const auto& [target, expression] : variables) {
        runtime.scope = outer;  // the values do not see each other
        const Value value = expression->evaluate(runtime);
        runtime.scope = own;
        target.assign(runtime, value);
    }
    return runtime.run(body);
}

Flow MacroStatement::execute(Runtime& runtime) const {
    runtime.remember(runtime.scope);
    runtime.scope->set(macro.name, ObjectPtr(std::make_shared<Macro>(macro, runtime.scope)));
    return Flow::Normal;
}

Flow CallBlock::execute(Runtime& runtime) const {
    const Value callee = call->callee->evaluate(runtime);
    Arguments arguments = call->arguments.evaluate(runtime);
    arguments.named.emplace_back("caller", ObjectPtr(std::make_shared<Macro>(caller, runtime.scope)));
    runtime.out->append(*toText(runtime.callValue(callee, arguments)));
    return Flow::Normal;
}

Flow For::execute(Runtime& runtime) const {
    const Value values = items->evaluate(runtime);
    const auto loop = std::make_shared<Loop>(*this, iterate(values), runtime.scope, 0);
    return loop->run(runtime);
}

Loop::~Loop() {
    std::vector<Value> values = std::move(last_changed);
    if (items) values.emplace_back(std::move(items));
    bury(std::move(values));
}

Flow Loop::run(Runtime& runtime) {
    if (node.condition) {
        std::vector<Value> kept;
        for (size_t i = 0; i < items->items.size(); ++i) {
            runtime.enter(node.line);
            const InnerScope inner(runtime);
            const Value item = items->items[i];
            node.target.assign(runtime, item);
            if (node.condition->evaluate(runtime).truth()) kept.push_back(item);
        }
        items = std::make_shared<Sequence>(Sequence::Type::List, std::move(kept));
    }
    const Value self{ObjectPtr(shared_from_this())};
    bool any = false;
    for (index = 0; index < items->items.size(); ++index) {
        runtime.enter(node.line);
        any = true;
        const InnerScope inner(runtime);
        runtime.scope->set("loop", self);
        node.target.assign(runtime, Value(items->items[index]));
        if (runtime.run(node.body) == Flow::Break) break;
    }
    return any ? Flow::Normal : runtime.run(node.otherwise);
}

Value Loop::call(Runtime& runtime, Arguments& arguments) {
    if (arguments.positional.size() != 1 || !arguments.named.empty()) fail("'loop' takes one argument");
    const auto inner = std::make_shared<Loop>(node, iterate(arguments.positional[0]), scope, depth + 1);
    TextBuilder builder;
    TextBuilder* const outer_out = std::exchange(runtime.out, &builder);
    const ScopePtr outer_scope = std::exchange(runtime.scope, scope);
    checkStack();
    inner->run(runtime);
    runtime.scope = outer_scope;
    runtime.out = outer_out;
    return builder.finish();
}

std::optional<Value> Loop::attribute(std::string_view name) {
    const size_t n = items->items.size();
    if (name == "index") return Value::integer(index + 1);
    if (name == "index0") return Value::integer(index);
    if (name == "revindex") return Value(static_cast<Int>(n) - static_cast<Int>(index));
    if (name == "revindex0") return Value(static_cast<Int>(n) - static_cast<Int>(index) - 1);
    if (name == "first") return Value(index == 0);
    if (name == "last") return Value(index + 1 >= n);
    if (name == "length") return Value::integer(n);
    if (name == "depth") return Value::integer(depth + 1);
    if (name == "depth0") return Value::integer(depth);
    if (name == "previtem")
        return index > 0 && index <= n ? items->items[index - 1] : Value::undefined("there is no previous item");
    if (name == "nextitem") return index + 1 < n ? items->items[index + 1] : Value::undefined("there is no next item");
    const auto self = std::static_pointer_cast<Loop>(shared_from_this());
    if (name == "cycle")
        return makeFunction([self](Runtime&, Arguments& arguments) {
            if (arguments.positional.empty()) fail("'loop.cycle' needs values");
            return arguments.positional[self->index % arguments.positional.size()];
        });
    if (name == "changed")
        return makeFunction([self](Runtime& runtime, Arguments& arguments) {
            const auto& now = arguments.positional;
            const bool same = !self->last_changed.empty() && self->last_changed.size() == now.size() + 1 &&
                              std::equal(now.begin(), now.end(), self->last_changed.begin() + 1, equal);
            if (same) return Value(false);
            if (std::any_of(now.begin(), now.end(), [](const Value& v) { return v.isObject() || v.isSequence(); }))
                runtime.remember(ObjectPtr(self));
            self->last_changed.assign(1, Value(None{}));  // tells "called with nothing" from "never called"
            self->last_changed.insert(self->last_changed.end(), now.begin(), now.end());
            return Value(true);
        });
    return std::nullopt;
}

}  // namespace hearth::text::jinja
