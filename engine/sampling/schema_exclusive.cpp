#include <algorithm>

#include "engine/sampling/schema_constraints.h"

/// oneOf asks for exactly one true alternative. A grammar joins them, which is the same only where no text written
/// for one is valid for another: that is proved here, or the schema is refused.
namespace hearth::sampling {
namespace {

constexpr int max_depth = 8;

bool rangesApart(const Constraints& a, const Constraints& b) {
    const auto above = [](const std::optional<gbnf::Bound>& low, const std::optional<gbnf::Bound>& high) {
        if (!low || !high) return false;
        const auto number = [](const gbnf::Bound& x) {
            return (x.negative ? -1 : 1) * std::stod(x.digits + '.' + (x.fraction.empty() ? "0" : x.fraction));
        };
        const double l = number(*low), h = number(*high);
        return l > h || (l == h && (low->open || high->open));
    };
    return above(a.low, b.high) || above(b.low, a.high);
}

bool lengthsApart(const Constraints& a, const Constraints& b) {
    return (a.max_length >= 0 && a.max_length < b.min_length) || (b.max_length >= 0 && b.max_length < a.min_length);
}

bool sizesApart(const Constraints& a, const Constraints& b) {
    return (a.max_items >= 0 && a.max_items < b.min_items) || (b.max_items >= 0 && b.max_items < a.min_items);
}

}  // namespace

void SchemaReader::checkExclusive(const std::vector<std::vector<Constraints>>& ways, int depth) const {
    for (size_t i = 0; i < ways.size(); ++i)
        for (size_t j = 0; j < ways.size(); ++j) {
            if (i == j) continue;
            for (const Constraints& written : ways[i])
                for (const Constraints& other : ways[j])
                    if (!excludes(written, other, depth))
                        throwSchema(
                            "the keyword oneOf has alternatives that can be true at once (number " +
                                std::to_string(i + 1) + " and number " + std::to_string(j + 1) + ')',
                            "Use anyOf, or make the alternatives differ by type or by a required property with const");
        }
}

bool SchemaReader::excludes(const Constraints& written, const Constraints& other, int depth) const {
    spend();
    if (depth > max_depth) return false;
    if (written.values)
        return std::all_of(written.values->begin(), written.values->end(), [&](const Json& value) {
            return fits(written, value) == false || fits(other, value) == false;
        });
    const uint32_t kinds = written.writtenKinds() & other.kinds;
    if (other.values)
        return std::all_of(other.values->begin(), other.values->end(),
                           [&](const Json& value) { return fits(written, value) == false; });
    if (kinds & (kind_null | kind_boolean)) return false;
    if ((kinds & kind_number) && !rangesApart(written, other)) return false;
    if ((kinds & kind_string) && !lengthsApart(written, other)) return false;
    if ((kinds & kind_array) && !sizesApart(written, other)) return false;
    return !(kinds & kind_object) || objectsExclude(written, other, depth);
}

bool SchemaReader::objectsExclude(const Constraints& written, const Constraints& other, int depth) const {
    const auto schemasExclude = [&](const Json& a, const Json& b) {
        const auto left = read(a, depth + 1), right = read(b, depth + 1);
        return std::all_of(left.begin(), left.end(), [&](const Constraints& l) {
            return std::all_of(right.begin(), right.end(),
                               [&](const Constraints& r) { return excludes(l, r, depth + 1); });
        });
    };
    // A property that the other needs and that is never written here, or always differently.
    const bool writes_more = (written.additional && *written.additional != false) ||
                             (written.properties.empty() && written.required.empty() && !written.additional);
    for (const std::string& name : other.required) {
        const Json* here = written.property(name);
        if (!here && !writes_more && !written.isRequired(name)) return true;
        if (const Json* there = other.property(name); here && there && schemasExclude(*here, *there)) return true;
    }
    // A property that is always written here and that the other forbids, or wants otherwise.
    for (const std::string& name : written.required) {
        const Json* there = other.property(name);
        if (!there && other.additional && *other.additional == false) return true;
        if (const Json* here = written.property(name); here && there && schemasExclude(*here, *there)) return true;
    }
    return false;
}

}  // namespace hearth::sampling
