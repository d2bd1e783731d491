#include "engine/runtime/calibrate/activation_check.h"

#include <cstdio>

#include "engine/model/activation.h"
#include "engine/runtime/evaluate.h"

namespace hearth::runtime {
namespace {

constexpr std::string_view paragraph =
    "The library opens at nine. Those who come earlier wait on the steps, and after a few weeks they know each other: the "
    "woman with the red umbrella, two students who are always looking for the same book, and an old man who reads the "
    "newspaper of the day before, because it seems calmer to him. Inside it smells of paper and floor polish. At noon a "
    "small bell rings, and everybody goes to have lunch. In the afternoon children come from the school across the street, "
    "drop their bags by the door and ask for stories about dogs, ships and the sea. At six the lights are turned off, one "
    "after another, and the librarian walks home along the river with three books under her arm.";

double perplexityWith(const std::filesystem::path& path, LoadOptions options, cpu::Activation activation) {
    options.activation = activation;
    options.ctx = 256;
    options.batch = 256;
    options.sparse = sparse::Mode::off;
    options.count_neurons = false;
    const auto model = Model::load(path, options);
    return evaluate(*model, windowsOf(*model, paragraph, 256), sparse::Mode::off).perplexity.value;
}

}  // namespace

std::optional<std::string> activationDoubt(const std::filesystem::path& path, const LoadOptions& options) {
    const auto file = gguf::File::open(path);
    if (file->value("tokenizer.ggml.tokens") == nullptr) return std::nullopt;
    const model::Description d = model::Description::read(file);
    if (!options.activation && d.activation_source == model::ActivationSource::file) return std::nullopt;
    using cpu::Activation;
    const Activation taken = options.activation.value_or(d.architecture.activation),
                     other = taken == Activation::silu || taken == Activation::gelu ? Activation::relu : Activation::silu;
    const double mine = perplexityWith(path, options, taken), others = perplexityWith(path, options, other);
    if (!(others < 0.8 * mine)) return std::nullopt;
    char text[240];
    std::snprintf(text, sizeof text,
                  "this model's activation is taken to be %s, but a paragraph of English is less surprising to it with %s "
                  "(perplexity %.1f instead of %.1f): try --activation %s",
                  std::string(model::activationName(taken)).c_str(), std::string(model::activationName(other)).c_str(),
                  others, mine, std::string(model::activationName(other)).c_str());
    return text;
}

}  // namespace hearth::runtime
