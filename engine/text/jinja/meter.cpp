#include "engine/text/jinja/meter.h"

namespace hearth::text {

namespace {
std::string where(int line) {
    return line > 0 ? "the chat template fails in line " + std::to_string(line)
                    : std::string("the chat template fails");
}
}  // namespace

TemplateError::TemplateError(int line, std::string why)
    : TemplateError(line, std::move(why), "Choose another chat template for this model, or continue without one.") {}

TemplateError::TemplateError(int line, std::string why, std::string next_step)
    : Error(where(line), std::move(why), std::move(next_step)), line_(line) {}

TemplateRefusal::TemplateRefusal(int line, std::string message)
    : TemplateError(line, "it refuses this conversation: " + message,
                    "Change the conversation accordingly, or choose another chat template."),
      message_(std::move(message)) {}

namespace jinja {

namespace {
thread_local Meter* current_meter = nullptr;

uintptr_t stackPointer() { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)); }
}  // namespace

Meter::Meter(Use use, const Limits& limits)
    : use_(use),
      limits_(limits),
      steps_left_(static_cast<int64_t>(limits.steps)),
      stack_top_(stackPointer()),
      outer_(current_meter) {
    current_meter = this;
}

Meter::~Meter() { current_meter = outer_; }

Meter* Meter::current() noexcept { return current_meter; }

void Meter::outOfSteps() const { fail("it does not come to an end"); }

void Meter::grow(size_t bytes) {
    if (bytes > limits_.memory_bytes || live_ > limits_.memory_bytes - bytes)
        fail("it needs more than " + std::to_string(limits_.memory_bytes >> 20) + " MiB of memory");
    live_ += bytes;
}

void Meter::checkStack() const {
    const uintptr_t here = stackPointer();
    const uintptr_t used = here < stack_top_ ? stack_top_ - here : here - stack_top_;
    if (used > limits_.stack_bytes) fail("it is nested too deeply");
}

void fail(std::string why) {
    const Meter* meter = Meter::current();
    throw TemplateError(meter ? meter->line : 0, std::move(why));
}

void spend(uint64_t steps) {
    if (Meter* meter = Meter::current()) meter->spend(steps);
}

void checkStack() {
    if (const Meter* meter = Meter::current()) meter->checkStack();
}

void checkStringSize(uint64_t bytes) {
    const Meter* meter = Meter::current();
    if (meter && bytes > meter->limits().string_bytes)
        fail("it makes a text of more than " + std::to_string(meter->limits().string_bytes >> 20) + " MiB");
}

Charged::Charged(size_t bytes) : meter_(Meter::current()), bytes_(bytes) {
    if (meter_ && !meter_->chargesValues()) meter_ = nullptr;
    if (meter_) meter_->grow(bytes_);
}

Charged::~Charged() {
    if (meter_) meter_->shrink(bytes_);
}

void Charged::chargeMore(size_t bytes) {
    if (!meter_) return;
    meter_->grow(bytes);
    bytes_ += bytes;
}

}  // namespace jinja

}  // namespace hearth::text
