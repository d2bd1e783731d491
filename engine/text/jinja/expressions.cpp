#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

namespace hearth::text::jinja {

Arguments CallArguments::evaluate(Runtime& runtime) const {
    Arguments out;
    for (const auto& argument : positional) out.positional.push_back(argument->evaluate(runtime));
    for (const auto& [name, argument] : named) out.named.emplace_back(name, argument->evaluate(runtime));
    if (star) {
        const SequencePtr values = iterate(star->evaluate(runtime));
        spend(values->items.size());
        out.positional.insert(out.positional.end(), values->items.begin(), values->items.end());
    }
    if (double_star) {
        const Value values = double_star->evaluate(runtime);
        if (!values.isDict()) fail("'**' needs a mapping");
        spend(values.dict()->size());
        for (const auto& [key, value] : values.dict()->entries()) out.named.emplace_back(toText(key)->bytes(), value);
    }
    return out;
}

Value Name::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    return runtime.lookup(name);
}

Value SequenceLiteral::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    std::vector<Value> values;
    values.reserve(items.size());
    for (const auto& item : items) values.push_back(item->evaluate(runtime));
    return tuple ? makeTuple(std::move(values)) : makeList(std::move(values));
}

Value DictLiteral::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    auto dict = std::make_shared<Dict>();
    for (const auto& [key, value] : entries) {
        Value k = key->evaluate(runtime);
        dict->set(std::move(k), value->evaluate(runtime));
    }
    return DictPtr(std::move(dict));
}

Value Negate::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    return negate(operand->evaluate(runtime), plus);
}

Value Not::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    return Value(!operand->evaluate(runtime).truth());
}

Value Binary::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    const Value a = left->evaluate(runtime);
    const Value b = right->evaluate(runtime);
    return applyOperator(op, a, b);
}

Value Logical::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    Value a = left->evaluate(runtime);
    return a.truth() == is_and ? right->evaluate(runtime) : a;
}

Value Compare::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    Value a = first->evaluate(runtime);
    for (const auto& [op, expression] : rest) {
        Value b = expression->evaluate(runtime);
        if (!applyOperator(op, a, b).truth()) return Value(false);
        a = std::move(b);
    }
    return Value(true);
}

Value Concat::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    TextBuilder builder;
    for (const auto& part : parts) builder.append(*toText(part->evaluate(runtime)));
    return builder.finish();
}

Value Conditional::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    if (condition->evaluate(runtime).truth()) return yes->evaluate(runtime);
    return no ? no->evaluate(runtime) : Value::undefined("the inline if has no else");
}

Value Attribute::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    return getAttribute(object->evaluate(runtime), name);
}

Value Item::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    const Value o = object->evaluate(runtime);
    return getItem(o, key->evaluate(runtime));
}

Value Slice::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    const Value o = object->evaluate(runtime);
    Value bounds[3];
    const ExpressionPtr* expressions[3] = {&start, &stop, &step};
    for (size_t i = 0; i < 3; ++i)
        if (*expressions[i]) bounds[i] = (*expressions[i])->evaluate(runtime);
    const auto given = [&](size_t i) { return *expressions[i] && !bounds[i].isNone() ? &bounds[i] : nullptr; };
    return sliceOf(o, given(0), given(1), given(2));
}

Value Call::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    const Value function = callee->evaluate(runtime);
    Arguments values = arguments.evaluate(runtime);
    runtime.enter(line);
    Value result = runtime.callValue(function, values);
    runtime.enter(line);
    return result;
}

Value FilterCall::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    return apply(runtime, input->evaluate(runtime));
}

Value FilterCall::apply(Runtime& runtime, const Value& input_value) const {
    if (!filter) fail("there is no filter '" + name + "'");
    Arguments values = arguments.evaluate(runtime);
    return filter(runtime, input_value, values);
}

Value TestCall::evaluate(Runtime& runtime) const {
    runtime.enter(line);
    if (!test) fail("there is no test '" + name + "'");
    const Value value = input->evaluate(runtime);
    Arguments values = arguments.evaluate(runtime);
    return Value(test(runtime, value, values));
}

}  // namespace hearth::text::jinja
