#include <cmath>

#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

namespace hearth::text::jinja {

namespace {

[[noreturn]] void badOperands(const char* op, const Value& a, const Value& b) {
    for (const Value* v : {&a, &b})
        if (v->isUndefined()) fail(v->undefinedWhy());
    fail("'" + a.typeName() + "' and '" + b.typeName() + "' cannot be combined with " + op);
}

[[noreturn]] void overflow() { fail("a number becomes too large"); }

Value addTexts(const TextPtr& a, const TextPtr& b) {
    TextBuilder builder;
    const bool safe = a->isSafe() || b->isSafe();
    builder.append(safe ? *escapeHtml(a) : *a);
    builder.append(safe ? *escapeHtml(b) : *b);
    return builder.finish(safe);
}

Value repeatText(const TextPtr& text, Int count) {
    if (count < 0) count = 0;
    if (count > 1 && text->size() > 0) {
        if (count > Int{1} << 40) overflow();
        checkStringSize(static_cast<uint64_t>(count) * text->size());
    }
    TextBuilder builder;
    if (text->size() > 0)
        for (Int i = 0; i < count; ++i) builder.append(*text);
    return builder.finish();
}

void checkItems(size_t n) {
    const Meter* meter = Meter::current();
    if (meter && n > meter->limits().memory_bytes / sizeof(Value)) fail("a list becomes too long");
    spend(n);
}

Value repeatSequence(const Sequence& sequence, Int count) {
    std::vector<Value> items;
    if (count > 0 && !sequence.items.empty()) {
        if (count > Int{1} << 32) fail("a list becomes too long");
        checkItems(static_cast<size_t>(count) * sequence.items.size());
        for (Int i = 0; i < count; ++i) items.insert(items.end(), sequence.items.begin(), sequence.items.end());
    }
    return sequence.isList() ? makeList(std::move(items)) : makeTuple(std::move(items));
}

Value add(const Value& a, const Value& b) {
    if (a.isIntegral() && b.isIntegral()) {
        Int sum;
        if (__builtin_add_overflow(a.integral(), b.integral(), &sum)) overflow();
        return Value(sum);
    }
    if (a.isNumber() && b.isNumber()) return Value(a.real() + b.real());
    if (a.isString() && b.isString()) return addTexts(a.text(), b.text());
    if (a.isSequence() && b.isSequence() && a.sequence()->type == b.sequence()->type) {
        const auto &x = a.sequence()->items, &y = b.sequence()->items;
        checkItems(x.size() + y.size());
        std::vector<Value> items(x);
        items.insert(items.end(), y.begin(), y.end());
        return a.sequence()->isList() ? makeList(std::move(items)) : makeTuple(std::move(items));
    }
    badOperands("+", a, b);
}

Value subtract(const Value& a, const Value& b) {
    if (!a.isNumber() || !b.isNumber()) badOperands("-", a, b);
    if (!a.isIntegral() || !b.isIntegral()) return Value(a.real() - b.real());
    Int difference;
    if (__builtin_sub_overflow(a.integral(), b.integral(), &difference)) overflow();
    return Value(difference);
}

Value multiply(const Value& a, const Value& b) {
    if (a.isIntegral() && b.isIntegral()) {
        Int product;
        if (__builtin_mul_overflow(a.integral(), b.integral(), &product)) overflow();
        return Value(product);
    }
    if (a.isNumber() && b.isNumber()) return Value(a.real() * b.real());
    if (a.isString() && b.isIntegral()) return repeatText(a.text(), b.integral());
    if (a.isIntegral() && b.isString()) return repeatText(b.text(), a.integral());
    if (a.isSequence() && b.isIntegral()) return repeatSequence(*a.sequence(), b.integral());
    if (a.isIntegral() && b.isSequence()) return repeatSequence(*b.sequence(), a.integral());
    badOperands("*", a, b);
}

/// Floor division and its remainder, as Python rounds them.
Value floorDivide(const Value& a, const Value& b, bool remainder) {
    if (!a.isNumber() || !b.isNumber()) badOperands(remainder ? "%" : "//", a, b);
    if (b.real() == 0) fail("a number is divided by zero");
    if (a.isIntegral() && b.isIntegral()) {
        const Int x = a.integral(), y = b.integral();
        if (y == -1) return remainder ? Value(Int{0}) : negate(Value(x), false);
        Int quotient = x / y, rest = x % y;
        if (rest != 0 && (rest < 0) != (y < 0)) {
            --quotient;
            rest += y;
        }
        return Value(remainder ? rest : quotient);
    }
    const double x = a.real(), y = b.real();
    double rest = std::fmod(x, y);
    if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
    if (rest == 0) rest = std::copysign(0.0, y);
    if (remainder) return Value(rest);
    const double quotient = (x - rest) / y;
    return Value(quotient == 0 ? std::copysign(0.0, x / y) : std::round(quotient));
}

Value power(const Value& a, const Value& b) {
    if (!a.isNumber() || !b.isNumber()) badOperands("**", a, b);
    if (!a.isIntegral() || !b.isIntegral() || b.integral() < 0) {
        if (a.real() == 0 && b.real() < 0) fail("a number is divided by zero");
        const double result = std::pow(a.real(), b.real());
        if (std::isnan(result) && !std::isnan(a.real()) && !std::isnan(b.real())) fail("a power is not a real number");
        if (std::isinf(result) && std::isfinite(a.real()) && std::isfinite(b.real())) overflow();
        return Value(result);
    }
    Int base = a.integral(), result = 1;
    for (Int exponent = b.integral(); exponent > 0; exponent >>= 1) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) overflow();
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) {
            overflow();
        }
    }
    return Value(result);
}

