#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/runtime/hybrid/device_steps.h"

namespace hearth::runtime {

using gpu::DevPtr;
using gpu::kernels::Gate;

namespace {

Gate gateOf(cpu::Activation activation) {
    switch (activation) {
        case cpu::Activation::silu: return Gate::silu;
        case cpu::Activation::gelu: return Gate::gelu;
        case cpu::Activation::relu: return Gate::relu;
        case cpu::Activation::relu2: return Gate::relu2;
        case cpu::Activation::drelu: return Gate::drelu;
        case cpu::Activation::sigmoid: return Gate::sigmoid;
        case cpu::Activation::gpt_oss: return Gate::gpt_oss;
    }
    return Gate::silu;
}

}  // namespace

/// As the processor does it (model/layers/sparse_feed_forward.cpp): by neuron where there are zeros and a row per neuron,
/// which pays for one token, and is the meaning of a predictor for any number of them.
void DeviceSteps::feedForward(uint32_t i, Rows from, Rows to) {
    const DeviceLayer& l = layers_.at(i);
    const bool zeros = options_.sparse != sparse::Mode::off && d_.hasZeros(i) && w_.layers[i].down_t;
    const bool predicted = zeros && options_.sparse == sparse::Mode::predict && l.predictor_in;
    if (predicted || (zeros && tokens() == 1 && options_.sparse != sparse::Mode::all)) {
        for (size_t t = 0; t < tokens(); ++t) tokenFeedForward(i, t, from, to);
    } else if (l.hot.neurons == neuronsOf(i)) {
        denseFeedForward(l, rows(from), rows(to));
    } else {
        const model::ColdNeurons cold{.layer = i, .first = l.hot.neurons};
        withColdHalf(cold, {.x = rows(from), .n = tokens() * d_.width}, tokens(), rows(to),
                     [&] { denseFeedForward(l, rows(from), rows(to)); });
    }
    if (l.down_bias.address() != nullptr)
        launch_->adjust(rows(to), tokens() * d_.width, 1, l.down_bias.as<const float>(), d_.width);
}

/// to [n, d] = what the device's neurons give and what the processor's do, computed at the same time.
void DeviceSteps::withColdHalf(const model::ColdNeurons& cold, const gpu::Handover::Sent& sent, uint32_t n,
                               DevPtr<float> to, const std::function<void()>& hot_half) {
    gpu::Handover& meeting = *handover_;
    meeting.publish(0, sent);
    hot_half();
    meeting.join(0);
    launch_->addScaled(to, meeting.sumsOnDevice(), n * d_.width, 1);
    // Whatever happens to the processor's half: the device must not wait for it for ever.
    struct Release {
        gpu::Handover& meeting;
        ~Release() { meeting.giveBack(); }
    } release{meeting};
    meeting.await();
    model::ColdNeurons asked = cold;
    if (asked.listed && sent.list) {
        cold_list_.assign(meeting.list().begin(), meeting.list().end());
        for (uint32_t& neuron : cold_list_) {
            neuron += cold.first;   // the device counts its cold neurons from there
            if (neuron >= neuronsOf(cold.layer))
                throw Error(device_.name() + " computes wrongly", "it lists a neuron that is not there",
                            "Run hearth-cli selftest");
        }
        asked.list = cold_list_;
        if (sent.values) asked.gates = meeting.values();
    }
    cold_->coldNeurons(asked, {meeting.x().data(), n, d_.width}, {meeting.sums().data(), n, d_.width});
}

/// One token by the lists of its neurons, hot and cold.
void DeviceSteps::tokenFeedForward(uint32_t i, size_t token, Rows from, Rows to) {
    const DeviceLayer& l = layers_.at(i);
    const uint32_t hot = l.hot.neurons, all = neuronsOf(i), cold_count = all - hot;
    const DevPtr<const float> x = rows(from) + token * d_.width;
    const DevPtr<float> out = rows(to) + token * d_.width, gates = piece(Piece::gate);
    const DevPtr<uint32_t> cold_list = numbers(Piece::cold_list), count = numbers(Piece::cold_count);
    const bool predicted = options_.sparse == sparse::Mode::predict && l.predictor_in;
    const bool all_gates = !predicted && l.hot.gates == all;
    if (predicted) {
        predictNeurons(l, token);
    } else if (l.gate) {
        DeviceInput in = input(x, 1, d_.width);
        launch_->multiply(l.gate, in, gates);
    }
    const auto hot_half = [&] { hotListed(l, x, out, predicted); };
    if (cold_count == 0) return hot_half();
    model::ColdNeurons cold{.layer = i, .first = hot, .listed = true};
    gpu::Handover::Sent sent{.x = x, .n = d_.width};
    if (predicted || all_gates) {
        const DevPtr<const float> decides = (predicted ? piece(Piece::scores) : gates) + size_t{hot};
        launch_->compactAbove(decides, cold_count, predicted ? threshold() : 0, cold_list, count);
        sent.list = cold_list;
        sent.count = count;
        if (all_gates) {
            launch_->gather(decides, cold_count, cold_list, count, piece(Piece::cold_gates));
            sent.values = piece(Piece::cold_gates);
        }
    } else {
        cold_list_.resize(cold_count);
        std::iota(cold_list_.begin(), cold_list_.end(), hot);
        cold.list = cold_list_;
    }
    withColdHalf(cold, sent, 1, out, hot_half);
}

void DeviceSteps::denseFeedForward(const DeviceLayer& l, DevPtr<const float> from, DevPtr<float> to) {
    const uint32_t n = tokens(), neurons = l.hot.neurons;
    if (neurons == 0) return device_.fill(0, to.address(), 0, size_t{n} * d_.width * sizeof(float));
    const DevPtr<float> gate = piece(Piece::gate), up = piece(Piece::up);
    const Gate kind = gateOf(d_.architecture.activation);
    DeviceInput in = input(from, n, d_.width);
    launch_->multiply(l.up, in, up);
    if (l.gate) {
        launch_->multiplyFirst(l.gate, neurons, in, gate);
        launch_->activate(kind, gate, up, up, n * neurons);
    } else {
        launch_->activate(kind, up, nullptr, up, n * neurons);
    }
    if (l.down) {
        DeviceInput hidden = input(up, n, neurons);
        launch_->multiply(l.down, hidden, to);
        return;
    }
    for (size_t t = 0; t < n; ++t)
        launch_->addRows(l.down_t, up + t * neurons, {nullptr, nullptr, neurons}, piece(Piece::partial),
                         to + t * d_.width);
}

/// The hot neurons of one token: those that the predictor's scores let through, or else those that fire by their gates.
void DeviceSteps::hotListed(const DeviceLayer& l, DevPtr<const float> x, DevPtr<float> out, bool predicted) {
    const uint32_t neurons = l.hot.neurons;
    if (neurons == 0) return device_.fill(0, out.address(), 0, d_.width * sizeof(float));
    const DevPtr<uint32_t> list = numbers(Piece::list), count = numbers(Piece::count);
    const DevPtr<float> gate = piece(Piece::listed_gate), up = piece(Piece::listed_up);
    const Gate kind = gateOf(d_.architecture.activation);
    DeviceInput in = input(x, 1, d_.width);
    if (predicted) {
        launch_->compactAbove(piece(Piece::scores), neurons, threshold(), list, count);
        launch_->multiplyListed(l.up, in, up, list, count);
        if (l.gate) launch_->multiplyListed(l.gate, in, gate, list, count);
        launch_->activate(kind, l.gate ? gate : up, l.gate ? up : nullptr, up, neurons, count);
    } else if (l.gate) {
        launch_->compactAbove(piece(Piece::gate), neurons, 0, list, count);
        launch_->gather(piece(Piece::gate), neurons, list, count, gate);
        launch_->multiplyListed(l.up, in, up, list, count);
        launch_->activate(kind, gate, up, up, neurons, count);
    } else {
        launch_->multiply(l.up, in, piece(Piece::up));
        launch_->activate(kind, piece(Piece::up), nullptr, piece(Piece::up), neurons);
        launch_->compactAbove(piece(Piece::up), neurons, 0, list, count);
        launch_->gather(piece(Piece::up), neurons, list, count, up);
    }
    launch_->addRows(l.down_t, up, {list, count, neurons}, piece(Piece::partial), out);
}

/// A score must be at least the file's threshold; kernels take what is above one.
float DeviceSteps::threshold() const { return std::nextafter(d_.predictor_threshold, -INFINITY); }

/// Scores of all neurons, fc2 · relu(fc1 · x); x is the residual stream.
void DeviceSteps::predictNeurons(const DeviceLayer& l, size_t token) {
    DeviceInput x = input(piece(Piece::x) + token * d_.width, 1, d_.width);
    launch_->multiply(l.predictor_in, x, piece(Piece::rank));
    launch_->activate(Gate::relu, piece(Piece::rank), nullptr, piece(Piece::rank), l.predictor_in.rows);
    DeviceInput hidden = input(piece(Piece::rank), 1, l.predictor_in.rows);
    launch_->multiply(l.predictor_out, hidden, piece(Piece::scores));
}

}  // namespace hearth::runtime
