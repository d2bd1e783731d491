#include <algorithm>
#include <limits>

#include "engine/placement/choices.h"

namespace hearth::placement {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr uint16_t stays = 0xffff;   // the layer is the processor's

/// One option of a layer on one device, in steps.
struct Stepped {
    Choice choice;
    uint32_t steps = 0;
    double seconds = 0;
};

/// Best seconds by steps used, for the residual stream at the processor and at the device.
struct Column {
    std::vector<double> at_cpu, at_device;
};

/// What was chosen for one layer while one device was served: an option by the steps used after it.
struct Trace {
    std::vector<uint16_t> at_device;   ///< option that led there
    std::vector<bool> cpu_from_device; ///< the processor's layer followed one of the device's
    std::vector<bool> from_cpu;        ///< the option followed a layer of the processor's
    bool entered = false;              ///< the device takes over before this layer: its only state is 0 steps
    uint32_t entered_steps = 0;        ///< of the device before it
    bool entered_from_device = false;
};

class Programme {
public:
    Programme(std::span<const Layer> layers, std::span<const Target> targets, uint64_t step)
        : layers_(layers), targets_(targets), step_(step) {}

    std::vector<Choice> run() {
        prepare();
        for (size_t layer = 0; layer < layers_.size(); ++layer) {
            for (size_t g = 1; g < targets_.size(); ++g) enter(layer, g);
            for (size_t g = 0; g < targets_.size(); ++g) advance(layer, g);
        }
        return walkBack();
    }

private:
    void prepare() {
        const size_t devices = targets_.size();
        columns_.resize(devices);
        options_.assign(devices, {});
        traces_.assign(devices, std::vector<Trace>(layers_.size()));
        for (size_t g = 0; g < devices; ++g) {
            uint64_t most = 0;
            for (const Layer& layer : layers_) {
                options_[g].push_back(stepped(layer, static_cast<int>(g)));
                if (!options_[g].back().empty()) most += options_[g].back().back().steps;
            }
            const uint64_t steps = std::min(most, targets_[g].budget / step_);
            columns_[g] = {std::vector<double>(steps + 1, never), std::vector<double>(steps + 1, never)};
        }
        columns_[0].at_cpu[0] = 0;
    }

    std::vector<Stepped> stepped(const Layer& layer, int device) const {
        std::vector<Stepped> options;
        for (const PricedChoice& one : pricedChoices(layer, device, targets_)) {
            const auto steps = static_cast<uint32_t>((one.bytes + step_ - 1) / step_);
            // Ascending in bytes, descending in seconds: of those with equal steps the last is the best.
            if (!options.empty() && options.back().steps == steps) options.pop_back();
            options.push_back({one.choice, steps, one.seconds});
        }
        return options;
    }

    /// Serving passes from device g − 1 to g before `layer`.
    void enter(size_t layer, size_t g) {
        const Column& from = columns_[g - 1];
        Trace& trace = traces_[g][layer];
        double best = columns_[g].at_cpu[0];
        for (size_t v = 0; v < from.at_cpu.size(); ++v)
            for (const bool device : {false, true}) {
                const double cost = device ? from.at_device[v] + targets_[g - 1].handover_s : from.at_cpu[v];
                if (cost >= best) continue;
                best = cost;
                trace.entered = true;
                trace.entered_steps = static_cast<uint32_t>(v);
                trace.entered_from_device = device;
            }
        columns_[g].at_cpu[0] = best;
    }

    void advance(size_t layer, size_t g) {
        Column& old = columns_[g];
        const size_t size = old.at_cpu.size();
        Trace& trace = traces_[g][layer];
        const double handover = targets_[g].handover_s, alone = layerSeconds(layers_[layer], {}, targets_);
        Column next{std::vector<double>(size), std::vector<double>(size, never)};
        trace.cpu_from_device.resize(size);
        trace.from_cpu.resize(size);
        trace.at_device.assign(size, stays);
        std::vector<double> arriving(size);
        for (size_t v = 0; v < size; ++v) {
            trace.cpu_from_device[v] = old.at_device[v] + handover < old.at_cpu[v];
            next.at_cpu[v] = std::min(old.at_cpu[v], old.at_device[v] + handover) + alone;
            trace.from_cpu[v] = old.at_cpu[v] + handover < old.at_device[v];
            arriving[v] = std::min(old.at_device[v], old.at_cpu[v] + handover);
        }
        const auto& options = options_[g][layer];
        for (size_t o = 0; o < options.size(); ++o)
            for (size_t v = options[o].steps; v < size; ++v) {
                const double cost = arriving[v - options[o].steps] + options[o].seconds;
                if (cost >= next.at_device[v]) continue;
                next.at_device[v] = cost;
                trace.at_device[v] = static_cast<uint16_t>(o);
            }
        old = std::move(next);
    }

    std::vector<Choice> walkBack() const {
        size_t g = 0, v = 0;
        bool device = false;
        double best = never;
        for (size_t h = 0; h < targets_.size(); ++h)
            for (size_t w = 0; w < columns_[h].at_cpu.size(); ++w)
                for (const bool side : {false, true}) {
                    const double cost =
                        side ? columns_[h].at_device[w] + targets_[h].handover_s : columns_[h].at_cpu[w];
                    if (cost < best) best = cost, g = h, v = w, device = side;
                }
        std::vector<Choice> choices(layers_.size());
        for (size_t layer = layers_.size(); layer-- > 0;) {
            const Trace& trace = traces_[g][layer];
            if (device) {
                const Stepped& option = options_[g][layer][trace.at_device[v]];
                choices[layer] = option.choice;
                v -= option.steps;
                device = !trace.from_cpu[v];
            } else {
                device = trace.cpu_from_device[v];
            }
            while (!device && v == 0 && traces_[g][layer].entered) {
                const Trace& entry = traces_[g--][layer];
                v = entry.entered_steps;
                device = entry.entered_from_device;
            }
        }
        return choices;
    }

    std::span<const Layer> layers_;
    std::span<const Target> targets_;
    uint64_t step_;
    std::vector<Column> columns_;                           // [devices]
    std::vector<std::vector<std::vector<Stepped>>> options_;  // [devices][layers]
    std::vector<std::vector<Trace>> traces_;                // [devices][layers]
};

}  // namespace

std::vector<Choice> exactChoices(std::span<const Layer> layers, std::span<const Target> targets, uint64_t step) {
    return Programme(layers, targets, step).run();
}

}  // namespace hearth::placement
