#include "engine/text/jinja/value.h"

#include <cmath>
#include <functional>

namespace hearth::text::jinja {

namespace {

/// Dictionaries with more entries than this are searched by hash.
constexpr size_t kLinear = 8;

size_t hashOf(const Value& key) {
    switch (key.kind()) {
        case Kind::String: return std::hash<std::string_view>{}(key.text()->bytes());
        case Kind::Bool:
        case Kind::Int:
        case Kind::Float: return std::hash<double>{}(key.real());
        case Kind::None: return 1;
        case Kind::Undefined: return 2;
        case Kind::Object: return std::hash<const void*>{}(key.object().get());
        case Kind::Sequence:
            if (!key.sequence()->isList()) {
                checkStack();
                size_t hash = 3;
                for (const Value& item : key.sequence()->items) hash = hash * 31 + hashOf(item);
                return hash;
            }
            break;
        case Kind::Dict: break;
    }
    fail("a " + key.typeName() + " cannot be a key of a mapping");
}

thread_local std::vector<Value>* open_grave = nullptr;

}  // namespace

void bury(std::vector<Value>&& values) {
    if (values.empty()) return;
    if (open_grave) {
        for (Value& v : values)
            if (v.isSequence() || v.isDict() || v.isObject()) open_grave->push_back(std::move(v));
        values.clear();
        return;
    }
    std::vector<Value> grave = std::move(values);
    open_grave = &grave;
    while (!grave.empty()) {
        const Value last = std::move(grave.back());
        grave.pop_back();
    }
    open_grave = nullptr;
}

Value Value::undefined(std::string why) {
    Value value;
    value.value_ = Undefined{std::make_shared<const std::string>(std::move(why))};
    return value;
}

std::string Value::undefinedWhy() const {
    const auto* undefined = std::get_if<Undefined>(&value_);
    return undefined && undefined->why ? *undefined->why : "a value is undefined";
}

bool Value::truth() const {
    switch (kind()) {
        case Kind::Undefined:
        case Kind::None: return false;
        case Kind::Bool: return boolean();
        case Kind::Int: return integral() != 0;
        case Kind::Float: return real() != 0;
        case Kind::String: return text()->size() != 0;
        case Kind::Sequence: return !sequence()->items.empty();
        case Kind::Dict: return dict()->size() != 0;
        case Kind::Object: return true;
    }
    return false;
}

std::string Value::typeName() const {
    switch (kind()) {
        case Kind::Undefined: return "Undefined";
        case Kind::None: return "NoneType";
        case Kind::Bool: return "bool";
        case Kind::Int: return "int";
        case Kind::Float: return "float";
        case Kind::String: return "str";
        case Kind::Sequence: {
            constexpr const char* kNames[] = {"list", "tuple", "range", "dict_keys", "dict_values", "dict_items"};
            return kNames[static_cast<size_t>(sequence()->type)];
        }
        case Kind::Dict: return "dict";
        case Kind::Object: return object()->typeName();
    }
    return "object";
}

Value makeList(std::vector<Value> items) {
    auto list = std::make_shared<Sequence>(Sequence::Type::List, std::move(items));
    list->owned = true;
    return list;
}

Value makeTuple(std::vector<Value> items) {
    return std::make_shared<Sequence>(Sequence::Type::Tuple, std::move(items));
}

Value Object::call(Runtime&, Arguments&) { fail("'" + typeName() + "' cannot be called"); }

Dict::~Dict() {
    std::vector<Value> values;
    for (Entry& entry : entries_) {
        if (!entry.first.isString()) values.push_back(std::move(entry.first));
        if (!entry.second.isString()) values.push_back(std::move(entry.second));
    }
    bury(std::move(values));
}

template <typename Same>
std::optional<size_t> Dict::findHashed(size_t hash, Same same) const {
    if (entries_.size() <= kLinear) {
        for (size_t i = 0; i < entries_.size(); ++i)
            if (same(entries_[i].first)) return i;
        return std::nullopt;
    }
    const auto [first, last] = index_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
        spend(1);
        if (same(entries_[it->second].first)) return it->second;
    }
    return std::nullopt;
}

void Dict::set(Value key, Value value) {
    const size_t hash = hashOf(key);
    if (const auto old = findHashed(hash, [&](const Value& k) { return equal(k, key); })) {
        entries_[*old].second = std::move(value);
        return;
    }
    chargeMore(sizeof(Entry) + 4 * sizeof(void*));
    entries_.emplace_back(std::move(key), std::move(value));
    if (entries_.size() == kLinear + 1)
        for (size_t i = 0; i < entries_.size(); ++i) index_.emplace(hashOf(entries_[i].first), i);
    else if (entries_.size() > kLinear + 1) index_.emplace(hash, entries_.size() - 1);
}

const Value* Dict::find(const Value& key) const {
    const auto entry = findHashed(hashOf(key), [&](const Value& k) { return equal(k, key); });
    return entry ? &entries_[*entry].second : nullptr;
}

const Value* Dict::find(std::string_view key) const {
    const auto entry = findHashed(std::hash<std::string_view>{}(key),
                                  [&](const Value& k) { return k.isString() && k.text()->bytes() == key; });
    return entry ? &entries_[*entry].second : nullptr;
}

Value fromJson(const nlohmann::ordered_json& json, Mark mark) {
    checkStack();
    spend(1);
    using Type = nlohmann::ordered_json::value_t;
    switch (json.type()) {
        case Type::boolean: return json.get<bool>();
        case Type::number_integer: return Value(Int{json.get<int64_t>()});
        case Type::number_unsigned: return Value(Int{json.get<uint64_t>()});
        case Type::number_float: return json.get<double>();
        case Type::string: {
            const auto& bytes = json.get_ref<const std::string&>();
            checkStringSize(bytes.size());
            return Value::string(bytes, mark);
        }
        case Type::array: {
            std::vector<Value> items;
            items.reserve(json.size());
            for (const auto& item : json) items.push_back(fromJson(item, mark));
            return std::make_shared<Sequence>(Sequence::Type::List, std::move(items));
        }
        case Type::object: {
            auto dict = std::make_shared<Dict>();
            for (const auto& [key, item] : json.items()) dict->set(Value::string(key, mark), fromJson(item, mark));
            return DictPtr(std::move(dict));
        }
        default: return None{};
    }
}

}  // namespace hearth::text::jinja
