#pragma once

#include <string>

#include "engine/base/error.h"

namespace hearth::text {

/// A chat template that cannot be read or stops while it runs.
class TemplateError : public Error {
public:
    /// `line` counts from 1; 0 = unknown. `why` is a clause without a full stop.
    TemplateError(int line, std::string why);

    int line() const noexcept { return line_; }

protected:
    TemplateError(int line, std::string why, std::string next_step);

private:
    int line_;
};

/// The template itself refused the conversation with raise_exception(...).
class TemplateRefusal : public TemplateError {
public:
    TemplateRefusal(int line, std::string message);

    /// What the template gave to raise_exception, unchanged.
    const std::string& message() const noexcept { return message_; }

private:
    std::string message_;
};

}  // namespace hearth::text
