#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/text/jinja/text.h"

/// Values of the template language, with Python's semantics.
namespace hearth::text::jinja {

__extension__ typedef __int128 Int;  ///< templates' integers; overflow is an error

class Value;
class Runtime;
struct Sequence;
class Dict;
struct Object;
using SequencePtr = std::shared_ptr<Sequence>;
using DictPtr = std::shared_ptr<const Dict>;
using ObjectPtr = std::shared_ptr<Object>;

struct Undefined {
    std::shared_ptr<const std::string> why;  ///< "'x' is undefined"
};
struct None {};

enum class Kind { Undefined, None, Bool, Int, Float, String, Sequence, Dict, Object };

class Value {
public:
    Value() = default;  ///< undefined
    Value(None) : value_(None{}) {}
    Value(bool b) : value_(b) {}
    Value(Int i) : value_(i) {}
    Value(double d) : value_(d) {}
    Value(TextPtr text) : value_(std::move(text)) {}
    Value(SequencePtr sequence) : value_(std::move(sequence)) {}
    Value(DictPtr dict) : value_(std::move(dict)) {}
    Value(ObjectPtr object) : value_(std::move(object)) {}
    Value(const char*) = delete;
    static Value undefined(std::string why);
    static Value integer(size_t n) { return Value(static_cast<Int>(n)); }
    static Value string(std::string bytes, Mark mark = Mark::Trusted) {
        return Value(makeText(std::move(bytes), mark));
    }

    Kind kind() const noexcept { return static_cast<Kind>(value_.index()); }
    bool isUndefined() const noexcept { return kind() == Kind::Undefined; }
    bool isNone() const noexcept { return kind() == Kind::None; }
    bool isString() const noexcept { return kind() == Kind::String; }
    bool isSequence() const noexcept { return kind() == Kind::Sequence; }
    bool isDict() const noexcept { return kind() == Kind::Dict; }
    bool isObject() const noexcept { return kind() == Kind::Object; }
    /// bool counts as an integer, as in Python.
    bool isIntegral() const noexcept { return kind() == Kind::Int || kind() == Kind::Bool; }
    bool isNumber() const noexcept { return isIntegral() || kind() == Kind::Float; }

    bool boolean() const { return std::get<bool>(value_); }
    Int integral() const { return kind() == Kind::Bool ? Int{boolean()} : std::get<Int>(value_); }
    /// Of a number.
    double real() const { return kind() == Kind::Float ? std::get<double>(value_) : static_cast<double>(integral()); }
    const TextPtr& text() const { return std::get<TextPtr>(value_); }
    const SequencePtr& sequence() const { return std::get<SequencePtr>(value_); }
    const DictPtr& dict() const { return std::get<DictPtr>(value_); }
    const ObjectPtr& object() const { return std::get<ObjectPtr>(value_); }
    /// Of undefined: "'x' is undefined".
    std::string undefinedWhy() const;

    /// Python's truth value.
    bool truth() const;
    /// Python's type name, for messages.
    std::string typeName() const;

private:
    std::variant<Undefined, None, bool, Int, double, TextPtr, SequencePtr, DictPtr, ObjectPtr> value_;
};

/// Takes values apart without recursion, however deep they are nested.
void bury(std::vector<Value>&& values);

/// A list, a tuple, or something that is iterated like one.
struct Sequence : Charged {
    enum class Type { List, Tuple, Range, Keys, Values, Items };

    Sequence(Type sequence_type, std::vector<Value> values)
        : Charged(sizeof(Sequence) + values.size() * sizeof(Value)), type(sequence_type), items(std::move(values)) {}
    ~Sequence() { bury(std::move(items)); }
    bool isList() const { return type == Type::List; }
    void charge(size_t values) { chargeMore(values * sizeof(Value)); }

    Type type;
    std::vector<Value> items;
    bool owned = false;       ///< a list the template made itself: it may append to it and take from it
    bool remembered = false;  ///< the runtime empties it at the end, for it may contain itself
    bool group = false;       ///< of `groupby`: a pair that is also known by .grouper and .list
    Int range_start = 0, range_stop = 0, range_step = 1;
};

Value makeList(std::vector<Value> items);
Value makeTuple(std::vector<Value> items);

/// A mapping in insertion order. Filled before it is shared, never changed afterwards.
class Dict : public Charged {
public:
    using Entry = std::pair<Value, Value>;

    Dict() : Charged(sizeof(Dict)) {}
    ~Dict();
    /// Replaces the value of an equal key. Throws TemplateError for a key without a hash (a list, a mapping).
    void set(Value key, Value value);
    const Value* find(const Value& key) const;
    const Value* find(std::string_view key) const;
    const std::vector<Entry>& entries() const noexcept { return entries_; }
    size_t size() const noexcept { return entries_.size(); }

private:
    template <typename Same>
    std::optional<size_t> findHashed(size_t hash, Same same) const;

    std::vector<Entry> entries_;
    std::unordered_multimap<size_t, size_t> index_;  ///< hash → entry, once there are more than a few
};

/// Arguments of a call.
struct Arguments {
    std::vector<Value> positional;
    std::vector<std::pair<std::string, Value>> named;
};

/// Everything else: functions, macros, namespaces, the loop variable.
struct Object : Charged, std::enable_shared_from_this<Object> {
    explicit Object(size_t bytes) : Charged(bytes) {}
    virtual ~Object() = default;
    virtual std::string typeName() const = 0;
    virtual std::optional<Value> attribute(std::string_view) { return std::nullopt; }
    virtual bool callable() const { return false; }
    virtual Value call(Runtime& runtime, Arguments& arguments);
};

bool equal(const Value& a, const Value& b);
/// Python's a < b. Throws TemplateError for types without an order.
bool less(const Value& a, const Value& b);
/// Python's `item in container`.
bool contains(const Value& container, const Value& item);
/// The items that a loop over `value` sees. Throws TemplateError if it cannot be iterated.
SequencePtr iterate(const Value& value);
/// len(value). Throws TemplateError.
size_t lengthOf(const Value& value);
/// Input if any string inside is.
Mark overallMark(const Value& value);

/// Python's str() and repr().
TextPtr toText(const Value& value);
TextPtr repr(const Value& value);
std::string formatInt(Int value);
std::string formatFloat(double value);

/// JSON from outside; its strings get `mark`.
Value fromJson(const nlohmann::ordered_json& json, Mark mark);

}  // namespace hearth::text::jinja
