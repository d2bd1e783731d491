#include "engine/sampling/schema_grammar.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/sampling/gbnf_text.h"
#include "engine/sampling/json_schema.h"
#include "engine/sampling/regex_grammar.h"
#include "engine/sampling/string_formats.h"
#include "engine/sampling/utf8.h"

namespace hearth::sampling {
namespace {

constexpr size_t max_schema = 4u << 20, max_grammar = 8u << 20, max_schemas = 20000;
constexpr int max_depth = 200;

/// Rules that need no schema, written when something uses them.
const std::map<std::string, std::string> basic_rules{
    // One space or none, or a new line with its indentation: enough for any usual layout, and it ends.
    {"ws", "(\" \" | \"\\n\" [ \\t]{0,64})?"},
    {"comma", "\",\" ws"},
    {"colon", "\":\" \" \"?"},
    {"null", "\"null\""},
    {"boolean", "\"true\" | \"false\""},
    {"integer", "\"-\"? (\"0\" | [1-9] [0-9]{0,17})"},
    {"number", "integer (\".\" [0-9]{1,17})? ([eE] [-+]? [0-9]{1,3})?"},
    {"hex", "[0-9a-fA-F]"},
    {"unit",
     "[0-9a-cA-CefEF] hex hex hex | [dD] [0-7] hex hex"
     " | [dD] [89abAB] hex hex \"\\\\u\" [dD] [c-fC-F] hex hex"},
    {"char", "[^\"\\\\\\x00-\\x1F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" unit)"},
    {"plain", "[^\"\\\\\\x00-\\x1F]"},
    {"string", "\"\\\"\" char* \"\\\"\""},
    {"member", "string colon value"},
    {"object", "\"{\" ws (member (comma member)* ws)? \"}\""},
    {"array", "\"[\" ws (value (comma value)* ws)? \"]\""},
    {"value", "null | boolean | number | string | object | array"},
};

std::string quoted(const std::string& inside) {
    return "\"\\\"\" " + (inside.empty() ? "" : inside + ' ') + "\"\\\"\"";
}

std::string alternatives(const std::vector<std::string>& ways) {
    std::string result;
    for (const std::string& way : ways) result += (result.empty() ? "" : " | ") + way;
    return result;
}

}  // namespace

std::string SchemaGrammar::write(const Json& document) {
    const Expression root = schemaRule(document);
    if (!root)
        throwSchema("no value can fulfil it", "Look for an empty enum, false, or limits that contradict each other");
    return "root ::= " + *root + '\n' + text_;
}

void SchemaGrammar::addRule(const std::string& name, const std::string& body) {
    text_ += name + " ::= " + body + '\n';
    if (text_.size() > max_grammar) throwSchema("its grammar becomes larger than 8 MiB", "Use a smaller schema");
}

std::string SchemaGrammar::rule(const std::string& body) {
    const auto [entry, is_new] = rules_by_body_.try_emplace(body, "r" + std::to_string(n_rules_));
    if (is_new) {
        ++n_rules_;
        addRule(entry->second, body);
    }
    return entry->second;
}

std::string SchemaGrammar::basic(const std::string& name) {
    if (!basics_.try_emplace(name, name).second) return name;
    const std::string& body = basic_rules.at(name);
    addRule(name, body);
    for (const auto& [other, unused] : basic_rules)   // names inside literals and classes only cost a rule too many
        if (body.find(other) != std::string::npos) basic(other);
    return name;
}

SchemaGrammar::Expression SchemaGrammar::schemaRule(const Json& schema) {
    if (schema == true || (schema.is_object() && schema.empty())) return anyValue();
    const auto [entry, is_new] = rules_by_schema_.try_emplace(schema.dump(), std::nullopt);
    if (!is_new) return entry->second;
    if (++n_schemas_ > max_schemas || ++depth_ > max_depth)
        throwSchema("it is too large or nested too deep", "Use a smaller schema");
    const std::string name = "s" + std::to_string(n_schemas_);
    entry->second =
        name;   // a reference back to here finds the name; if nothing is valid, a rule without an end says so
    std::vector<std::string> ways;
    for (const Constraints& c : reader_.read(schema))
        if (const Expression way = constrained(c)) ways.push_back(*way);
    --depth_;
    addRule(name, ways.empty() ? "[]" : alternatives(ways));
    if (ways.empty()) entry->second = std::nullopt;
    return entry->second;
}

SchemaGrammar::Expression SchemaGrammar::constrained(const Constraints& c) {
    if (c.values) return listed(c);
    const uint32_t kinds = c.writtenKinds();
    std::vector<std::string> ways;
    const auto add = [&](const Expression& way) {
        if (way) ways.push_back(*way);
    };
    if (kinds & kind_null) add(basic("null"));
    if (kinds & kind_boolean) add(basic("boolean"));
    if (kinds & kind_number) add(number(c, (kinds & kind_fraction) != 0));
    if (kinds & kind_string) add(text(c));
    if (kinds & kind_array) add(array(c));
    if (kinds & kind_object) add(object(c));
    if (ways.empty()) return std::nullopt;
    return ways.size() == 1 ? ways[0] : '(' + alternatives(ways) + ')';
}

SchemaGrammar::Expression SchemaGrammar::listed(const Constraints& c) {
    std::vector<std::string> ways;
    for (const Json& value : *c.values) {
        const auto fits = reader_.fits(c, value);
        if (!fits)
            throwSchema("the keyword enum (or const) stands beside keywords that its value " +
                            value.dump().substr(0, 60) + " cannot be checked against",
                        "Keep the enum alone");
        if (*fits) ways.push_back(gbnf::literal(value.dump()));
    }
    if (ways.empty()) return std::nullopt;
    return ways.size() == 1 ? ways[0] : '(' + alternatives(ways) + ')';
}

SchemaGrammar::Expression SchemaGrammar::number(const Constraints& c, bool fractions) {
    auto low = c.low, high = c.high;
    if (c.format == "int32" && !fractions) {
        if (!low) low = gbnf::Bound::parse("-2147483648");
        if (!high) high = gbnf::Bound::parse("2147483647");
    }
    if (!low && !high) return basic(fractions ? "number" : "integer");
    const std::string range = fractions ? gbnf::numberRange(low, high) : gbnf::integerRange(low, high);
    if (range.empty()) return std::nullopt;
    return rule(range);
}

SchemaGrammar::Expression SchemaGrammar::text(const Constraints& c) {
    const bool counted = c.min_length > 0 || c.max_length >= 0;
    if (c.max_length >= 0 && c.max_length < c.min_length) return std::nullopt;
    std::string format;
    if (!c.format.empty()) {
        const auto known = gbnf::stringFormat(c.format);
        if (!known) throwSchema("the keyword format names \"" + c.format + "\", which is not supported");
        format = *known;
    }
    if ((c.has_pattern && (counted || !format.empty())) || (counted && !format.empty()))
        throwSchema(std::string("the keyword ") + (c.has_pattern ? "pattern" : "format") +
                        " cannot be kept together with " + (counted ? "minLength or maxLength" : "format"),
                    "Say it in one pattern");
    if (!format.empty()) return quoted(rule(format));
    const std::string one = basic("char");
    if (c.has_pattern) return quoted(rule(gbnf::fromRegex(c.pattern, one)));
    if (!counted) return basic("string");
    return quoted(gbnf::times(one, c.min_length, c.max_length));
}

SchemaGrammar::Expression SchemaGrammar::array(const Constraints& c) {
    const std::string ws = basic("ws"), comma = basic("comma");
    int64_t max = c.max_items;
    std::vector<std::string> first;
    for (const Json& schema : c.prefix) {
        const auto n = static_cast<int64_t>(first.size());
        if (max >= 0 && n >= max) break;
        if (const Expression item = schemaRule(schema)) {
            first.push_back(*item);
        } else {
            max = n;
        }
    }
    const auto n_first = static_cast<int64_t>(first.size());
    const bool may_go_on = n_first == static_cast<int64_t>(c.prefix.size()) && (max < 0 || max > n_first);
    const Expression rest = may_go_on ? schemaRule(c.items) : std::nullopt;
    if (!rest && (max < 0 || max > n_first)) max = n_first;
    if (max >= 0 && max < c.min_items) return std::nullopt;

    // From the last item to the first: what may follow after i items.
    std::string tail;
    if (rest) {
        const int64_t begun = std::max<int64_t>(n_first, 1);   // the first item has no comma before it
        tail = gbnf::times('(' + comma + ' ' + *rest + ')', std::max<int64_t>(c.min_items - begun, 0),
                           max < 0 ? -1 : max - begun);
        if (max == begun) tail.clear();
        if (n_first == 0) tail = *rest + ' ' + tail;
    }
    for (int64_t i = n_first; i-- > 0;) {
        const std::string here =
            (i == 0 ? "" : comma + ' ') + first[static_cast<size_t>(i)] + (tail.empty() ? "" : ' ' + tail);
        tail = i == 0 ? here : i >= c.min_items ? '(' + rule(here) + ")?" : rule(here);
    }
    if (tail.empty()) return "\"[\" " + ws + " \"]\"";
    tail = '(' + tail + ' ' + ws + ')';
    return "\"[\" " + ws + ' ' + (c.min_items > 0 ? tail : tail + '?') + " \"]\"";
}

SchemaGrammar::Expression SchemaGrammar::object(const Constraints& c) {
    if (c.properties.empty() && c.required.empty()) return freeObject(c);
    std::vector<Property> properties;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name, const Json& schema) {
        names.push_back(name);
        const bool required = c.isRequired(name);
        const Expression value = schemaRule(schema);
        if (value) properties.push_back({name, *value, required});
        return value || !required;
    };
    for (const auto& [name, schema] : c.properties)
        if (!add(name, schema)) return std::nullopt;
    for (const std::string& name : c.required)
        if (!c.property(name) && !add(name, c.additional.value_or(true))) return std::nullopt;
    std::string others;
    if (c.additional)
        if (const Expression value = schemaRule(*c.additional)) others = otherProperty(*value, names);
    const auto n_required =
        std::count_if(properties.begin(), properties.end(), [](const Property& p) { return p.required; });
    if (c.min_properties > n_required)
        throwSchema("the keyword minProperties is not supported beside optional properties");
    if (c.max_properties >= 0 && (!others.empty() || c.max_properties < static_cast<int64_t>(properties.size())))
        throwSchema("the keyword maxProperties is not supported beside optional properties");
    const std::string list = propertyList(properties, others), ws = basic("ws");
    return "\"{\" " + ws + ' ' + (list.empty() ? "" : '(' + list + ' ' + ws + ')' + (n_required ? " " : "? ")) +
           "\"}\"";
}

