#include <algorithm>
#include <cmath>

#include "engine/text/jinja/value.h"

namespace hearth::text::jinja {

namespace {

bool sameKindOfSequence(const Sequence& a, const Sequence& b) { return a.type == b.type; }

bool equalNumbers(const Value& a, const Value& b) {
    if (a.isIntegral() && b.isIntegral()) return a.integral() == b.integral();
    return a.real() == b.real();
}

}  // namespace

bool equal(const Value& a, const Value& b) {
    if (a.isNumber() && b.isNumber()) return equalNumbers(a, b);
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
        case Kind::String: spendBytes(a.text()->size()); return a.text()->bytes() == b.text()->bytes();
        case Kind::Sequence: {
            const Sequence &x = *a.sequence(), &y = *b.sequence();
            if (!sameKindOfSequence(x, y) || x.items.size() != y.items.size()) return false;
            checkStack();
            spend(x.items.size());
            return std::equal(x.items.begin(), x.items.end(), y.items.begin(), equal);
        }
        case Kind::Dict: {
            if (a.dict()->size() != b.dict()->size()) return false;
            checkStack();
            spend(a.dict()->size());
            return std::all_of(a.dict()->entries().begin(), a.dict()->entries().end(), [&](const Dict::Entry& entry) {
                const Value* other = b.dict()->find(entry.first);
                return other && equal(entry.second, *other);
            });
        }
        case Kind::Object: return a.object() == b.object();
        default: return true;  // none, undefined
    }
}

bool less(const Value& a, const Value& b) {
    if (a.isUndefined()) fail(a.undefinedWhy());
    if (b.isUndefined()) fail(b.undefinedWhy());
    if (a.isIntegral() && b.isIntegral()) return a.integral() < b.integral();
    if (a.isNumber() && b.isNumber()) return a.real() < b.real();
    if (a.isString() && b.isString()) {
        spendBytes(std::min(a.text()->size(), b.text()->size()));
        return a.text()->bytes() < b.text()->bytes();  // byte order of UTF-8 is code point order
    }
    if (a.isSequence() && b.isSequence() && sameKindOfSequence(*a.sequence(), *b.sequence()) &&
        (a.sequence()->isList() || a.sequence()->type == Sequence::Type::Tuple)) {
        checkStack();
        const auto &x = a.sequence()->items, &y = b.sequence()->items;
        for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
            spend(1);
            if (!equal(x[i], y[i])) return less(x[i], y[i]);
        }
        return x.size() < y.size();
    }
    fail("'" + a.typeName() + "' and '" + b.typeName() + "' have no order");
}

bool contains(const Value& container, const Value& item) {
    switch (container.kind()) {
        case Kind::String: {
            if (!item.isString()) fail("'in <string>' needs a string on its left, not '" + item.typeName() + "'");
            return findText(container.text()->bytes(), item.text()->bytes()) != std::string::npos;
        }
        case Kind::Dict: return container.dict()->find(item) != nullptr;
        default: break;
    }
    const SequencePtr items = iterate(container);
    spend(items->items.size());
    return std::any_of(items->items.begin(), items->items.end(), [&](const Value& v) { return equal(v, item); });
}

SequencePtr iterate(const Value& value) {
    std::vector<Value> items;
    switch (value.kind()) {
        case Kind::Sequence: return value.sequence();
        case Kind::Undefined: break;
        case Kind::String: {
            const TextPtr& text = value.text();
            spend(text->length());
            if (Meter* meter = Meter::current();
                meter && text->length() * 2 * sizeof(Text) > meter->limits().memory_bytes)
                fail("it takes a text of " + std::to_string(text->length()) + " characters apart");
            for (size_t at = 0; at < text->size();) {
                const size_t end = at + charLength(text->bytes(), at);
                items.push_back(subText(text, at, end));
                at = end;
            }
            break;
        }
        case Kind::Dict:
            spend(value.dict()->size());
            for (const auto& [key, item] : value.dict()->entries()) items.push_back(key);
            break;
        default: fail("'" + value.typeName() + "' cannot be iterated");
    }
    return std::make_shared<Sequence>(Sequence::Type::List, std::move(items));
}

size_t lengthOf(const Value& value) {
    switch (value.kind()) {
        case Kind::Undefined: return 0;
        case Kind::String: return value.text()->length();
        case Kind::Sequence: return value.sequence()->items.size();
        case Kind::Dict: return value.dict()->size();
        default: fail("'" + value.typeName() + "' has no length");
    }
}

Mark overallMark(const Value& value) {
    checkStack();
    spend(1);
    const auto isInput = [](const Value& v) { return overallMark(v) == Mark::Input; };
    bool input = false;
    if (value.isString()) {
        input = value.text()->overall() == Mark::Input;
    } else if (value.isSequence()) {
        input = std::any_of(value.sequence()->items.begin(), value.sequence()->items.end(), isInput);
    } else if (value.isDict()) {
        const auto& entries = value.dict()->entries();
        input = std::any_of(entries.begin(), entries.end(),
                            [&](const auto& e) { return isInput(e.first) || isInput(e.second); });
    }
    return input ? Mark::Input : Mark::Trusted;
}

}  // namespace hearth::text::jinja
