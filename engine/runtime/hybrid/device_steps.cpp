#include "engine/runtime/hybrid/device_steps.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/base/error.h"

namespace hearth::runtime {

using gpu::DevPtr;
using gpu::kernels::Cache;

namespace {

constexpr unsigned kAttentionThreads = 128;

}  // namespace

/// Keys, then values, of each layer that the device computes.
struct DeviceSteps::Memory : model::ElsewhereMemory {
    std::map<uint32_t, gpu::Buffer> layers;
};

DeviceSteps::DeviceSteps(gpu::Device& device, const model::Description& description, const model::Weights& weights,
                         const DeviceStepsOptions& options)
    : ElsewhereSteps(description, weights),
      device_(device),
      options_(options),
      progress_(device, gpu::patienceFor(device)) {
    const auto bytes = placement::deviceScratch(d_, options.batch);
    for (size_t i = 0; i < bytes.size(); ++i)
        if (bytes[i] > 0) scratch_[i] = gpu::Buffer(device, bytes[i]);
    launch_ = std::make_unique<Launches>(
        device, scratch_[static_cast<size_t>(Piece::rounded)].as<gpu::kernels::Rounded>());
    const Upload upload(device);
    const auto addNorm = [&](const model::NormWeights& norm) {
        if (norm) norms_.emplace(norm.weight, upload.norm(norm));
    };
    uint32_t most_neurons = 0;
    for (const auto& [i, hot] : options.layers) {
        const model::LayerWeights& l = w_.layers[i];
        if (hot.neurons < neuronsOf(i)) most_neurons = std::max(most_neurons, neuronsOf(i));
        layers_.emplace(i, upload.layer(l, d_.shapes[i].heads, hot, options.sparse == sparse::Mode::predict));
        for (const model::NormWeights* norm :
             {&l.attn_norm, &l.attn_norm_2, &l.attn_post_norm, &l.ffn_norm, &l.ffn_post_norm})
            addNorm(*norm);
    }
    if (options.output) {
        output_ = upload.linear(w_.output);
        addNorm(w_.output_norm);
    }
    if (most_neurons > 0)
        handover_ = std::make_unique<gpu::Handover>(device, options.batch * d_.width, most_neurons,
                                                    gpu::patienceFor(device));
    device.synchronize();
    d_.file->check();
}

DeviceSteps::~DeviceSteps() = default;

void DeviceSteps::prepare(model::Sequence& sequence) const {
    auto memory = std::make_unique<Memory>();
    const size_t value_bytes = cache() == Cache::f16 ? 2 : 4;
    for (const auto& [i, hot] : options_.layers) {
        const model::LayerShape& s = d_.shapes[i];
        const size_t cell = s.kv_heads * (size_t{s.key_width} + s.value_width) * value_bytes;
        memory->layers.emplace(i, gpu::Buffer(device_, sequence.cells(i) * cell));
    }
    sequence.keep(*this, std::move(memory));
}

Cache DeviceSteps::cache() const { return options_.kv == cpu::KvType::f32 ? Cache::f32 : Cache::f16; }

DevPtr<float> DeviceSteps::rows(Rows rows) const {
    switch (rows) {
        case Rows::normed: return piece(Piece::normed);
        case Rows::branch: return piece(Piece::branch);
        case Rows::branch2: return piece(Piece::branch2);
        case Rows::x: break;
    }
    return piece(Piece::x);
}

void DeviceSteps::begin(std::span<const model::TokenRow> rows, const model::RopeTable& rope,
                        const model::RopeTable& window_rope, model::ColdHalf& cold) {
    if (rows.size() > options_.batch) throw std::logic_error("more tokens than the device has memory for");
    device_.synchronize();   // a pass that was given up may still read what is written now
    rows_ = rows;
    cold_ = &cold;
    cells_.clear();
    window_cells_.clear();
    counts_.clear();
    const auto windowed = std::ranges::find_if(d_.shapes, &model::LayerShape::windowed);
    for (const model::TokenRow& row : rows) {
        cells_.push_back(row.position);
        counts_.push_back(row.position + 1);
        if (windowed == d_.shapes.end()) continue;
        const auto ring = row.sequence->cells(static_cast<uint32_t>(windowed - d_.shapes.begin()));
        window_cells_.push_back(static_cast<uint32_t>(row.position % ring));
    }
    const auto send = [this](Piece piece, const void* from, size_t bytes) {
        device_.copyIn(0, scratch_[static_cast<size_t>(piece)].address(), from, bytes);
    };
    const size_t n = rows.size() * sizeof(uint32_t);
    send(Piece::cells, cells_.data(), n);
    send(Piece::counts, counts_.data(), n);
    rotated_ = rope.rotated();
    window_rotated_ = window_rope.rotated();
    if (rotated_ > 0) {
        send(Piece::cosines, rope.cosines(0), n * rotated_ / 2);
        send(Piece::sines, rope.sines(0), n * rotated_ / 2);
    }
    if (window_cells_.empty()) return;
    send(Piece::window_cells, window_cells_.data(), n);
    if (window_rotated_ == 0) return;
    send(Piece::window_cosines, window_rope.cosines(0), n * window_rotated_ / 2);
    send(Piece::window_sines, window_rope.sines(0), n * window_rotated_ / 2);
}

void DeviceSteps::take(MatrixView<const float> x) {
    device_.copyIn(0, piece(Piece::x).address(), x.data, x.rows * x.cols * sizeof(float));
}

void DeviceSteps::give(MatrixView<float> x) {
    device_.copyOut(0, x.data, piece(Piece::x).address(), x.rows * x.cols * sizeof(float));
    progress_.mark(0);
    progress_.await();
}

void DeviceSteps::output(std::span<const uint32_t> rows, MatrixView<float> logits) {
    for (size_t t = 0; t < rows.size(); ++t) {
        normRows(w_.output_norm, piece(Piece::x) + size_t{rows[t]} * d_.width, piece(Piece::normed), 1, d_.width);
        DeviceInput in = input(piece(Piece::normed), 1, d_.width);
        launch_->multiply(output_, in, piece(Piece::logits));
        device_.copyOut(0, logits.row(t), piece(Piece::logits).address(), d_.vocabulary * sizeof(float));
        progress_.mark(0);
    }
    progress_.await();
}

void DeviceSteps::normRows(const model::NormWeights& norm, DevPtr<const float> from, DevPtr<float> to, uint32_t rows,
                           uint32_t cols) {
    const DeviceNorm& here = norms_.at(norm.weight);
    if (d_.architecture.norm == model::Norm::rms) launch_->rmsNorm(here, from, to, rows, cols, d_.norm_eps);
    else launch_->layerNorm(here, from, to, rows, cols, d_.norm_eps);
}

void DeviceSteps::norm(const model::NormWeights& norm, Rows from, Rows to) {
    normRows(norm, rows(from), rows(to), tokens(), d_.width);
}

void DeviceSteps::projectHeads(uint32_t i, Rows from) {
    const DeviceLayer& l = layers_.at(i);
    DeviceInput in = input(rows(from), tokens(), d_.width);
    launch_->multiply(l.q, in, piece(Piece::q));
    launch_->multiply(l.k, in, piece(Piece::k));
    launch_->multiply(l.v, in, piece(Piece::v));
}

/// A norm of each head, or of all of them as one vector where the weights are that long. Absent: nothing.
void DeviceSteps::normHeads(const DeviceNorm& norm, DevPtr<float> heads, uint32_t count, uint32_t width) {
    if (!norm) return;
    const bool together = norm.size == count * width && count > 1;
    launch_->rmsNorm(norm, heads, heads, together ? tokens() : tokens() * count, together ? count * width : width,
                     d_.norm_eps);
}

void DeviceSteps::rotateHeads(uint32_t i, DevPtr<float> heads, uint32_t count, uint32_t width) {
    const model::LayerShape& s = d_.shapes[i];
    const uint32_t rotated = s.windowed ? window_rotated_ : rotated_;
    if (!s.rotated || rotated == 0) return;
    launch_->launch({count, tokens(), gpu::kWarp},
                    gpu::kernels::Rope{heads, piece(s.windowed ? Piece::window_cosines : Piece::cosines),
                                       piece(s.windowed ? Piece::window_sines : Piece::sines), width, rotated,
                                       count * width, d_.architecture.rope == cpu::RopePairs::neox});
}

void DeviceSteps::rotateAndStore(uint32_t i) {
    const model::LayerShape& s = d_.shapes[i];
    const DeviceLayer& l = layers_.at(i);
    const DevPtr<float> q = piece(Piece::q), k = piece(Piece::k), v = piece(Piece::v);
    const uint32_t q_width = s.heads * s.key_width, k_width = s.kv_heads * s.key_width,
                   v_width = s.kv_heads * s.value_width;
    normHeads(l.q_norm, q, s.heads, s.key_width);
    rotateHeads(i, q, s.heads, s.key_width);
    normHeads(l.k_norm, k, s.kv_heads, s.key_width);
    rotateHeads(i, k, s.kv_heads, s.key_width);
    for (uint32_t t = 0; t < tokens(); ++t) {
        if (const float factor = model::queryTemperature(d_, rows_[t].position); factor != 1)
            launch_->adjust(q + size_t{t} * q_width, q_width, factor);
        const auto& memory = dynamic_cast<const Memory&>(*rows_[t].sequence->memoryOf(*this));
        const DevPtr<uint8_t> keys = memory.layers.at(i).as<uint8_t>();
        const size_t values_begin = rows_[t].sequence->cells(i) * k_width * (cache() == Cache::f16 ? 2 : 4);
        const DevPtr<const uint32_t> cell = numbers(s.windowed ? Piece::window_cells : Piece::cells) + t;
        launch_->launch(Launches::over(k_width),
                        gpu::kernels::Store{k + size_t{t} * k_width, keys, cell, k_width, cache()});
        launch_->launch(Launches::over(v_width), gpu::kernels::Store{v + size_t{t} * v_width, keys + values_begin, cell,
                                                                     v_width, cache()});
    }
}

void DeviceSteps::attendHeads(uint32_t i) {
    for (uint32_t t = 0; t < tokens(); ++t) attendToken(i, t);
}

void DeviceSteps::attendToken(uint32_t i, size_t token) {
    const model::LayerShape& s = d_.shapes[i];
    const model::TokenRow& row = rows_[token];
    const auto& memory = dynamic_cast<const Memory&>(*row.sequence->memoryOf(*this));
    const auto ring = static_cast<uint32_t>(row.sequence->cells(i));
    const DevPtr<const uint8_t> keys = memory.layers.at(i).as<const uint8_t>();
    const DevPtr<const uint8_t> values =
        keys + size_t{ring} * s.kv_heads * s.key_width * (cache() == Cache::f16 ? 2 : 4);
    const uint32_t all = row.position + 1, first = s.windowed && all > d_.window ? all - d_.window : 0;
    const uint32_t ranges =
        std::min((all - first + placement::cells_a_range - 1) / placement::cells_a_range, placement::most_ranges);
    const uint32_t per_range = (all - first + ranges - 1) / ranges;
    launch_->launch({s.heads, ranges, kAttentionThreads},
                    gpu::kernels::Attend{piece(Piece::q) + token * s.heads * s.key_width, keys, values,
                                         piece(Piece::parts), piece(Piece::top), piece(Piece::total),
                                         numbers(Piece::counts) + token, s.heads, s.kv_heads, s.key_width,
                                         s.value_width, per_range, first, ring, d_.attention_scale,
                                         d_.attention_softcap, cache()});
    launch_->launch({s.heads, 1, gpu::kWarp},
                    gpu::kernels::FinishAttention{piece(Piece::parts), piece(Piece::top), piece(Piece::total),
                                                  layers_.at(i).sinks.as<const float>(),
                                                  piece(Piece::heads) + token * s.heads * s.value_width, ranges,
                                                  s.heads, s.value_width});
}

void DeviceSteps::projectOutput(uint32_t i, Rows to) {
    const model::LayerShape& s = d_.shapes[i];
    DeviceInput in = input(piece(Piece::heads), tokens(), s.heads * s.value_width);
    launch_->multiply(layers_.at(i).attn_output, in, rows(to));
}

void DeviceSteps::addBranch(Rows branch, const model::NormWeights& post_norm) {
    if (post_norm) norm(post_norm, branch, branch);
    launch_->addScaled(piece(Piece::x), rows(branch), tokens() * d_.width, d_.residual_scale);
    if (branch == Rows::branch2) progress_.mark(0);   // the layer's end
}

// whyNotOnDevices() keeps models that need these with the processor.
void DeviceSteps::gateHeads(uint32_t) { throw std::logic_error("heads with gates are the processor's"); }
void DeviceSteps::latentAttention(uint32_t, Rows, Rows) { throw std::logic_error("latent attention is the processor's"); }
void DeviceSteps::deltaNet(uint32_t, Rows, Rows) { throw std::logic_error("delta nets are the processor's"); }
void DeviceSteps::route(uint32_t, Rows) { throw std::logic_error("experts are the processor's"); }

}  // namespace hearth::runtime
