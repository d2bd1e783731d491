#include <algorithm>

#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/library.h"
#include "engine/text/jinja/runtime.h"

namespace hearth::text::jinja {

namespace {

Value lengthFilter(Runtime&, const Value& input, Arguments&) { return Value::integer(lengthOf(input)); }

Value firstFilter(Runtime&, const Value& input, Arguments&) {
    const SequencePtr items = iterate(input);
    return items->items.empty() ? Value::undefined("there is no first item, the sequence is empty")
                                : items->items.front();
}

Value lastFilter(Runtime&, const Value& input, Arguments&) {
    const SequencePtr items = iterate(input);
    return items->items.empty() ? Value::undefined("there is no last item, the sequence is empty")
                                : items->items.back();
}

Value defaultFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "default", {"default_value", "boolean"}, 0);
    const bool replace = input.isUndefined() || (bound.truth(1, false) && !input.truth());
    return !replace ? input : bound.has(0) ? bound[0] : Value::string("");
}

Value joinFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "join", {"d", "attribute"}, 0);
    const TextPtr separator = bound.has(0) ? toText(bound[0]) : makeText("");
    TextBuilder builder;
    bool first = true;
    for (const SequencePtr all = iterate(input); const Value& item : all->items) {
        if (!first) builder.append(*separator);
        first = false;
        spend(1);
        const bool by_attribute = bound.has(1) && !bound[1].isNone();
        builder.append(*toText(by_attribute ? attributeOf(item, bound[1], nullptr) : item));
    }
    return builder.finish();
}

Value listFilter(Runtime&, const Value& input, Arguments&) {
    const SequencePtr items = iterate(input);
    spend(items->items.size());
    return makeList(items->items);
}

Value reverseFilter(Runtime&, const Value& input, Arguments&) {
    const Value step{Int{-1}};
    if (input.isString()) return sliceOf(input, nullptr, nullptr, &step);
    const SequencePtr items = iterate(input);
    spend(items->items.size());
    return makeList({items->items.rbegin(), items->items.rend()});
}

Value itemsFilter(Runtime& runtime, const Value& input, Arguments&) {
    if (input.isUndefined()) return makeList({});
    if (!input.isDict()) fail("'items' needs a mapping, not '" + input.typeName() + "'");
    Arguments none;
    return makeList(runtime.callValue(*findMethod(input, "items"), none).sequence()->items);
}

Value sumFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "sum", {"attribute", "start"}, 0);
    Value total = bound.has(1) ? bound[1] : Value(Int{0});
    if (total.isString()) fail("'sum' does not add strings");
    for (const SequencePtr all = iterate(input); const Value& item : all->items) {
        spend(1);
        const bool by_attribute = bound.has(0) && !bound[0].isNone();
        total = applyOperator(Operator::Add, total, by_attribute ? attributeOf(item, bound[0], nullptr) : item);
    }
    return total;
}

template <bool largest>
Value extremeFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, largest ? "max" : "min", {"case_sensitive", "attribute"}, 0);
    const auto keyOf = [&](const Value& item) {
        const Value key = bound.has(1) && !bound[1].isNone() ? attributeOf(item, bound[1], nullptr) : item;
        return bound.truth(0, false) ? key : ignoreCase(key);
    };
    const SequencePtr items = iterate(input);
    if (items->items.empty()) return Value::undefined("there is nothing to choose from, the sequence is empty");
    Value best = items->items[0], best_key = keyOf(best);
    for (const Value& item : items->items) {
        spend(1);
        const Value key = keyOf(item);
        if (largest ? less(best_key, key) : less(key, best_key)) {
            best = item;
            best_key = key;
        }
    }
    return best;
}

/// Sorts by keys; equal ones keep their order, also when reversed.
std::vector<Value> sortBy(std::vector<std::pair<Value, Value>> keyed, bool reverse) {
    std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        spend(1);
        return reverse ? less(b.first, a.first) : less(a.first, b.first);
    });
    std::vector<Value> out;
    for (auto& [key, value] : keyed) out.push_back(std::move(value));
    return out;
}

Value sortFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "sort", {"reverse", "case_sensitive", "attribute"}, 0);
    const bool by_attribute = bound.has(2) && !bound[2].isNone(), ignore = !bound.truth(1, false);
    std::vector<Value> attributes;
    if (by_attribute && bound[2].isString()) {
        for (const TextPtr& name : splitText(bound.text(2), makeText(",").get(), -1, false))
            attributes.emplace_back(name);
    } else if (by_attribute) {
        attributes.push_back(bound[2]);
    }
    std::vector<std::pair<Value, Value>> keyed;
    for (const SequencePtr all = iterate(input); const Value& item : all->items) {
        spend(1);
        Value key = ignore ? ignoreCase(item) : item;
        if (by_attribute) {
            std::vector<Value> keys;
            for (const Value& attribute : attributes) {
                const Value part = attributeOf(item, attribute, nullptr);
                keys.push_back(ignore ? ignoreCase(part) : part);
            }
            key = makeList(std::move(keys));
        }
        keyed.emplace_back(std::move(key), item);
    }
    return makeList(sortBy(std::move(keyed), bound.truth(0, false)));
}

