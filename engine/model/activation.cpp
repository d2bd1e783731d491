#include "engine/model/activation.h"

#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace hearth::model {
namespace {

using cpu::Activation;

constexpr std::array<std::pair<std::string_view, Activation>, 6> names{{{"silu", Activation::silu},
                                                                        {"gelu", Activation::gelu},
                                                                        {"gelu_pytorch_tanh", Activation::gelu},
                                                                        {"relu", Activation::relu},
                                                                        {"relu2", Activation::relu2},
                                                                        {"drelu", Activation::drelu}}};

// Letters and digits of the families' names (cards of SparseLLM and PowerInfer; powerinfer §1.3).
constexpr std::array<std::pair<std::string_view, Activation>, 5> families{{{"relullama", Activation::relu},
                                                                           {"relufalcon", Activation::relu},
                                                                           {"prosparse", Activation::relu},
                                                                           {"turbosparse", Activation::drelu},
                                                                           {"bamboo", Activation::drelu}}};

}  // namespace

std::optional<Activation> activationByName(std::string_view name) {
    for (const auto& [word, activation] : names)
        if (word == name) return activation;
    return std::nullopt;
}

std::string_view activationName(Activation activation) {
    for (const auto& [word, one] : names)
        if (one == activation) return word;
    return activation == Activation::gpt_oss ? "clamped silu" : "sigmoid";
}

std::optional<Activation> activationHint(std::string_view model_or_file_name) {
    std::string plain;
    for (const char c : model_or_file_name)
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const auto& [word, activation] : families)
        if (plain.find(word) != plain.npos) return activation;
    return std::nullopt;
}

}  // namespace hearth::model
