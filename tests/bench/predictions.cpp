// Tokens per second that the planner predicts for described models on graphics cards of 6 to 24 GiB, beside a layer split
// priced by the same cost model and beside the figures that PowerInfer's authors published.
//   bench_predictions          all three tables, in Markdown
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "engine/placement/device_file.h"
#include "tests/support/predictions.h"

namespace {

using namespace hearth;
using test::Way;

constexpr int sizes_gib[] = {6, 8, 11, 12, 16, 24};
constexpr double gib = 1 << 30;

struct Model {
    const char* id;
    const char* published;  ///< by PowerInfer's or the model's authors (research: powerinfer §3.2, §3.6)
};
constexpr Model models[] = {
    {"relullama-7b", "4090, INT4: 13.2 on average over its models, 29.1 at best"},
    {"prosparse-7b", ""},
    {"relullama-13b", "4.05 (F16, 2080 Ti, 11 GB)"},
    {"prosparse-13b", ""},
    {"relullama-70b", "up to 3 x llama.cpp (2080 Ti INT4, 4090 F16)"},
    {"falcon-40b", "up to 11.7 x llama.cpp (4090, F16)"},
    {"opt-175b", "about 2 (4090)"},
    {"bamboo-7b", "33.5 (2080 Ti), 92.5 (4090)"},
    {"turbosparse-mixtral-47b", "up to 4.6 x llama.cpp"},
    {"smallthinker-21b", "30.2 (i9-14900, no card)"},
    {"mixtral-8x7b", ""},
    {"gpt-oss-120b", ""},
};

bool has(const placement::ModelShape& shape, Way way) {
    const bool zeros = shape.description.activationHasZeros();
    if (way == Way::lossless || way == Way::layer_split) return true;
    return zeros && shape.description.file->find("blk.0.fc1.weight") != nullptr;
}

void printRow(const placement::ModelShape& shape, Way way, const char* name, const std::string& more, double cpu_gb_s) {
    if (!has(shape, way)) return;
    std::printf("| %s | %s |", shape.name.c_str(), name);
    for (const int size : sizes_gib)
        std::printf(" %.1f |", test::predict(shape, way, size * gib / 1e9, cpu_gb_s).decode_tps);
    std::printf(" %s |\n", more.c_str());
}

void printHead(const char* title) {
    std::printf("\n%s\n\n| model | way |", title);
    for (const int size : sizes_gib) std::printf(" %d GiB |", size);
    std::printf(" published |\n|---|---|");
    for (size_t i = 0; i < std::size(sizes_gib); ++i) std::printf("---|");
    std::printf("---|\n");
}

void printModel(const placement::ModelShape& shape, const char* published) {
    const bool zeros = shape.description.activationHasZeros();
    printRow(shape, Way::layer_split, "layer split", published, 55);
    printRow(shape, Way::lossless, zeros ? "lossless" : "by neuron or expert", "", 55);
    printRow(shape, Way::predictor, "predictor", "", 55);
}

void printRoofline() {
    std::printf(
        "\nThe constants of the roofline (11 %% of neurons fire, the hottest share q makes q^0.166 of the reads; GB = "
        "10^9)\n\n"
        "| model | memory | layer split | predictor, 4 hand-overs | predictor | lossless "
        "|\n|---|---|---|---|---|---|\n");
    struct Line {
        const char* id;
        double gb, cpu;
    };
    for (const Line& line : {Line{"prosparse-13b", 4, 55},
                             {"prosparse-13b", 5, 55},
                             {"prosparse-13b", 6, 55},
                             {"prosparse-13b", 7, 55},
                             {"relullama-70b", 14, 55},
                             {"relullama-70b", 20, 55},
                             {"relullama-70b", 24, 55},
                             {"relullama-70b", 20, 220}}) {
        const placement::ModelShape shape = test::skewedShape(line.id);
        std::printf("| %s | %.0f GB, main memory %.0f GB/s |", shape.name.c_str(), line.gb, line.cpu);
        for (const Way way : {Way::layer_split, Way::four_handovers, Way::predictor, Way::lossless})
            std::printf(" %.1f |", test::predict(shape, way, line.gb, line.cpu).decode_tps);
        std::printf("\n");
    }
}

/// How long a plan takes, both efforts; the plan for one more GiB is in it.
void printTimes() {
    const placement::ModelShape shape = placement::readShape(test::placementFile("models.json"), "relullama-70b");
    const auto devices = placement::DeviceFile::read(test::placementFile("devices.json"));
    std::vector<placement::Device> machine{devices.named("pc-high"), devices.named("rtx4090")};
    machine[0].name = "cpu";
    std::printf("\nA plan for %s on an RTX 4090 takes", shape.name.c_str());
    for (const auto effort : {placement::Effort::greedy, placement::Effort::exact}) {
        double best = 1e9;
        for (int i = 0; i < 9; ++i) {
            placement::Options options = test::optionsOf(Way::lossless);
            options.effort = effort;
            const auto begin = std::chrono::steady_clock::now();
            placement::plan(shape.description, shape.activity, machine, options);
            best = std::min(
                best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
        }
        std::printf(effort == placement::Effort::greedy ? " %.1f ms by greedy moves,"
                                                        : " %.1f ms with the dynamic programme.\n",
                    best);
    }
}

}  // namespace

int main() {
    try {
        std::vector<placement::ModelShape> shapes = placement::readShapes(test::placementFile("models.json"));
        const auto shape = [&](const char* id) -> placement::ModelShape& {
            return *std::ranges::find(shapes, id, &placement::ModelShape::id);
        };
        printRoofline();
        printHead(
            "Every sparse model as the roofline has it: 11 % fire, the hottest share q makes q^0.166 of the reads");
        for (const Model& model : models) {
            placement::ModelShape skewed = shape(model.id);
            if (!skewed.description.activationHasZeros() || skewed.id.starts_with("prosparse")) continue;
            for (placement::Activity& a : skewed.activity)
                a = {0.11, 0.11 * placement::flagged_per_active, placement::Curve::power(0.166)};
            printModel(skewed, model.published);
        }
        printHead(
            "As counted and published: shares that fire of each model, flat profiles of the ReLU Llamas, even ones "
            "where nobody counted");
        for (const Model& model : models) printModel(shape(model.id), model.published);
        printTimes();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
