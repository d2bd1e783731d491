#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

/// The tests of the language: `value is name`.
namespace hearth::text::jinja {

namespace {

const Value& argument(Arguments& arguments, std::string_view test) {
    if (arguments.positional.size() != 1 || !arguments.named.empty())
        fail("the test '" + std::string(test) + "' needs one value");
    return arguments.positional[0];
}

template <Operator op>
bool compare(Runtime&, const Value& value, Arguments& arguments) {
    return applyOperator(op, value, argument(arguments, "comparison")).truth();
}

bool isDefined(Runtime&, const Value& v, Arguments&) { return !v.isUndefined(); }
bool isUndefinedTest(Runtime&, const Value& v, Arguments&) { return v.isUndefined(); }
bool isNoneTest(Runtime&, const Value& v, Arguments&) { return v.isNone(); }
bool isStringTest(Runtime&, const Value& v, Arguments&) { return v.isString(); }
bool isNumberTest(Runtime&, const Value& v, Arguments&) { return v.isNumber(); }
bool isIntegerTest(Runtime&, const Value& v, Arguments&) { return v.kind() == Kind::Int; }
bool isFloatTest(Runtime&, const Value& v, Arguments&) { return v.kind() == Kind::Float; }
bool isBooleanTest(Runtime&, const Value& v, Arguments&) { return v.kind() == Kind::Bool; }
bool isTrueTest(Runtime&, const Value& v, Arguments&) { return v.kind() == Kind::Bool && v.boolean(); }
bool isFalseTest(Runtime&, const Value& v, Arguments&) { return v.kind() == Kind::Bool && !v.boolean(); }
bool isMappingTest(Runtime&, const Value& v, Arguments&) { return v.isDict(); }
bool isIterableTest(Runtime&, const Value& v, Arguments&) {
    return v.isString() || v.isSequence() || v.isDict() || v.isUndefined() ||
           (v.isObject() && dynamic_cast<const Loop*>(v.object().get()) != nullptr);
}
bool isSequenceTest(Runtime&, const Value& v, Arguments&) {
    return v.isString() || v.isDict() || v.isUndefined() ||
           (v.isSequence() && v.sequence()->type <= Sequence::Type::Range);
}
bool isCallableTest(Runtime&, const Value& v, Arguments&) { return v.isObject() && v.object()->callable(); }
bool isOddTest(Runtime&, const Value& v, Arguments&) {
    return applyOperator(Operator::Mod, v, Value(Int{2})).real() == 1;
}
bool isEvenTest(Runtime&, const Value& v, Arguments&) {
    return applyOperator(Operator::Mod, v, Value(Int{2})).real() == 0;
}
bool isDivisibleTest(Runtime&, const Value& v, Arguments& a) {
    return applyOperator(Operator::Mod, v, argument(a, "divisibleby")).real() == 0;
}
bool isFilterTest(Runtime&, const Value& v, Arguments&) { return v.isString() && findFilter(v.text()->bytes()); }
bool isTestTest(Runtime&, const Value& v, Arguments&) { return v.isString() && findTest(v.text()->bytes()); }
bool isEscapedTest(Runtime&, const Value& v, Arguments&) { return v.isString() && v.text()->isSafe(); }

bool isLowerTest(Runtime& runtime, const Value& v, Arguments&) {
    Arguments none;
    return runtime.callValue(*findMethod(toText(v), "islower"), none).truth();
}
bool isUpperTest(Runtime& runtime, const Value& v, Arguments&) {
    Arguments none;
    return runtime.callValue(*findMethod(toText(v), "isupper"), none).truth();
}

bool isSameTest(Runtime&, const Value& v, Arguments& arguments) {
    const Value& other = argument(arguments, "sameas");
    if (v.kind() != other.kind()) return false;
    if (v.isSequence()) return v.sequence() == other.sequence();
    if (v.isDict()) return v.dict() == other.dict();
    return equal(v, other);
}

}  // namespace

Test findTest(std::string_view name) {
    static constexpr std::pair<std::string_view, Test> kTests[] = {
        {"defined", isDefined},
        {"undefined", isUndefinedTest},
        {"none", isNoneTest},
        {"string", isStringTest},
        {"number", isNumberTest},
        {"integer", isIntegerTest},
        {"float", isFloatTest},
        {"boolean", isBooleanTest},
        {"true", isTrueTest},
        {"false", isFalseTest},
        {"mapping", isMappingTest},
        {"iterable", isIterableTest},
        {"sequence", isSequenceTest},
        {"callable", isCallableTest},
        {"odd", isOddTest},
        {"even", isEvenTest},
        {"divisibleby", isDivisibleTest},
        {"filter", isFilterTest},
        {"test", isTestTest},
        {"escaped", isEscapedTest},
        {"lower", isLowerTest},
        {"upper", isUpperTest},
        {"sameas", isSameTest},
        {"in", compare<Operator::In>},
        {"eq", compare<Operator::Equal>},
        {"equalto", compare<Operator::Equal>},
        {"==", compare<Operator::Equal>},
        {"ne", compare<Operator::NotEqual>},
        {"!=", compare<Operator::NotEqual>},
        {"gt", compare<Operator::Greater>},
        {"greaterthan", compare<Operator::Greater>},
        {">", compare<Operator::Greater>},
        {"ge", compare<Operator::GreaterEqual>},
        {">=", compare<Operator::GreaterEqual>},
        {"lt", compare<Operator::Less>},
        {"lessthan", compare<Operator::Less>},
        {"<", compare<Operator::Less>},
        {"le", compare<Operator::LessEqual>},
        {"<=", compare<Operator::LessEqual>},
    };
    for (const auto& [known, test] : kTests)
        if (known == name) return test;
    return nullptr;
}

}  // namespace hearth::text::jinja