SchemaGrammar::Expression SchemaGrammar::freeObject(const Constraints& c) {
    // The same name may come twice and counts once, so a lower limit above one could be missed.
    if (c.min_properties > 1) throwSchema("the keyword minProperties is not supported beyond 1");
    if (c.max_properties >= 0 && c.max_properties < c.min_properties) return std::nullopt;
    const Expression value =
        schemaRule(c.properties.empty() && !c.object_given ? Json(true) : c.additional.value_or(true));
    const std::string ws = basic("ws"), nothing = "\"{\" " + ws + " \"}\"";
    if (!value || c.max_properties == 0) return c.min_properties > 0 ? std::nullopt : Expression(nothing);
    if (*value == "value" && c.min_properties == 0 && c.max_properties < 0) return basic("object");
    const std::string member = rule(basic("string") + ' ' + basic("colon") + ' ' + *value);
    const std::string more = c.max_properties == 1
                                 ? ""
                                 : ' ' + gbnf::times('(' + basic("comma") + ' ' + member + ')', 0,
                                                     c.max_properties < 0 ? -1 : c.max_properties - 1);
    return "\"{\" " + ws + " (" + member + more + ' ' + ws + ')' + (c.min_properties > 0 ? "" : "?") + " \"}\"";
}

/// In their order, each with a comma before it unless it is the first that is written. Two rules a property: what may
/// stand from it on when something stands before it, and when nothing does. Never empty as a text; "" when there is
/// nothing to write.
std::string SchemaGrammar::propertyList(const std::vector<Property>& properties, const std::string& others) {
    const std::string comma = basic("comma"), colon = basic("colon");
    std::string later = others.empty() ? "" : '(' + comma + ' ' + others + ")*";
    std::string first = others.empty() ? "" : others + ' ' + later;
    for (size_t i = properties.size(); i-- > 0;) {
        const Property& p = properties[i];
        const std::string pair = rule(gbnf::literal(Json(p.name).dump()) + ' ' + colon + ' ' + p.value);
        const std::string with = pair + (later.empty() ? "" : ' ' + later);
        first = p.required || first.empty() ? rule(with) : rule(with + " | " + first);
        const std::string after = '(' + comma + ' ' + pair + ')' + (p.required ? "" : "?");
        later = rule(after + (later.empty() ? "" : ' ' + later));
    }
    return first;
}

