#include "engine/base/error.h"

namespace hearth {
namespace {

std::string sentence(const std::string& what_failed, const std::string& why, const std::string& next_step) {
    std::string text = what_failed + ": " + why + ".";
    if (!next_step.empty()) text += " " + next_step + ".";
    return text;
}

}  // namespace

Error::Error(std::string what_failed, std::string why, std::string next_step)
    : std::runtime_error(sentence(what_failed, why, next_step)),
      what_failed_(std::move(what_failed)),
      why_(std::move(why)),
      next_step_(std::move(next_step)) {}

}  // namespace hearth
