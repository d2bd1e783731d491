#pragma once

#include <string>
#include <string_view>

namespace hearth::sampling {

/// A grammar (GBNF) whose texts are all JSON documents valid for the schema: compact or with one space or line break
/// where JSON allows one, properties in the order of the schema. Properties that the schema does not name are written
/// only where `additionalProperties` asks for them or none are named at all. Draft 2020-12, and of older drafts
/// `definitions` and `items` as a list; only references into the same document.
///
/// Throws Error for a schema that cannot be honoured wholly, naming the keyword: nothing is quietly left out.
std::string grammarFromSchema(std::string_view schema_text);

}  // namespace hearth::sampling
