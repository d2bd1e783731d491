#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/pre_tokenizer.h"

namespace hearth::text {

/// Passes that a backtracking matcher could not do in linear time.
inline constexpr std::string_view kTrailingSpacePass = "trailing white space";
inline constexpr std::string_view kDigitGroupsPass = "three digits from the right, before a word boundary";
inline constexpr std::string_view kDigitBordersPass = "borders of three digits from the right";

/// One rule: the names it goes by, its passes (regular expressions, or one of the names above), what else it says.
struct SplitRule {
    std::vector<std::string_view> names;
    std::vector<std::string> passes;
    SplitTraits traits;
};

std::span<const SplitRule> splitRules();
/// nullptr when no rule has that name.
const SplitRule* findSplitRule(std::string_view name);

}  // namespace hearth::text