/// Resolves Python's slice bounds: the first index, the step, and how many items.
struct Range {
    Int start, step;
    size_t count;
};

Range resolveSlice(size_t length, const Value* start, const Value* stop, const Value* step) {
    const Int n = static_cast<Int>(length);
    const Int by = step ? requireInteger(*step, "the step of a slice") : 1;
    if (by == 0) fail("the step of a slice is zero");
    const auto bound = [&](const Value* value, Int fallback) {
        if (!value) return fallback;
        Int at = requireInteger(*value, "a slice");
        if (at < 0) at = at < -n ? -1 : at + n;
        else if (at > n) at = n;
        if (by < 0) return at >= n ? n - 1 : at;
        return at < 0 ? Int{0} : at;
    };
    const Int first = bound(start, by > 0 ? 0 : n - 1);
    const Int last = bound(stop, by > 0 ? n : -1);
    Int count = 0;
    if (by > 0 && first < last) count = (last - first - 1) / by + 1;
    if (by < 0 && first > last) count = by < -n ? 1 : (first - last - 1) / -by + 1;
    return {first, by, static_cast<size_t>(count)};
}

}  // namespace

Value negate(const Value& value, bool plus) {
    if (value.isIntegral()) {
        if (plus) return Value(value.integral());
        Int result;
        if (__builtin_sub_overflow(Int{0}, value.integral(), &result)) overflow();
        return Value(result);
    }
    if (value.isNumber()) return Value(plus ? value.real() : -value.real());
    if (value.isUndefined()) fail(value.undefinedWhy());
    fail("'" + value.typeName() + "' cannot have a sign");
}

