#include "engine/sampling/schema_constraints.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/base/error.h"

namespace hearth::sampling {
namespace {

constexpr int max_depth = 64;
constexpr size_t max_alternatives = 1024, max_work = 200000;

/// Keywords that say nothing about which values are valid.
constexpr std::array annotations{
    "title",       "description", "default",          "examples",        "example",       "$schema",      "$id",
    "id",          "$comment",    "$anchor",          "deprecated",      "readOnly",      "writeOnly",    "$defs",
    "definitions", "$vocabulary", "contentMediaType", "contentEncoding", "discriminator", "externalDocs",
};

uint32_t kindByName(const Json& name) {
    if (!name.is_string()) throwSchema("the keyword type holds something else than names");
    const auto text = name.get<std::string>();
    if (text == "null") return kind_null;
    if (text == "boolean") return kind_boolean;
    if (text == "object") return kind_object;
    if (text == "array") return kind_array;
    if (text == "string") return kind_string;
    if (text == "integer") return kind_integer;
    if (text == "number") return kind_number;
    throwSchema("the keyword type holds the unknown name \"" + text + '"');
}

int64_t countOf(const std::string& key, const Json& value) {
    const double number = value.is_number() ? value.get<double>() : -1;
    if (number < 0 || number > 1e9 || number != static_cast<double>(static_cast<int64_t>(number)))
        throwSchema("the keyword " + key + " does not hold a usable number");
    return static_cast<int64_t>(number);
}

int64_t smaller(int64_t a, int64_t b) { return a < 0 ? b : b < 0 ? a : std::min(a, b); }

double numberOf(const gbnf::Bound& b) {
    const double magnitude = std::stod(b.digits + '.' + (b.fraction.empty() ? "0" : b.fraction));
    return b.negative ? -magnitude : magnitude;
}

/// The tighter of two bounds; `sign` 1 for lower ones, -1 for upper ones.
std::optional<gbnf::Bound> tighter(const std::optional<gbnf::Bound>& a, const std::optional<gbnf::Bound>& b, int sign) {
    if (!a) return b;
    if (!b) return a;
    const double da = sign * numberOf(*a), db = sign * numberOf(*b);
    if (da == db) return a->open ? a : b;
    return da > db ? a : b;
}

gbnf::Bound boundOf(const std::string& key, const Json& value, bool open) {
    if (!value.is_number()) throwSchema("the keyword " + key + " does not hold a number");
    auto bound = gbnf::Bound::parse(value.dump());
    if (!bound) throwSchema("the keyword " + key + " holds a number with too many digits");
    bound->open = open;
    return *bound;
}

size_t length(const std::string& text) {   // in code points
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

uint32_t kindOf(const Json& value) {
    if (value.is_null()) return kind_null;
    if (value.is_boolean()) return kind_boolean;
    if (value.is_object()) return kind_object;
    if (value.is_array()) return kind_array;
    if (value.is_string()) return kind_string;
    if (value.is_number_integer()) return kind_integer;
    const double number = value.get<double>();
    return number == static_cast<double>(static_cast<int64_t>(std::clamp(number, -9e18, 9e18))) ? kind_integer
                                                                                                : kind_fraction;
}

}  // namespace

void throwSchema(const std::string& why, const std::string& next_step) {
    throw Error("cannot use the JSON schema", why, next_step);
}

Json bothSchemas(const Json& a, const Json& b) {
    // One flat list in which each schema stands once: schemas that refer to each other then come back to a list that
    // has been seen, instead of growing for ever.
    Json list = Json::array();
    const auto add = [&](const Json& schema) {
        const bool says_nothing = schema == true || (schema.is_object() && schema.empty());
        if (!says_nothing && std::find(list.begin(), list.end(), schema) == list.end()) list.push_back(schema);
    };
    for (const Json* side : {&a, &b}) {
        const bool is_list =
            side->is_object() && side->size() == 1 && side->contains("allOf") && (*side)["allOf"].is_array();
        if (is_list)
            for (const Json& part : (*side)["allOf"]) add(part);
        else add(*side);
    }
    if (list.empty()) return true;
    if (list.size() == 1) return list[0];
    return {{"allOf", std::move(list)}};
}

const Json* Constraints::property(const std::string& name) const {
    for (const auto& [key, schema] : properties)
        if (key == name) return &schema;
    return nullptr;
}

bool Constraints::isRequired(const std::string& name) const {
    return std::find(required.begin(), required.end(), name) != required.end();
}

uint32_t Constraints::writtenKinds() const {
    if (kinds_given) return kinds;
    const uint32_t about = (object_given ? kind_object : 0u) | (array_given ? kind_array : 0u) |
                           (limitsStrings() ? kind_string : 0u) | (limitsNumbers() ? kind_number : 0u);
    return about ? about : kinds;
}

std::vector<Constraints> SchemaReader::read(const Json& schema, int depth) const {
    spend();
    if (depth > max_depth) throwSchema("the keyword $ref leads round in a circle, or schemas are nested too deep");
    if (schema.is_boolean()) return schema.get<bool>() ? std::vector<Constraints>(1) : std::vector<Constraints>();
    if (!schema.is_object())
        throwSchema("a schema must be an object, true or false, and not " + schema.dump().substr(0, 40));
    std::vector<Constraints> result{own(schema)};
    if (schema.contains("$ref")) {
        if (!schema["$ref"].is_string()) throwSchema("the keyword $ref does not hold a text");
        result = combine(result, read(resolve(schema["$ref"].get<std::string>()), depth + 1));
    }
    for (const char* key : {"allOf", "anyOf", "oneOf"}) {
        if (!schema.contains(key)) continue;
        const Json& list = schema[key];
        if (!list.is_array() || list.empty())
            throwSchema(std::string("the keyword ") + key + " does not hold a list of schemas");
        std::vector<std::vector<Constraints>> ways;
        for (const Json& part : list) ways.push_back(read(part, depth + 1));
        if (std::string_view(key) == "allOf") {
            for (const auto& part : ways) result = combine(result, part);
            continue;
        }
        // What stands beside oneOf helps to tell its alternatives apart.
        for (auto& way : ways) way = combine(result, way);
        if (std::string_view(key) == "oneOf") checkExclusive(ways, depth);
        result.clear();
        for (const auto& way : ways) result.insert(result.end(), way.begin(), way.end());
        if (result.size() > max_alternatives)
            throwSchema(std::string("the keyword ") + key + " makes too many alternatives");
    }
    return result;
}

void SchemaReader::spend() const {
    if (++work_ > max_work)
        throwSchema("its alternatives multiply beyond what can be looked at", "Use a smaller schema");
}

Constraints SchemaReader::own(const Json& schema) const {
    Constraints c;
    for (const auto& [key, value] : schema.items()) {
        if (std::find(annotations.begin(), annotations.end(), key) != annotations.end() || key.starts_with("x-"))
            continue;
        readKeyword(c, key, value, schema);
    }
    return c;
}

void SchemaReader::readKeyword(Constraints& c, const std::string& key, const Json& value, const Json& schema) const {
    if (key == "$ref" || key == "allOf" || key == "anyOf" || key == "oneOf") return;  // see read()
    if (key == "type") {
        c.kinds = 0;
        c.kinds_given = true;
        if (value.is_array())
            for (const Json& name : value) c.kinds |= kindByName(name);
        else c.kinds = kindByName(value);
    } else if (key == "enum" || key == "const") {
        if (key == "enum" && !value.is_array()) throwSchema("the keyword enum does not hold a list");
        std::vector<Json> values;
        if (key == "enum") values.assign(value.begin(), value.end());
        else values = {value};
        if (c.values)
            std::erase_if(values, [&](const Json& v) {
                return std::find(c.values->begin(), c.values->end(), v) == c.values->end();
            });
        c.values = std::move(values);
    } else if (key == "minimum" || key == "exclusiveMinimum") {
        c.low = tighter(c.low, boundOf(key, value, key != "minimum"), 1);
    } else if (key == "maximum" || key == "exclusiveMaximum") {
        c.high = tighter(c.high, boundOf(key, value, key != "maximum"), -1);
    } else if (key == "minLength") {
        c.min_length = countOf(key, value);
    } else if (key == "maxLength") {
        c.max_length = countOf(key, value);
    } else if (key == "pattern" || key == "format") {
        if (!value.is_string()) throwSchema("the keyword " + key + " does not hold a text");
        (key == "pattern" ? c.pattern : c.format) = value.get<std::string>();
        c.has_pattern |= key == "pattern";
    } else if (key == "properties") {
        if (!value.is_object()) throwSchema("the keyword properties does not hold an object");
        for (const auto& [name, property] : value.items()) c.properties.emplace_back(name, property);
        c.object_given = true;
    } else if (key == "required") {
        if (!value.is_array()) throwSchema("the keyword required does not hold a list");
        for (const Json& name : value) {
            if (!name.is_string()) throwSchema("the keyword required does not hold names");
            if (!c.isRequired(name.get<std::string>())) c.required.push_back(name.get<std::string>());
        }
        c.object_given = true;
    } else if (key == "additionalProperties") {
        c.additional = value;
        c.object_given = true;
    } else if (key == "minProperties" || key == "maxProperties") {
        (key == "minProperties" ? c.min_properties : c.max_properties) = countOf(key, value);
        c.object_given = true;
    } else if (key == "additionalItems" && (!schema.contains("items") || !schema["items"].is_array())) {
        return;  // older drafts: means nothing beside an `items` that is no list
    } else {
        readArrayKeyword(c, key, value);
    }
}

void SchemaReader::readArrayKeyword(Constraints& c, const std::string& key, const Json& value) const {
    if (key == "prefixItems" || (key == "items" && value.is_array())) {
        if (!value.is_array()) throwSchema("the keyword prefixItems does not hold a list");
        c.prefix.assign(value.begin(), value.end());
    } else if (key == "items" || key == "additionalItems") {
        c.items = value;
    } else if (key == "minItems") {
        c.min_items = countOf(key, value);
    } else if (key == "maxItems") {
        c.max_items = countOf(key, value);
    } else if (key == "uniqueItems" && value == false) {
        return;
    } else {
        throwSchema("the keyword " + key + " is not supported");
    }
    c.array_given = true;
}

const Json& SchemaReader::resolve(const std::string& reference) const {
    if (reference.empty() || reference[0] != '#')
        throwSchema("the keyword $ref leads out of the document: \"" + reference + '"');
    std::string pointer;
    for (size_t i = 1; i < reference.size(); ++i) {
        if (reference[i] != '%') {
            pointer += reference[i];
            continue;
        }
        const std::string hex = reference.substr(i + 1, 2);
        if (hex.size() != 2 || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
            throwSchema("the keyword $ref holds a wrong % escape: \"" + reference + '"');
        pointer += static_cast<char>(std::stoi(hex, nullptr, 16));
        i += 2;
    }
    try {
        return document_.at(Json::json_pointer(pointer));
    } catch (const Json::exception&) {
        throwSchema("the keyword $ref leads nowhere: \"" + reference + '"');
    }
}

std::vector<Constraints> SchemaReader::combine(const std::vector<Constraints>& a,
                                               const std::vector<Constraints>& b) const {
    if (a.size() * b.size() > max_alternatives) throwSchema("the keywords allOf and anyOf make too many alternatives");
    std::vector<Constraints> result;
    for (const Constraints& left : a)
        for (const Constraints& right : b) {
            spend();
            if (auto merged = merge(left, right)) result.push_back(std::move(*merged));
        }
    return result;
}

std::optional<Constraints> SchemaReader::merge(const Constraints& a, const Constraints& b) const {
    Constraints c;
    c.kinds = a.kinds & b.kinds;
    c.kinds_given = a.kinds_given || b.kinds_given;
    if (c.kinds == 0) return std::nullopt;
    c.values = a.values ? a.values : b.values;
    if (a.values && b.values)
        std::erase_if(*c.values, [&](const Json& v) {
            return std::find(b.values->begin(), b.values->end(), v) == b.values->end();
        });
    c.low = tighter(a.low, b.low, 1);
    c.high = tighter(a.high, b.high, -1);
    c.min_length = std::max(a.min_length, b.min_length);
    c.max_length = smaller(a.max_length, b.max_length);
    if (a.has_pattern && b.has_pattern && a.pattern != b.pattern)
        throwSchema("the keyword pattern stands twice for one value");
    c.has_pattern = a.has_pattern || b.has_pattern;
    c.pattern = a.has_pattern ? a.pattern : b.pattern;
    if (!a.format.empty() && !b.format.empty() && a.format != b.format)
        throwSchema("the keyword format stands twice for one value");
    c.format = a.format.empty() ? b.format : a.format;
    mergeArrays(c, a, b);
    mergeObjects(c, a, b);
    return c;
}

void SchemaReader::mergeArrays(Constraints& c, const Constraints& a, const Constraints& b) const {
    c.array_given = a.array_given || b.array_given;
    c.min_items = std::max(a.min_items, b.min_items);
    c.max_items = smaller(a.max_items, b.max_items);
    c.items = bothSchemas(a.items, b.items);
    const auto at = [](const Constraints& x, size_t i) -> const Json& {
        return i < x.prefix.size() ? x.prefix[i] : x.items;
    };
    for (size_t i = 0; i < std::max(a.prefix.size(), b.prefix.size()); ++i)
        c.prefix.push_back(bothSchemas(at(a, i), at(b, i)));
}

void SchemaReader::mergeObjects(Constraints& c, const Constraints& a, const Constraints& b) const {
    c.object_given = a.object_given || b.object_given;
    c.min_properties = std::max(a.min_properties, b.min_properties);
    c.max_properties = smaller(a.max_properties, b.max_properties);
    const auto beside = [](const Constraints& x, const std::string& name) {
        const Json* own = x.property(name);
        return own ? *own : x.additional.value_or(true);
    };
    for (const auto& [name, schema] : a.properties)
        c.properties.emplace_back(name, bothSchemas(schema, beside(b, name)));
    for (const auto& [name, schema] : b.properties)
        if (!a.property(name)) c.properties.emplace_back(name, bothSchemas(beside(a, name), schema));
    c.required = a.required;
    for (const std::string& name : b.required)
        if (!c.isRequired(name)) c.required.push_back(name);
    if (a.additional || b.additional)
        c.additional = bothSchemas(a.additional.value_or(true), b.additional.value_or(true));
}

std::optional<bool> SchemaReader::fits(const Constraints& c, const Json& value) const {
    const uint32_t kind = kindOf(value);
    if (!(c.kinds & kind)) return false;
    if (c.values && std::find(c.values->begin(), c.values->end(), value) == c.values->end()) return false;
    if (kind & kind_number) {
        const double number = value.get<double>();
        if (c.low && (number < numberOf(*c.low) || (c.low->open && number == numberOf(*c.low)))) return false;
        if (c.high && (number > numberOf(*c.high) || (c.high->open && number == numberOf(*c.high)))) return false;
    }
    if (kind == kind_string) {
        const auto size = static_cast<int64_t>(length(value.get<std::string>()));
        if (size < c.min_length || (c.max_length >= 0 && size > c.max_length)) return false;
        if (c.has_pattern || !c.format.empty()) return std::nullopt;
    }
    if ((kind == kind_array && c.array_given) || (kind == kind_object && c.object_given)) return std::nullopt;
    return true;
}

}  // namespace hearth::sampling
