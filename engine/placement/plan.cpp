#include "engine/placement/plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "engine/base/error.h"
#include "engine/model/sequence.h"
#include "engine/placement/items.h"
#include "engine/placement/pricing.h"

namespace hearth::placement {
namespace {

constexpr uint32_t least_context = 512;
constexpr uint64_t gib = uint64_t{1} << 30;
/// Stands in for a graphics device's speed where nothing was measured; what is placed where hardly depends on it.
constexpr double nominal_rate = 300e9;

std::string inGib(uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / static_cast<double>(gib));
    return text;
}

/// Makes one plan: sizes, then the choice of devices and of what goes where, then what people want to know about it.
class Planner {
public:
    Planner(const model::Description& d, std::span<const Activity> activity, std::span<const Device> devices,
            const Options& options)
        : d_(d), activity_(activity), options_(options) {
        if (activity.size() != d.layers)
            throw Error("cannot plan", "what is known of the neurons is for another number of layers");
        const auto cpu = std::ranges::find(devices, Kind::cpu, &Device::kind);
        if (cpu == devices.end()) throw Error("cannot plan", "no processor is among the devices");
        cpu_ = *cpu;
        if (const auto budget = options.budget.find(cpu_.name); budget != options.budget.end())
            cpu_.bytes_free = budget->second;
        chooseCandidates(devices);
    }

    Plan run() {
        plan_.ctx = options_.ctx > 0 ? options_.ctx : fittingContext();
        items_ = itemsOf(d_, activity_, options_, plan_.ctx, options_.depth);
        plan_.bytes_per_token = items_.dense_reads;
        priced_ = price(items_, cpu_, options_.split);
        chooseDevices();
        describe();
        predict();
        return std::move(plan_);
    }

private:
    void chooseCandidates(std::span<const Device> devices) {
        for (const auto& [name, bytes] : options_.budget)
            if (std::ranges::find(devices, name, &Device::name) == devices.end()) refuseDevice(name);
        if (options_.use.empty()) {
            for (const Device& device : devices)
                if (device.kind != Kind::cpu) candidates_.push_back(device);
            return;
        }
        for (const std::string& name : options_.use) {
            const auto found = std::ranges::find(devices, name, &Device::name);
            if (found == devices.end()) refuseDevice(name);
            if (found->kind != Kind::cpu) candidates_.push_back(*found);
        }
    }

    [[noreturn]] static void refuseDevice(const std::string& name) {
        throw Error("cannot plan for " + name, "no such device was found", "hearth-cli devices lists those there are");
    }

    uint64_t budgetOf(const Device& device) const {
        const auto named = options_.budget.find(device.name);
        if (named != options_.budget.end()) return std::min(named->second, device.bytes_free);
        return device.bytes_free > free_margin ? device.bytes_free - free_margin : 0;
    }

    /// What a device needs before anything of the model is on it.
    uint64_t overhead(const Device& device) const {
        return options_.held_back.value_or(device.context_bytes + items_.device_scratch);
    }

    Target target(const Device& device, uint64_t more = 0) const {
        const uint64_t budget = budgetOf(device) + more, needed = overhead(device);
        return {budget > needed ? budget - needed : 0,
                device.read_bytes_per_s > 0 ? device.read_bytes_per_s : nominal_rate, device.handover_s,
                device.layer_s};
    }

    /// The longest context (in steps of 256) whose cache fits beside everything else, at least the least useful one.
    uint32_t fittingContext() const {
        const ModelItems items = itemsOf(d_, activity_, options_, 0, 0);
        uint64_t room = cpu_.bytes_free, fixed = items.scratch + items.logits + items.transposed + items.regrouped;
        for (const gguf::Tensor& t : d_.file->tensors()) fixed += t.bytes;
        for (const Device& device : candidates_) room += target(device, 0).budget;
        room = room > fixed ? room - fixed : 0;
        const auto cache = [this](uint32_t ctx) {
            return model::Sequence::bytes(d_, {.context = ctx, .batch = options_.batch, .kv = options_.kv});
        };
        uint32_t low = std::min(least_context, d_.context), high = d_.context;
        if (cache(high) <= room) return high;
        while (high - low > 256) {
            const uint32_t middle = low + (high - low) / 2;
            (cache(middle) <= room ? low : high) = middle;
        }
        return low > 256 ? low / 256 * 256 : low;
    }

    std::vector<Target> targetsOf(const std::vector<Device>& devices) const {
        std::vector<Target> targets;
        for (const Device& device : devices) targets.push_back(target(device));
        return targets;
    }

    /// All candidates when the user named them or none of their subsets holds the model; else the smallest subset that
    /// does, of several the fastest.
    void chooseDevices() {
        devices_ = candidates_;
        if (options_.use.empty() && candidates_.size() > 1 && candidates_.size() <= 8) devices_ = fewestDevices();
        targets_ = targetsOf(devices_);
        solution_ = solve(priced_.layers, targets_, options_.effort);
    }

