#pragma once

#include <optional>
#include <string_view>

#include "engine/cpu/ops.h"

/// Which activation a feed-forward has, by its name in files and on the command line, and by what a model is called.
namespace hearth::model {

/// silu, gelu (or gelu_pytorch_tanh), relu, relu2, drelu.
std::optional<cpu::Activation> activationByName(std::string_view name);
std::string_view activationName(cpu::Activation activation);

/// The activation of families that were trained to have zeros and whose llama files say nothing about it, by the name of the
/// model or its file: ReluLLaMA and ProSparse (relu), TurboSparse and Bamboo (drelu).
std::optional<cpu::Activation> activationHint(std::string_view model_or_file_name);

}  // namespace hearth::model
