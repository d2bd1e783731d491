#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/gpu/handover.h"
#include "engine/gpu/progress.h"
#include "engine/model/layer_steps.h"
#include "engine/placement/device_scratch.h"
#include "engine/runtime/hybrid/launches.h"

namespace hearth::runtime {

struct DeviceStepsOptions {
    uint32_t batch = 512;
    cpu::KvType kv = cpu::KvType::f16;
    sparse::Mode sparse = sparse::Mode::automatic;
    std::map<uint32_t, HotNeurons> layers = {};   ///< those it computes, and of their neurons how many
    bool output = false;                 ///< and the output matrix
};

/// The steps of layers on a graphics device: weights, keys and values lie in its memory, and the residual stream stays there
/// from one of its layers to the next.
class DeviceSteps : public model::ElsewhereSteps {
public:
    /// Puts the weights there. Throws Error, gpu::OutOfDeviceMemory. Keeps references to all but the options.
    DeviceSteps(gpu::Device& device, const model::Description& description, const model::Weights& weights,
                const DeviceStepsOptions& options);
    ~DeviceSteps() override;

    /// Gives the sequence its keys and values on the device.
    void prepare(model::Sequence& sequence) const;

    void begin(std::span<const model::TokenRow> rows, const model::RopeTable& rope,
               const model::RopeTable& window_rope, model::ColdHalf& cold) override;
    void take(MatrixView<const float> x) override;
    void give(MatrixView<float> x) override;
    void output(std::span<const uint32_t> rows, MatrixView<float> logits) override;

private:
    using Piece = placement::Scratch;
    struct Memory;

    void norm(const model::NormWeights& norm, Rows from, Rows to) override;
    void projectHeads(uint32_t i, Rows from) override;
    void rotateAndStore(uint32_t i) override;
    void attendHeads(uint32_t i) override;
    void gateHeads(uint32_t i) override;
    void projectOutput(uint32_t i, Rows to) override;
    void latentAttention(uint32_t i, Rows from, Rows to) override;
    void deltaNet(uint32_t i, Rows from, Rows to) override;
    void route(uint32_t i, Rows from) override;
    void feedForward(uint32_t i, Rows from, Rows to) override;
    void addBranch(Rows branch, const model::NormWeights& post_norm) override;

    // feed_forward.cpp
    void denseFeedForward(const DeviceLayer& l, gpu::DevPtr<const float> from, gpu::DevPtr<float> to);
    void hotListed(const DeviceLayer& l, gpu::DevPtr<const float> from, gpu::DevPtr<float> to, bool predicted);
    void predictNeurons(const DeviceLayer& l, size_t token);
    void withColdHalf(const model::ColdNeurons& cold, const gpu::Handover::Sent& sent, uint32_t n,
                      gpu::DevPtr<float> to, const std::function<void()>& hot_half);
    void tokenFeedForward(uint32_t i, size_t token, Rows from, Rows to);
    float threshold() const;
    uint32_t neuronsOf(uint32_t i) const { return d_.shapes[i].feed_forward; }

    void normRows(const model::NormWeights& norm, gpu::DevPtr<const float> from, gpu::DevPtr<float> to, uint32_t rows,
                  uint32_t cols);
    void normHeads(const DeviceNorm& norm, gpu::DevPtr<float> heads, uint32_t count, uint32_t width);
    void rotateHeads(uint32_t i, gpu::DevPtr<float> heads, uint32_t count, uint32_t width);
    void attendToken(uint32_t i, size_t token);
    gpu::DevPtr<float> piece(Piece piece) const { return scratch_[static_cast<size_t>(piece)].as<float>(); }
    gpu::DevPtr<uint32_t> numbers(Piece piece) const { return scratch_[static_cast<size_t>(piece)].as<uint32_t>(); }
    gpu::DevPtr<float> rows(Rows rows) const;
    DeviceInput input(gpu::DevPtr<const float> x, uint32_t n, uint32_t cols) const { return {x, n, cols}; }
    uint32_t tokens() const { return static_cast<uint32_t>(rows_.size()); }
    gpu::kernels::Cache cache() const;

    gpu::Device& device_;
    DeviceStepsOptions options_;
    gpu::Progress progress_;
    std::map<uint32_t, DeviceLayer> layers_;
    std::map<const float*, DeviceNorm> norms_;   // by the address of their weights in main memory
    DeviceLinear output_;
    std::array<gpu::Buffer, static_cast<size_t>(Piece::end)> scratch_;
    std::unique_ptr<Launches> launch_;
    std::unique_ptr<gpu::Handover> handover_;    // where a layer has cold neurons
    std::vector<uint32_t> cold_list_;

    std::span<const model::TokenRow> rows_;      // of the pass
    model::ColdHalf* cold_ = nullptr;
    std::vector<uint32_t> cells_, window_cells_, counts_;
    uint32_t rotated_ = 0, window_rotated_ = 0;
};

}  // namespace hearth::runtime
