#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

namespace hearth::text::jinja {

namespace {

/// Python's sandbox allows no longer ranges.
constexpr Int kMaxRange = 100'000;

Value range(Runtime&, Arguments& arguments) {
    Int bounds[3] = {0, 0, 1};
    const size_t n = arguments.positional.size();
    if (n < 1 || n > 3 || !arguments.named.empty()) fail("'range' takes one to three numbers");
    for (size_t i = 0; i < n; ++i) bounds[n == 1 ? 1 : i] = requireInteger(arguments.positional[i], "'range'");
    const auto [start, stop, step] = bounds;
    if (step == 0) fail("the step of 'range' is zero");
    constexpr Int kFar = Int{1} << 100;
    if (start > kFar || start < -kFar || stop > kFar || stop < -kFar || step > kFar || step < -kFar)
        fail("a range is too long");
    Int count = 0;
    if (step > 0 && start < stop) count = (stop - start - 1) / step + 1;
    if (step < 0 && start > stop) count = (start - stop - 1) / -step + 1;
    if (count > kMaxRange) fail("a range is longer than " + formatInt(kMaxRange));
    spend(static_cast<uint64_t>(count));
    std::vector<Value> items;
    items.reserve(static_cast<size_t>(count));
    for (Int i = 0; i < count; ++i) items.emplace_back(start + i * step);
    auto sequence = std::make_shared<Sequence>(Sequence::Type::Range, std::move(items));
    sequence->range_start = start;
    sequence->range_stop = stop;
    sequence->range_step = step;
    return sequence;
}

/// dict(...) and namespace(...) take the same: a mapping or pairs, and named values.
template <typename Set>
void fillFrom(Arguments& arguments, Set set) {
    if (arguments.positional.size() > 1) fail("there may be only one positional argument here");
    for (const Value& source : arguments.positional) {
        if (source.isDict()) {
            for (const auto& [key, value] : source.dict()->entries()) set(key, value);
            continue;
        }
        for (const SequencePtr all = iterate(source); const Value& pair : all->items) {
            const SequencePtr parts = iterate(pair);
            if (parts->items.size() != 2) fail("a mapping is made of pairs");
            set(parts->items[0], parts->items[1]);
        }
    }
    for (auto& [name, value] : arguments.named) set(Value::string(name), value);
}

Value makeDict(Runtime&, Arguments& arguments) {
    auto dict = std::make_shared<Dict>();
    fillFrom(arguments, [&](const Value& key, const Value& value) { dict->set(key, value); });
    return DictPtr(std::move(dict));
}

Value makeNamespace(Runtime& runtime, Arguments& arguments) {
    auto space = std::make_shared<Namespace>();
    fillFrom(arguments, [&](const Value& key, const Value& value) { space->set(toText(key)->bytes(), value); });
    runtime.remember(ObjectPtr(space));
    return ObjectPtr(std::move(space));
}

Value raiseException(Runtime&, Arguments& arguments) {
    const Bound bound(arguments, "raise_exception", {"message"}, 1);
    const Meter* meter = Meter::current();
    throw TemplateRefusal(meter ? meter->line : 0, toText(bound[0])->bytes());
}

Value strftimeNow(Runtime& runtime, Arguments& arguments) {
    const Bound bound(arguments, "strftime_now", {"format"}, 1);
    const TextPtr format = bound.text(0);
    return Value::string(formatTime(format->bytes(), runtime.now()), format->overall());
}

struct Cycler : Object {
    explicit Cycler(std::vector<Value> values)
        : Object(sizeof(Cycler) + values.size() * sizeof(Value)), items(std::move(values)) {}
    ~Cycler() override { bury(std::move(items)); }
    std::string typeName() const override { return "Cycler"; }
    std::optional<Value> attribute(std::string_view name) override {
        const auto self = std::static_pointer_cast<Cycler>(shared_from_this());
        if (name == "current") return items[at];
        if (name == "next")
            return makeFunction([self](Runtime&, Arguments&) {
                Value value = self->items[self->at];
                self->at = (self->at + 1) % self->items.size();
                return value;
            });
        if (name == "reset")
            return makeFunction([self](Runtime&, Arguments&) {
                self->at = 0;
                return Value(None{});
            });
        return std::nullopt;
    }

    std::vector<Value> items;
    size_t at = 0;
};

Value makeCycler(Runtime&, Arguments& arguments) {
    if (arguments.positional.empty()) fail("'cycler' needs values");
    return ObjectPtr(std::make_shared<Cycler>(std::move(arguments.positional)));
}

Value makeJoiner(Runtime&, Arguments& arguments) {
    const Bound bound(arguments, "joiner", {"sep"}, 0);
    return makeFunction(
        [separator = bound.text(0, makeText(", ")), used = false](Runtime&, Arguments&) mutable -> Value {
            return std::exchange(used, true) ? Value(separator) : Value::string("");
        });
}

struct TemplateSelf : Object {
    TemplateSelf() : Object(sizeof(TemplateSelf)) {}
    std::string typeName() const override { return "TemplateReference"; }
};

}  // namespace

Value makeFunction(NativeFunction::Body body) { return ObjectPtr(std::make_shared<NativeFunction>(std::move(body))); }

std::optional<Value> findFunction(Runtime&, std::string_view name) {
    static const std::pair<std::string_view, Value (*)(Runtime&, Arguments&)> kFunctions[] = {
        {"range", range},
        {"dict", makeDict},
        {"namespace", makeNamespace},
        {"raise_exception", raiseException},
        {"strftime_now", strftimeNow},
        {"cycler", makeCycler},
        {"joiner", makeJoiner}};
    for (const auto& [known, function] : kFunctions)
        if (known == name) return makeFunction(function);
    if (name == "self") return Value(ObjectPtr(std::make_shared<TemplateSelf>()));
    return std::nullopt;
}

Bound::Bound(Arguments& arguments, std::string_view function, std::initializer_list<const char*> names, size_t required)
    : function_(function) {
    if (arguments.positional.size() > names.size()) fail("'" + function_ + "' got too many arguments");
    for (size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
    for (const auto& [name, value] : arguments.named) {
        const auto it = std::find(names.begin(), names.end(), name);
        if (it == names.end()) fail("'" + function_ + "' has no argument '" + name + "'");
        const auto i = static_cast<size_t>(it - names.begin());
        if (values_[i]) fail("'" + function_ + "' got the argument '" + name + "' twice");
        values_[i] = &value;
    }
    for (size_t i = 0; i < required; ++i)
        if (!values_[i]) fail("'" + function_ + "' needs the argument '" + *(names.begin() + i) + "'");
}

Int Bound::integer(size_t i, Int fallback) const {
    return values_[i] ? requireInteger(*values_[i], "'" + function_ + "'") : fallback;
}

TextPtr Bound::text(size_t i) const {
    const Value& value = *values_[i];
    if (value.isUndefined()) fail(value.undefinedWhy());
    if (!value.isString()) fail("'" + function_ + "' needs a string, not '" + value.typeName() + "'");
    return value.text();
}

Int requireInteger(const Value& value, std::string_view what) {
    if (value.isUndefined()) fail(value.undefinedWhy());
    if (!value.isIntegral()) fail(std::string(what) + " needs an integer, not '" + value.typeName() + "'");
    return value.integral();
}

size_t requireSize(const Value& value, std::string_view what) {
    const Int n = requireInteger(value, what);
    constexpr Int kMost = Int{1} << 40;
    return static_cast<size_t>(n < 0 ? Int{0} : n > kMost ? kMost : n);
}

}  // namespace hearth::text::jinja
