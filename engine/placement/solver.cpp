#include "engine/placement/solver.h"

#include <algorithm>

#include "engine/placement/choices.h"

namespace hearth::placement {

uint64_t choiceBytes(const Layer& layer, const Choice& choice) {
    if (choice.device == Choice::cpu) return 0;
    uint64_t bytes = layer.cores[choice.core].bytes;
    for (uint32_t i = 0; i < choice.cut; ++i) bytes += layer.blocks[i].bytes;
    return bytes;
}

double layerSeconds(const Layer& layer, const Choice& choice, std::span<const Target> targets) {
    double cpu = 0;
    if (choice.device == Choice::cpu) {
        for (const Block& block : layer.blocks) cpu += block.cpu_s;
        return layer.cpu_s + cpu;
    }
    const Target& target = targets[static_cast<size_t>(choice.device)];
    const Core& core = layer.cores[choice.core];
    double serial = core.reads, beside = 0;
    for (uint32_t i = 0; i < choice.cut; ++i) (layer.blocks[i].before ? serial : beside) += layer.blocks[i].reads;
    for (size_t i = choice.cut; i < layer.blocks.size(); ++i) cpu += layer.blocks[i].cpu_s;
    const int handovers = core.handovers + (choice.cut < layer.blocks.size() ? 1 : 0);
    return target.layer_s + serial / target.bytes_per_s + core.cpu_s + std::max(beside / target.bytes_per_s, cpu) +
           handovers * target.handover_s;
}

double tokenSeconds(std::span<const Layer> layers, std::span<const Choice> choices, std::span<const Target> targets) {
    double seconds = 0;
    int side = Choice::cpu;
    const auto crossing = [&](int device) {
        return device == Choice::cpu ? 0.0 : targets[static_cast<size_t>(device)].handover_s;
    };
    for (size_t i = 0; i < layers.size(); ++i) {
        if (choices[i].device != side) seconds += crossing(side) + crossing(choices[i].device);
        side = choices[i].device;
        seconds += layerSeconds(layers[i], choices[i], targets);
    }
    return seconds + crossing(side);
}

std::vector<Choice> everythingOn(std::span<const Layer> layers, std::span<const Target> targets) {
    std::vector<Choice> choices;
    size_t device = 0;
    uint64_t used = 0;
    for (const Layer& layer : layers) {
        if (layer.cores.empty() || layer.cuts.empty() || layer.cuts.back() != layer.blocks.size()) return {};
        Choice choice{static_cast<int>(device), 0, layer.cuts.back()};
        const uint64_t bytes = choiceBytes(layer, choice);
        while (device < targets.size() && used + bytes > targets[device].budget) {
            ++device;
            used = 0;
        }
        if (device == targets.size()) return {};
        choice.device = static_cast<int>(device);
        used += bytes;
        choices.push_back(choice);
    }
    return choices;
}

uint64_t solverStep(uint64_t bytes) {
    uint64_t step = uint64_t{8} << 20;
    while (step > 1 && bytes / step < 512) step /= 2;
    while (bytes / step > 6144) step *= 2;
    return step;
}

uint64_t movableBytes(std::span<const Layer> layers) {
    uint64_t total = 0;
    for (const Layer& layer : layers)
        if (!layer.cores.empty()) total += choiceBytes(layer, {0, 0, static_cast<uint32_t>(layer.blocks.size())});
    return total;
}

Solution solve(std::span<const Layer> layers, std::span<const Target> targets, Effort effort) {
    Solution best{std::vector<Choice>(layers.size()), 0};
    best.seconds = tokenSeconds(layers, best.layers, targets);
    const auto offer = [&](std::vector<Choice> choices) {
        if (choices.empty()) return;
        const double seconds = tokenSeconds(layers, choices, targets);
        if (seconds < best.seconds) best = {std::move(choices), seconds};
    };
    if (targets.empty()) return best;
    offer(everythingOn(layers, targets));
    offer(greedyChoices(layers, targets));
    if (effort == Effort::exact) offer(exactChoices(layers, targets, solverStep(movableBytes(layers))));
    return best;
}

}  // namespace hearth::placement