    std::vector<Device> fewestDevices() const {
        std::vector<Device> best = candidates_;
        size_t least = candidates_.size();
        double fastest = 0;
        for (uint32_t set = 1; set < 1u << candidates_.size(); ++set) {
            std::vector<Device> some;
            for (size_t i = 0; i < candidates_.size(); ++i)
                if ((set >> i & 1) != 0) some.push_back(candidates_[i]);
            if (some.size() > least) continue;
            const std::vector<Target> targets = targetsOf(some);
            const std::vector<Choice> all = everythingOn(priced_.layers, targets);
            if (all.empty()) continue;
            const double speed = 1 / tokenSeconds(priced_.layers, all, targets);
            if (some.size() == least && speed <= fastest) continue;
            least = some.size();
            fastest = speed;
            best = std::move(some);
        }
        return best;
    }

    void add(const std::string& what, const std::string& device, uint64_t bytes) {
        if (bytes == 0) return;
        const auto same =
            std::ranges::find_if(plan_.parts, [&](const Part& p) { return p.what == what && p.device == device; });
        if (same != plan_.parts.end()) same->bytes += bytes;
        else plan_.parts.push_back({what, device, bytes});
    }

    const std::string& nameOf(int device) const {
        return device == Choice::cpu ? cpu_.name : devices_[static_cast<size_t>(device)].name;
    }

    void describe() {
        for (const auto& [kind, sized] : items_.resting) add(kind, cpu_.name, sized.bytes);
        for (size_t i = 0; i < items_.layers.size(); ++i) describeLayer(i);
        const Choice& output = solution_.layers.back();
        plan_.output_device = nameOf(output.device);
        const bool away = output.device != Choice::cpu;
        for (const auto& [kind, sized] : items_.output)
            add(kind, nameOf(output.device), away ? sized.aligned : sized.bytes);
        if (away) add("output", nameOf(output.device), items_.tied_output.aligned);
        add("row-per-neuron copies", cpu_.name, items_.transposed);
        add("regrouped copies", cpu_.name, items_.regrouped);
        add("scratch", cpu_.name, items_.scratch);
        add("logits", cpu_.name, items_.logits);
        for (size_t g = 0; g < devices_.size(); ++g) describeOverhead(static_cast<int>(g));
    }

    void describeLayer(size_t i) {
        const LayerItems& items = items_.layers[i];
        const Choice& choice = solution_.layers[i];
        const bool away = choice.device != Choice::cpu;
        const std::string& device = nameOf(choice.device);
        for (const auto& [kind, sized] : items.core) add(kind, device, away ? sized.aligned : sized.bytes);
        const bool kv_away = away && choice.core == 0;
        add("KV cache", kv_away ? device : cpu_.name, items.kv_bytes);
        const FeedForward& f = items.feed_forward;
        const uint64_t all = f.gate.bytes + f.rest.bytes;
        uint64_t moved = 0;
        for (uint32_t b = 0; b < choice.cut; ++b) moved += priced_.layers[i].blocks[b].bytes;
        if (moved > 0) add(f.what, device, moved);
        if (all > moved) add(f.what, cpu_.name, all - moved);
        LayerSplit split{.attention_device = device, .feed_forward = {}, .kv_device = kv_away ? device : cpu_.name};
        const double share = all > 0 ? static_cast<double>(moved) / static_cast<double>(all) : 0;
        if (share > 0) split.feed_forward[device] = share;
        if (share < 1) split.feed_forward[cpu_.name] += 1 - share;
        std::tie(split.gates, split.neurons) = priced_.units[i][choice.cut];
        plan_.layers.push_back(std::move(split));
    }

    void describeOverhead(int device) {
        const auto serves = [device](const Choice& c) { return c.device == device; };
        if (std::ranges::none_of(solution_.layers, serves)) return;
        const std::string& name = nameOf(device);
        if (options_.held_back) return add("driver", name, *options_.held_back);
        add("driver", name, devices_[static_cast<size_t>(device)].context_bytes);
        add("scratch", name, items_.device_scratch);
        add("staging", cpu_.name, items_.staging);
    }

    bool used(size_t device) const {
        return std::ranges::any_of(solution_.layers,
                                   [device](const Choice& c) { return c.device == static_cast<int>(device); });
    }

    double decodeSeconds(const Solution& solution) const { return solution.seconds + fixedSeconds(items_, cpu_); }

    void predict() {
        const auto measured = [](const Device& device) { return device.read_bytes_per_s > 0; };
        if (measured(cpu_) && std::ranges::all_of(devices_, measured)) {
            plan_.decode_tps = 1 / decodeSeconds(solution_);
            plan_.tps_per_gib = gainOfOneGib();
        }
        predictPrefill();
        nameLimit();
    }