Value applyOperator(Operator op, const Value& a, const Value& b) {
    switch (op) {
        case Operator::Add: return add(a, b);
        case Operator::Sub: return subtract(a, b);
        case Operator::Mul: return multiply(a, b);
        case Operator::Div:
            if (!a.isNumber() || !b.isNumber()) badOperands("/", a, b);
            if (b.real() == 0) fail("a number is divided by zero");
            return Value(a.real() / b.real());
        case Operator::FloorDiv: return floorDivide(a, b, false);
        case Operator::Mod:
            if (a.isString()) return Value(formatPercent(a.text(), b));
            return floorDivide(a, b, true);
        case Operator::Pow: return power(a, b);
        case Operator::Equal: return Value(equal(a, b));
        case Operator::NotEqual: return Value(!equal(a, b));
        case Operator::Less: return Value(less(a, b));
        case Operator::LessEqual: return Value(less(a, b) || equal(a, b));
        case Operator::Greater: return Value(less(b, a));
        case Operator::GreaterEqual: return Value(less(b, a) || equal(a, b));
        case Operator::In: return Value(contains(b, a));
        case Operator::NotIn: return Value(!contains(b, a));
    }
    return {};
}

Value sliceOf(const Value& object, const Value* start, const Value* stop, const Value* step) {
    if (object.isUndefined()) fail(object.undefinedWhy());
    if (object.isString()) {
        const TextPtr& text = object.text();
        const Range range = resolveSlice(text->length(), start, stop, step);
        if (range.step == 1) {
            const auto first = static_cast<size_t>(range.start);
            if (range.count == 0) return Value::string("");
            return subText(text, text->offset(first), text->offset(first + range.count));
        }
        if (range.count == 0) return Value::string("");
        TextBuilder builder;
        std::vector<uint32_t> offsets;
        if (!text->isAscii())
            for (size_t at = 0; at < text->size(); at += charLength(text->bytes(), at))
                offsets.push_back(static_cast<uint32_t>(at));
        for (size_t i = 0; i < range.count; ++i) {
            const auto index = static_cast<size_t>(range.start + static_cast<Int>(i) * range.step);
            const size_t at = offsets.empty() ? index : offsets[index];
            builder.append(*text, at, at + charLength(text->bytes(), at));
        }
        return builder.finish();
    }
    if (object.isSequence()) {
        const Sequence& sequence = *object.sequence();
        const Range range = resolveSlice(sequence.items.size(), start, stop, step);
        spend(range.count);
        std::vector<Value> items;
        items.reserve(range.count);
        for (size_t i = 0; i < range.count; ++i)
            items.push_back(sequence.items[static_cast<size_t>(range.start + static_cast<Int>(i) * range.step)]);
        return sequence.type == Sequence::Type::Tuple ? makeTuple(std::move(items)) : makeList(std::move(items));
    }
    return Value::undefined("'" + object.typeName() + "' cannot be sliced");
}

Value getAttribute(const Value& object, std::string_view name) {
    if (object.isUndefined()) fail(object.undefinedWhy());
    if (object.isDict()) {
        if (auto method = findMethod(object, name)) return *std::move(method);
        if (const Value* value = object.dict()->find(name)) return *value;
    } else if (object.isObject()) {
        if (auto value = object.object()->attribute(name)) return *std::move(value);
    } else if (auto method = findMethod(object, name)) {
        return *std::move(method);
    }
    return Value::undefined("'" + object.typeName() + "' has no attribute '" + std::string(name) + "'");
}

Value getItem(const Value& object, const Value& key) {
    if (object.isUndefined()) fail(object.undefinedWhy());
    if (object.isDict()) {
        const bool hashable = !key.isDict() && !(key.isSequence() && key.sequence()->isList());
        if (const Value* value = hashable ? object.dict()->find(key) : nullptr) return *value;
    } else if (key.isIntegral() && (object.isString() || object.isSequence())) {
        const auto n = static_cast<Int>(lengthOf(object));
        const Int index = key.integral() < 0 ? key.integral() + n : key.integral();
        if (index >= 0 && index < n) {
            const auto i = static_cast<size_t>(index);
            if (object.isSequence()) return object.sequence()->items[i];
            const size_t at = object.text()->offset(i);
            return subText(object.text(), at, at + charLength(object.text()->bytes(), at));
        }
    }
    if (key.isString()) return getAttribute(object, key.text()->bytes());
    return Value::undefined("'" + object.typeName() + "' has no item " + toText(key)->bytes().substr(0, 60));
}

}  // namespace hearth::text::jinja