std::string SchemaGrammar::otherProperty(const std::string& value, const std::vector<std::string>& names) {
    std::vector<std::string> sorted;
    for (const std::string& name :
         names)  // names of other properties are written without escapes, so these cannot come
        if (Json(name).dump().size() == name.size() + 2) sorted.push_back(name);
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return rule("\"\\\"\" " + nameOutside(sorted, 0) + ' ' + basic("colon") + ' ' + value);
}

/// The rest of a name and the closing quote, when the first `at` bytes are common to `names` (sorted, whole
/// characters) and the name must become none of them.
std::string SchemaGrammar::nameOutside(const std::vector<std::string>& names, size_t at) {
    const bool is_name = std::any_of(names.begin(), names.end(), [&](const std::string& n) { return n.size() == at; });
    std::vector<std::string> ways;
    if (!is_name) ways.push_back("\"\\\"\"");
    CharClass taken;
    for (size_t i = 0; i < names.size();) {
        if (names[i].size() == at) {
            ++i;
            continue;
        }
        Utf8Partial utf8;
        size_t end = at;
        while (utf8.push(static_cast<uint8_t>(names[i][end++])) == Utf8Partial::Result::More) {
        }
        const std::string character = names[i].substr(at, end - at);
        std::vector<std::string> below;
        for (; i < names.size() && names[i].compare(at, end - at, character) == 0; ++i) below.push_back(names[i]);
        taken.emplace_back(utf8.code, utf8.code);
        if (end > 400)
            throwSchema("the keyword additionalProperties beside a property with a very long name is not supported");
        ways.push_back(gbnf::literal(character) + ' ' + nameOutside(below, end));
    }
    const CharClass plain{{0x20, 0x21}, {0x23, 0x5B}, {0x5D, max_code_point}};
    ways.push_back(gbnf::characterClass(gbnf::difference(plain, normalised(std::move(taken)))) + ' ' + basic("plain") +
                   "* \"\\\"\"");
    return rule(alternatives(ways));
}

std::string grammarFromSchema(std::string_view schema_text) {
    if (schema_text.size() > max_schema) throwSchema("it is larger than 4 MiB", "Use a smaller schema");
    Json document;
    try {
        document = Json::parse(schema_text, [](int depth, Json::parse_event_t, Json&) {
            if (depth > 500) throwSchema("it is nested too deep", "Use a smaller schema");
            return true;
        });
    } catch (const Json::parse_error& error) {
        throwSchema(std::string("it is not valid JSON (at byte ") + std::to_string(error.byte) + ')',
                    "Correct the text");
    } catch (const Json::exception&) {
        throwSchema("it holds a number that is too large", "Use a smaller number");
    }
    return SchemaGrammar(document).write(document);
}

}  // namespace hearth::sampling
