#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "engine/base/error.h"
#include "engine/quant/quant.h"
#include "tests/bench/made_model.h"

/// Makes a model that is timed and never talked to: real sizes, real types, drawn numbers.
namespace {

using namespace hearth;

struct Arguments {
    std::string out, shape = "1.1B", type = "Q4_0", down = "file";
    uint64_t width = 0, neurons = 0, layers = 0, heads = 0, kv_heads = 0, vocabulary = 0;
    bench::Recipe recipe;
};

bench::Shape shapeOf(const Arguments& a) {
    const auto known = std::ranges::find(bench::shapes(), a.shape, &bench::Shape::name);
    if (known == bench::shapes().end())
        throw Error("cannot make the model", "there is no shape \"" + a.shape + "\"", "See --help");
    bench::Shape shape = *known;
    const auto take = [](uint64_t& to, uint64_t value) {
        if (value != 0) to = value;
    };
    take(shape.width, a.width);
    take(shape.neurons, a.neurons);
    take(shape.layers, a.layers);
    take(shape.heads, a.heads);
    take(shape.kv_heads, a.kv_heads);
    take(shape.vocabulary, a.vocabulary);
    if (a.width != 0 || a.heads != 0) shape.head_width = shape.width / shape.heads;
    return shape;
}

bench::Types typesOf(const std::string& name) {
    if (name == "Q4_K_M") return {gguf::Type::Q4_K, true};
    const auto type = gguf::typeByName(name);
    if (!type || !quant::canEncode(*type))
        throw Error("cannot make the model", "weights cannot be written as \"" + name + "\"", "See --help");
    return {*type, false};
}

void addOptions(CLI::App& app, Arguments& a) {
    std::string names;
    for (const bench::Shape& s : bench::shapes()) names += (names.empty() ? "" : ", ") + std::string(s.name);
    app.add_option("out", a.out, "File to write")->required();
    app.add_option("--shape", a.shape, "Sizes of: " + names)->capture_default_str();
    app.add_option("--type", a.type, "Type of the weights, or Q4_K_M for a mix like it")->capture_default_str();
    app.add_option("--width", a.width, "Instead of the shape's");
    app.add_option("--ff", a.neurons, "Instead of the shape's")->check(CLI::Range(32, 1 << 20));
    app.add_option("--layers", a.layers, "Instead of the shape's")->check(CLI::Range(1, 512));
    app.add_option("--heads", a.heads, "Instead of the shape's")->check(CLI::Range(1, 1024));
    app.add_option("--kv-heads", a.kv_heads, "Instead of the shape's")->check(CLI::Range(1, 1024));
    app.add_option("--vocabulary", a.vocabulary, "Instead of the shape's")->check(CLI::Range(300, 1 << 20));
    app.add_option("--zeros", a.recipe.zeros, "Share of neurons whose gate is negative; writes hidden_activation")
        ->check(CLI::Range(0.01, 0.999));
    app.add_option("--activation", a.recipe.activation, "hidden_activation (with --zeros: relu)");
    app.add_option("--rank", a.recipe.rank,
                   "Gates are a matrix of this rank plus noise, and a low-rank predictor is nearly exact")
        ->check(CLI::Range(1, 4096));
    app.add_option("--noise", a.recipe.noise, "Strength of the noise beside the low rank part")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 10.0));
    app.add_option("--down", a.down, "ffn_down as most files have it, or a row per neuron")
        ->capture_default_str()
        ->check(CLI::IsMember({"file", "transposed"}));
    app.add_option("--seed", a.recipe.seed, "Other numbers")->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Makes a model that is timed and never talked to: real sizes, real types, drawn numbers.");
    addOptions(app, arguments);
    CLI11_PARSE(app, argc, argv);
    try {
        arguments.recipe.shape = shapeOf(arguments);
        arguments.recipe.types = typesOf(arguments.type);
        arguments.recipe.down_transposed = arguments.down == "transposed";
        if (arguments.recipe.down_transposed && arguments.recipe.shape.experts > 0)
            throw Error("cannot make the model", "files have no down-projections of experts with a row per neuron",
                        "Use --down file");
        const double recall = bench::writeModel(arguments.recipe, arguments.out);
        if (arguments.recipe.rank > 0)
            std::printf(
                "recall of the low rank part, 1.3 times the active neurons flagged: %.4f of the output's energy\n",
                recall);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