Value dictSortFilter(Runtime& runtime, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "dictsort", {"case_sensitive", "by", "reverse"}, 0);
    const std::string by = bound.text(1, makeText("key"))->bytes();
    if (by != "key" && by != "value") fail("'dictsort' sorts by 'key' or 'value'");
    Arguments none;
    std::vector<std::pair<Value, Value>> keyed;
    for (const Value pairs = itemsFilter(runtime, input, none); const Value& item : pairs.sequence()->items) {
        spend(1);
        const Value& key = item.sequence()->items[by == "key" ? 0 : 1];
        keyed.emplace_back(bound.truth(0, false) ? key : ignoreCase(key), item);
    }
    return makeList(sortBy(std::move(keyed), bound.truth(2, false)));
}

Value uniqueFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "unique", {"case_sensitive", "attribute"}, 0);
    Dict seen;
    std::vector<Value> out;
    for (const SequencePtr all = iterate(input); const Value& item : all->items) {
        spend(1);
        Value key = bound.has(1) && !bound[1].isNone() ? attributeOf(item, bound[1], nullptr) : item;
        if (!bound.truth(0, false)) key = ignoreCase(key);
        if (seen.find(key)) continue;
        seen.set(std::move(key), Value(true));
        out.push_back(item);
    }
    return makeList(std::move(out));
}

Value batchFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "batch", {"linecount", "fill_with"}, 1);
    const size_t count = requireSize(bound[0], "'batch'");
    if (count == 0) fail("'batch' needs a size");
    std::vector<Value> out, row;
    for (const SequencePtr all = iterate(input); const Value& item : all->items) {
        spend(1);
        if (row.size() == count) {
            out.push_back(makeList(std::move(row)));
            row.clear();
        }
        row.push_back(item);
    }
    if (!row.empty()) {
        if (bound.has(1) && !bound[1].isNone()) {
            spend(count);
            if (count > 1'000'000) fail("'batch' is too large");
            row.resize(count, bound[1]);
        }
        out.push_back(makeList(std::move(row)));
    }
    return makeList(std::move(out));
}

Value sliceFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "slice", {"slices", "fill_with"}, 1);
    const size_t slices = requireSize(bound[0], "'slice'");
    if (slices == 0 || slices > 1'000'000) fail("'slice' needs a number of slices");
    spend(slices);
    const SequencePtr items = iterate(input);
    const size_t each = items->items.size() / slices, longer = items->items.size() % slices;
    std::vector<Value> out;
    size_t begin = 0;
    for (size_t i = 0; i < slices; ++i) {
        const size_t n = each + (i < longer ? 1 : 0);
        const auto from = items->items.begin() + static_cast<std::ptrdiff_t>(begin);
        std::vector<Value> part(from, from + static_cast<std::ptrdiff_t>(n));
        if (bound.has(1) && !bound[1].isNone() && i >= longer) part.push_back(bound[1]);
        out.push_back(makeList(std::move(part)));
        begin += n;
    }
    return makeList(std::move(out));
}

Value groupByFilter(Runtime&, const Value& input, Arguments& arguments) {
    const Bound bound(arguments, "groupby", {"attribute", "default", "case_sensitive"}, 1);
    const bool sensitive = bound.truth(2, false);
    std::vector<std::pair<Value, Value>> keyed;
    for (const SequencePtr all = iterate(input); const Value& item : all->items) {
        spend(1);
        const Value key = attributeOf(item, bound[0], bound.get(1));
        keyed.emplace_back(sensitive ? key : ignoreCase(key), item);
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return less(a.first, b.first); });
    std::vector<Value> out;
    for (size_t i = 0; i < keyed.size();) {
        std::vector<Value> members;
        size_t end = i;
        while (end < keyed.size() && equal(keyed[end].first, keyed[i].first)) members.push_back(keyed[end++].second);
        const Value name = attributeOf(members[0], bound[0], bound.get(1));
        auto pair =
            std::make_shared<Sequence>(Sequence::Type::Tuple, std::vector<Value>{name, makeList(std::move(members))});
        pair->group = true;
        out.emplace_back(std::move(pair));
        i = end;
    }
    return makeList(std::move(out));
}

constexpr NamedFilter kFilters[] = {
    {"length", lengthFilter},     {"count", lengthFilter}, {"first", firstFilter},       {"last", lastFilter},
    {"default", defaultFilter},   {"d", defaultFilter},    {"join", joinFilter},         {"list", listFilter},
    {"reverse", reverseFilter},   {"items", itemsFilter},  {"sum", sumFilter},           {"min", extremeFilter<false>},
    {"max", extremeFilter<true>}, {"sort", sortFilter},    {"dictsort", dictSortFilter}, {"unique", uniqueFilter},
    {"batch", batchFilter},       {"slice", sliceFilter},  {"groupby", groupByFilter}};

}  // namespace

std::span<const NamedFilter> listFilters() { return kFilters; }

Value ignoreCase(const Value& value) { return value.isString() ? Value(changeCase(value.text(), Case::Lower)) : value; }

Value attributeOf(const Value& item, const Value& attribute, const Value* fallback) {
    const auto step = [&](const Value& object, const Value& key) {
        Value value = getItem(object, key);
        return value.isUndefined() && fallback ? *fallback : value;
    };
    if (!attribute.isString()) return step(item, attribute);
    Value value = item;
    for (const TextPtr& part : splitText(attribute.text(), makeText(".").get(), -1, false)) {
        const std::string& name = part->bytes();
        const bool is_number =
            !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == std::string::npos;
        value = step(value, is_number ? Value(Int{std::stoi(name)}) : Value(part));
    }
    return value;
}

}  // namespace hearth::text::jinja
