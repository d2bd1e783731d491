#pragma once

#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace hearth {

/// What went wrong, in words for the person at the screen: what failed, why, and what they can do about it.
class Error : public std::runtime_error {
public:
    /// `what_failed` and `why` are clauses without a full stop ("cannot open model.gguf", "the file ends after 12 bytes").
    /// `next_step` may be empty.
    Error(std::string what_failed, std::string why, std::string next_step = {});

    const std::string& whatFailed() const noexcept { return what_failed_; }
    const std::string& why() const noexcept { return why_; }
    const std::string& nextStep() const noexcept { return next_step_; }

private:
    std::string what_failed_, why_, next_step_;
};

/// Thrown by long work when its std::stop_token asks it to end. Not an Error: nothing failed.
class Stopped : public std::exception {
public:
    const char* what() const noexcept override { return "stopped"; }
};

/// Throws Stopped once the token asks. Some nanoseconds.
inline void throwIfStopped(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Stopped();
}

}  // namespace hearth
