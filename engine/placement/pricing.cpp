#include "engine/placement/pricing.h"

#include <algorithm>

namespace hearth::placement {
namespace {

/// Stands in for the speed of main memory where nothing was measured: two channels of DDR5.
constexpr double nominal_rate = 55e9;

/// Seconds to read all of it once, densely.
double seconds(const Sized& sized, const Device& cpu) {
    double s = 0;
    for (const auto& [type, bytes] : sized.by_type) {
        const double rate = cpu.rate(type);
        s += static_cast<double>(bytes) / (rate > 0 ? rate : nominal_rate);
    }
    return s;
}

double readRate(const Device& cpu) { return cpu.read_bytes_per_s > 0 ? cpu.read_bytes_per_s : nominal_rate; }

/// How far a feed-forward has moved: units whose gate rows have, and units that have altogether.
struct Progress {
    uint64_t gates = 0, units = 0;
};

/// A feed-forward as a line of bytes: first the gate rows (read for every token), then the rest, hottest units first.
class Line {
public:
    Line(const FeedForward& f, const Device& cpu) : f_(f) {
        if (f.units == 0) return;
        gate_ = f.gate.bytes / f.units;
        rest_ = f.rest.bytes / f.units;
        gate_s_ = seconds(f.gate, cpu) * f.gate_reads;
        rest_s_ = seconds(f.rest, cpu) * f.rest_reads / (f.gathered ? cpu.gather : 1);
    }

    uint64_t bytes() const { return f_.gate.bytes + f_.rest.bytes; }
    uint64_t gateBytes() const { return f_.gate.bytes; }

    /// Where `bytes` of the line have moved, rounded down to whole units.
    Progress at(uint64_t bytes) const {
        if (bytes >= this->bytes()) return {f_.units, f_.units};
        if (bytes < f_.gate.bytes) return {bytes / gate_, 0};
        return {f_.units, rest_ > 0 ? (bytes - f_.gate.bytes) / rest_ / f_.granule * f_.granule : f_.units};
    }

    Block between(Progress a, Progress b) const {
        const auto share = [this](uint64_t units) {
            return static_cast<double>(units) / static_cast<double>(f_.units);
        };
        const double gates = share(b.gates - a.gates),
                     hot = f_.curve.reads(share(b.units)) - f_.curve.reads(share(a.units));
        Block block;
        block.bytes = bytesAt(b) - bytesAt(a);
        block.reads = gates * f_.gate_reads * static_cast<double>(f_.gate.bytes) +
                      hot * f_.rest_reads * static_cast<double>(f_.rest.bytes);
        block.cpu_s = gates * gate_s_ + hot * rest_s_;
        block.before = b.units == a.units;
        return block;
    }

private:
    uint64_t bytesAt(Progress p) const {
        return (p.gates == f_.units ? f_.gate.bytes : p.gates * gate_) +
               (p.units == f_.units ? f_.rest.bytes : p.units * rest_);
    }

    const FeedForward& f_;
    uint64_t gate_ = 0, rest_ = 0;         // bytes of a unit
    double gate_s_ = 0, rest_s_ = 0;
};

/// Cuts the line where the layer's bytes are a multiple of the solver's step, so that rounding wastes none of the budget.
std::vector<Progress> cutLine(const Line& line, uint64_t core, uint64_t step, Split split) {
    std::vector<Progress> cuts;
    const auto add = [&](uint64_t bytes) {
        const Progress next = line.at(bytes);
        const Progress last = cuts.empty() ? Progress{} : cuts.back();
        if (next.gates > last.gates || next.units > last.units) cuts.push_back(next);
    };
    if (split == Split::neurons) {
        const uint64_t pieces = most_blocks - 3, piece = ((line.bytes() / pieces) / step + 1) * step;
        bool gates_done = line.gateBytes() == 0;
        for (uint64_t at = step - core % step; at < line.bytes(); at += piece) {
            if (!gates_done && at > line.gateBytes()) add(line.gateBytes());
            gates_done = gates_done || at >= line.gateBytes();
            add(at);
        }
        if (!gates_done) add(line.gateBytes());
    }
    add(line.bytes());
    return cuts;
}

uint64_t coreBytes(const LayerItems& layer) {
    uint64_t bytes = 0;
    for (const auto& [kind, sized] : layer.core) bytes += sized.aligned;
    // The compacted rows of up to four matrices begin at boundaries of their own.
    return layer.feed_forward.units > 0 ? bytes + 4 * device_alignment : bytes;
}

Layer priceLayer(const LayerItems& items, const Device& cpu) {
    Layer layer;
    double reads = 0;
    for (const auto& [kind, sized] : items.core) {
        layer.cpu_s += seconds(sized, cpu);
        reads += static_cast<double>(sized.bytes);
    }
    const double kv_s = items.kv_reads / readRate(cpu);
    const uint64_t bytes = coreBytes(items);
    layer.cpu_s += kv_s + cpu.layer_s;
    layer.cores.push_back({bytes + (items.kv_bytes + device_alignment - 1) / device_alignment * device_alignment,
                           reads + items.kv_reads, 0, 0});
    // Keys and values in main memory: the processor attends, which is a hand-over by itself.
    if (items.kv_movable) layer.cores.push_back({bytes, reads, kv_s, 1});
    return layer;
}

}  // namespace

Priced price(const ModelItems& items, const Device& cpu, Split split) {
    Priced priced;
    uint64_t movable = 0;
    for (const LayerItems& layer : items.layers)
        movable += coreBytes(layer) + layer.kv_bytes + layer.feed_forward.gate.bytes + layer.feed_forward.rest.bytes;
    const uint64_t step = solverStep(movable);
    for (const LayerItems& one : items.layers) {
        Layer layer = priceLayer(one, cpu);
        const Line line(one.feed_forward, cpu);
        std::vector<std::pair<uint64_t, uint64_t>> units{{0, 0}};
        Progress last;
        if (one.feed_forward.units > 0)
            for (const Progress next : cutLine(line, layer.cores[0].bytes, step, split)) {
                layer.blocks.push_back(line.between(last, next));
                units.emplace_back(next.gates, next.units);
                last = next;
            }
        if (split == Split::layers) {
            layer.cores.resize(1);
            layer.cuts = {static_cast<uint32_t>(layer.blocks.size())};
        } else {
            for (uint32_t cut = 0; cut <= layer.blocks.size(); ++cut) layer.cuts.push_back(cut);
        }
        priced.layers.push_back(std::move(layer));
        priced.units.push_back(std::move(units));
    }
    Layer output;
    Core core;
    const auto read = [&](const Sized& sized) {
        core.bytes += sized.aligned;
        core.reads += static_cast<double>(sized.bytes);
        output.cpu_s += seconds(sized, cpu);
    };
    for (const auto& [kind, sized] : items.output) read(sized);
    read(items.tied_output);
    output.cores = {core};
    output.cuts = {0};
    priced.layers.push_back(std::move(output));
    priced.units.push_back({{0, 0}});
    return priced;
}

double fixedSeconds(const ModelItems& items, const Device& cpu) {
    return static_cast<double>(items.embedding_reads) / readRate(cpu);
}

}  // namespace hearth::placement
