#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/sampling/number_range.h"

namespace hearth::sampling {

using Json = nlohmann::ordered_json;

/// Kinds of JSON values, as bits. Whole and fractional numbers are told apart, so "integer" and "number" intersect.
enum : uint32_t {
    kind_null = 1,
    kind_boolean = 2,
    kind_object = 4,
    kind_array = 8,
    kind_string = 16,
    kind_integer = 32,
    kind_fraction = 64,
    kind_number = kind_integer | kind_fraction,
    kind_all = 127,
};

/// One conjunction of constraints: what a schema says once references are followed, allOf merged, and the
/// alternatives of anyOf and oneOf taken apart.
struct Constraints {
    uint32_t kinds = kind_all;
    bool kinds_given = false;
    std::optional<std::vector<Json>> values;  ///< enum, const

    std::optional<gbnf::Bound> low, high;
    int64_t min_length = 0, max_length = -1;  ///< -1 = no limit, below too
    std::string pattern, format;
    bool has_pattern = false;

    std::vector<Json> prefix;  ///< schemas of the first items
    Json items = true;  ///< schema of those behind
    int64_t min_items = 0, max_items = -1;
    bool array_given = false;

    std::vector<std::pair<std::string, Json>> properties;
    std::vector<std::string> required;
    std::optional<Json> additional;  ///< schema of properties not named; unset = the schema says nothing
    int64_t min_properties = 0, max_properties = -1;
    bool object_given = false;

    const Json* property(const std::string& name) const;
    bool isRequired(const std::string& name) const;
    bool limitsNumbers() const { return low || high; }
    bool limitsStrings() const { return min_length > 0 || max_length >= 0 || has_pattern || !format.empty(); }
    /// The kinds that Hearth writes: those given, else those that the other keywords are about, else all.
    uint32_t writtenKinds() const;
};

/// Takes the schemas of one document apart. Throws Error naming a keyword that cannot be honoured.
class SchemaReader {
public:
    explicit SchemaReader(const Json& document) : document_(document) {}

    /// The alternatives of a schema; none when nothing is valid.
    std::vector<Constraints> read(const Json& schema, int depth = 0) const;
    /// Whether a value fulfils all constraints; nullopt when that is too hard to say here.
    std::optional<bool> fits(const Constraints& c, const Json& value) const;

private:
    Constraints own(const Json& schema) const;
    void readKeyword(Constraints& c, const std::string& key, const Json& value, const Json& schema) const;
    void readArrayKeyword(Constraints& c, const std::string& key, const Json& value) const;
    std::vector<Constraints> combine(const std::vector<Constraints>& a, const std::vector<Constraints>& b) const;
    /// nullopt when the two contradict each other.
    std::optional<Constraints> merge(const Constraints& a, const Constraints& b) const;
    void mergeObjects(Constraints& result, const Constraints& a, const Constraints& b) const;
    void mergeArrays(Constraints& result, const Constraints& a, const Constraints& b) const;
    const Json& resolve(const std::string& reference) const;
    /// Throws unless no value that is written for one alternative is valid for another.
    void checkExclusive(const std::vector<std::vector<Constraints>>& ways, int depth) const;
    bool excludes(const Constraints& written, const Constraints& other, int depth) const;
    bool objectsExclude(const Constraints& written, const Constraints& other, int depth) const;

    void spend() const;

    const Json& document_;
    mutable size_t work_ = 0;  ///< schemas read so far: alternatives within alternatives can multiply without end
};

/// Both schemas at once.
Json bothSchemas(const Json& a, const Json& b);
[[noreturn]] void throwSchema(const std::string& why,
                              const std::string& next_step = "Leave the keyword out or say it differently");

}  // namespace hearth::sampling