    /// By planning once more, with one GiB on the device that has the most already.
    double gainOfOneGib() const {
        size_t largest = devices_.size();
        for (size_t g = 0; g < devices_.size(); ++g)
            if (largest == devices_.size() || targets_[g].budget > targets_[largest].budget) largest = g;
        if (largest == devices_.size() || everythingMoved()) return 0;
        std::vector<Target> more = targets_;
        more[largest] = target(devices_[largest], gib);
        return 1 / decodeSeconds(solve(priced_.layers, more, options_.effort)) - plan_.decode_tps;
    }

    bool everythingMoved() const {
        for (size_t i = 0; i < priced_.layers.size(); ++i) {
            const Choice& c = solution_.layers[i];
            if (c.device == Choice::cpu || c.core != 0 || c.cut != priced_.layers[i].blocks.size()) return false;
        }
        return true;
    }

    /// A full batch: each side multiplies what it holds; weights of main memory go to the first graphics device when
    /// copying them is quicker than computing with the processor (sparsity §4.7).
    void predictPrefill() {
        if (cpu_.flops <= 0) return;
        const double tokens = std::min(std::max(1u, options_.batch), plan_.ctx), work = 2 * items_.params * tokens;
        std::map<std::string, uint64_t> bytes;
        uint64_t all = 0;
        for (const Part& part : plan_.parts)
            if (isWeight(part.what)) bytes[part.device] += part.bytes, all += part.bytes;
        double seconds = 0;
        for (const auto& [name, held] : bytes) {
            const double share = static_cast<double>(held) / static_cast<double>(all);
            const auto device = std::ranges::find(devices_, name, &Device::name);
            if (device != devices_.end()) {
                if (device->flops <= 0) return;
                seconds += work * share / device->flops;
                continue;
            }
            double here = work * share / cpu_.flops;
            if (!devices_.empty() && devices_[0].copy_bytes_per_s > 0 && devices_[0].flops > 0)
                here = std::min(here, std::max(static_cast<double>(held) / devices_[0].copy_bytes_per_s,
                                               work * share / devices_[0].flops));
            seconds += here;
        }
        plan_.prefill_tps = tokens / seconds;
    }

    /// Weights that take part in products (the embedding is looked up).
    static bool isWeight(const std::string& what) {
        for (const char* one : {"attention", "norms", "predictor", "feed-forward", "experts", "output"})
            if (what == one) return true;
        return false;
    }

    void nameLimit() {
        const uint64_t needed = plan_.bytes(cpu_.name);
        bool any = false;
        for (size_t g = 0; g < devices_.size(); ++g) any = any || used(g);
        if (needed > cpu_.bytes_free)
            plan_.limit = "main memory: " + inGib(needed) + " are needed, " + inGib(cpu_.bytes_free) +
                          " are free; what does not fit is read from disk again and again";
        else if (options_.ctx == 0 && plan_.ctx < d_.context)
            plan_.limit = "main memory: the context is " + std::to_string(plan_.ctx) + " of the " +
                          std::to_string(d_.context) + " positions that the model knows";
        else if (!any && !devices_.empty())
            plan_.limit = "the bandwidth of main memory: the memory that " + devices_[0].name +
                          " may use is too small to be of help";
        else if (!any) plan_.limit = "the bandwidth of main memory";
        else if (everythingMoved()) plan_.limit = "the bandwidth of the graphics memory, which holds all layers";
        else plan_.limit = graphicsLimit();
    }

    std::string graphicsLimit() const {
        uint64_t here = 0, all = 0;
        for (const Part& part : plan_.parts)
            if (isWeight(part.what) || part.what == "KV cache") {
                all += part.bytes;
                if (part.device != cpu_.name) here += part.bytes;
            }
        return "graphics memory: it holds " + inGib(here) + " of " + inGib(all) + ", the rest is read from main memory";
    }

    const model::Description& d_;
    std::span<const Activity> activity_;
    const Options& options_;
    Device cpu_;
    std::vector<Device> candidates_, devices_;  // graphics devices: all that may serve, those that do
    ModelItems items_;
    Priced priced_;
    std::vector<Target> targets_;
    Solution solution_;
    Plan plan_;
};

}  // namespace

uint64_t Plan::bytes(std::string_view device) const {
    uint64_t sum = 0;
    for (const Part& part : parts)
        if (part.device == device) sum += part.bytes;
    return sum;
}

bool within(uint64_t planned, uint64_t counted, double tolerance) {
    const double difference = static_cast<double>(planned) - static_cast<double>(counted);
    return std::abs(difference) <= tolerance * static_cast<double>(planned);
}

Plan plan(const model::Description& d, std::span<const Activity> activity, std::span<const Device> devices,
          const Options& options) {
    return Planner(d, activity, devices, options).run();
}

Plan plan(const model::Description& d, const sparse::Profile* profile, std::span<const Device> devices,
          const Options& options) {
    return plan(d, profile != nullptr ? activityFrom(d, *profile) : assumedActivity(d), devices, options);
}

}  // namespace hearth::placement
