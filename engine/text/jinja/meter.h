#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>

#include "engine/text/jinja/error.h"

/// A template comes with the model file, so it is code of a stranger: everything it does is counted and capped here.
namespace hearth::text::jinja {

struct Limits {
    uint64_t steps = 6'000'000;  ///< nodes evaluated, plus work on strings and lists in units of 64 bytes
    size_t memory_bytes = size_t{96} << 20;  ///< live strings and containers
    size_t string_bytes = size_t{16} << 20;  ///< one string, and the rendered text
    size_t stack_bytes = size_t{512} << 10;  ///< native stack below the entry point
};

/// Counts the work of one parse or render. The innermost Meter of a thread is the current one.
class Meter {
public:
    enum class Use { Parse, Render };
    /// Values made while parsing live on in the template, so only a render's meter is charged for its values.
    explicit Meter(Use use, const Limits& limits = {});
    ~Meter();
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    /// The innermost meter of this thread, or nullptr.
    static Meter* current() noexcept;

    /// Throws TemplateError once the steps are used up.
    void spend(uint64_t steps) {
        steps_left_ -= static_cast<int64_t>(steps < kMaxSpend ? steps : kMaxSpend);
        if (steps_left_ < 0) outOfSteps();
    }
    /// Throws TemplateError once live memory passes the limit (nothing is counted then).
    void grow(size_t bytes);
    void shrink(size_t bytes) noexcept { live_ -= bytes; }
    /// Throws TemplateError when the native stack below the entry point passes its limit.
    void checkStack() const;
    bool chargesValues() const noexcept { return use_ == Use::Render; }
    const Limits& limits() const noexcept { return limits_; }

    int line = 0;  ///< template line at work, for messages

private:
    static constexpr uint64_t kMaxSpend = uint64_t{1} << 40;
    [[noreturn]] void outOfSteps() const;

    Use use_;
    Limits limits_;
    int64_t steps_left_;
    size_t live_ = 0;
    uintptr_t stack_top_;
    Meter* outer_;
};

/// Throws TemplateError at the line that is at work.
[[noreturn]] void fail(std::string why);
/// Steps on the current meter, if there is one.
void spend(uint64_t steps);
/// Steps for touching `bytes` bytes.
inline void spendBytes(size_t bytes) { spend(bytes / 64 + 1); }
/// Guards every recursion over untrusted structure.
void checkStack();
/// Throws TemplateError when a string of that size is not allowed.
void checkStringSize(uint64_t bytes);

/// Base of heap values: charges the meter that is current at construction for as long as it lives.
class Charged {
public:
    explicit Charged(size_t bytes);
    Charged(const Charged&) = delete;
    Charged& operator=(const Charged&) = delete;

protected:
    ~Charged();
    void chargeMore(size_t bytes);

private:
    Meter* meter_;
    size_t bytes_;
};

}  // namespace hearth::text::jinja
