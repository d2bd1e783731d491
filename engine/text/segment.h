#pragma once

#include <string>

namespace hearth::text {

/// A stretch of a prompt. What a template wrote is trusted: special-token text in it means the special token. What a user,
/// a tool or a document said is not: there it is plain text that somebody typed.
struct Segment {
    std::string text;
    bool trusted = false;

    bool operator==(const Segment&) const = default;
};

}  // namespace hearth::text
