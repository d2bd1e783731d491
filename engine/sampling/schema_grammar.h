#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/sampling/schema_constraints.h"

namespace hearth::sampling {

/// Writes the rules of a schema. Expressions are GBNF that can stand in a sequence; nullopt = no value is valid.
class SchemaGrammar {
public:
    explicit SchemaGrammar(const Json& document) : reader_(document) {}
    std::string write(const Json& document);

private:
    using Expression = std::optional<std::string>;

    /// A rule for the schema, made once for equal schemas, so that references may lead back to where they stand.
    Expression schemaRule(const Json& schema);
    Expression constrained(const Constraints& c);
    Expression listed(const Constraints& c);
    Expression number(const Constraints& c, bool fractions);
    Expression text(const Constraints& c);
    Expression array(const Constraints& c);
    Expression object(const Constraints& c);
    Expression freeObject(const Constraints& c);

    struct Property {
        std::string name, value;
        bool required;
    };
    std::string propertyList(const std::vector<Property>& properties, const std::string& others);
    /// One more property whose name is none of `names`.
    std::string otherProperty(const std::string& value, const std::vector<std::string>& names);
    std::string nameOutside(const std::vector<std::string>& names, size_t at);

    /// Name of a rule with this body; equal bodies share one.
    std::string rule(const std::string& body);
    std::string basic(const std::string& name);
    void addRule(const std::string& name, const std::string& body);
    std::string anyValue() { return basic("value"); }

    SchemaReader reader_;
    std::string text_;
    std::map<std::string, std::string> rules_by_body_, basics_;
    std::map<std::string, Expression> rules_by_schema_;
    size_t n_rules_ = 0, n_schemas_ = 0;
    int depth_ = 0;
};

}  // namespace hearth::sampling
