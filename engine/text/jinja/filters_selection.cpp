#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

/// map, select, reject and their forms by attribute.
namespace hearth::text::jinja {

namespace {

Value mapFilter(Runtime& runtime, const Value& input, Arguments& arguments) {
    std::vector<Value> out;
    const SequencePtr items = iterate(input);
    if (arguments.positional.empty()) {
        const Bound bound(arguments, "map", {"attribute", "default"}, 0);
        if (!bound.has(0)) fail("'map' needs a filter or an attribute");
        for (const Value& item : items->items) {
            spend(1);
            out.push_back(attributeOf(item, bound[0], bound.get(1)));
        }
        return makeList(std::move(out));
    }
    const std::string name = toText(arguments.positional[0])->bytes();
    for (const Value& item : items->items) {
        spend(1);
        Arguments rest;
        rest.positional.assign(arguments.positional.begin() + 1, arguments.positional.end());
        rest.named = arguments.named;
        out.push_back(runtime.applyFilter(name, item, rest));
    }
    return makeList(std::move(out));
}

/// [attribute,] [test, values...]
template <bool by_attribute, bool keep>
Value selectFilter(Runtime& runtime, const Value& input, Arguments& arguments) {
    size_t next = 0;
    Value attribute;
    if (by_attribute) {
        if (arguments.positional.empty()) fail("'selectattr' needs an attribute");
        attribute = arguments.positional[next++];
    }
    Test test = nullptr;
    if (next < arguments.positional.size()) {
        const std::string name = toText(arguments.positional[next++])->bytes();
        test = findTest(name);
        if (!test) fail("there is no test '" + name + "'");
    }
    std::vector<Value> out;
    for (const SequencePtr all = iterate(input); const Value& item : all->items) {
        spend(1);
        const Value value = by_attribute ? attributeOf(item, attribute, nullptr) : item;
        Arguments rest;
        rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(next),
                               arguments.positional.end());
        rest.named = arguments.named;
        if ((test ? test(runtime, value, rest) : value.truth()) == keep) out.push_back(item);
    }
    return makeList(std::move(out));
}

Value attrFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "attr", {"name"}, 1);
    const std::string name = toText(bound[0])->bytes();
    if (!input.isDict()) return getAttribute(input, name);
    if (auto method = findMethod(input, name)) return *std::move(method);
    return Value::undefined("'dict' has no attribute '" + name + "'");
}

constexpr NamedFilter kFilters[] = {{"map", mapFilter},
                                    {"select", selectFilter<false, true>},
                                    {"reject", selectFilter<false, false>},
                                    {"selectattr", selectFilter<true, true>},
                                    {"rejectattr", selectFilter<true, false>},
                                    {"attr", attrFilter}};

}  // namespace

std::span<const NamedFilter> selectionFilters() { return kFilters; }

}  // namespace hearth::text::jinja
