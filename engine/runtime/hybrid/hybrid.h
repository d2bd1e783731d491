#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/model/layer_steps.h"
#include "engine/placement/plan.h"
#include "engine/runtime/hybrid/device_steps.h"
#include "engine/runtime/hybrid/open_device.h"

namespace hearth::runtime {

/// Why graphics devices cannot serve this model yet, as a clause; empty when they can.
std::string whyNotOnDevices(const model::Description& description, cpu::KvType kv, const sparse::Choice& sparse);

/// What a plan gives to graphics devices, carried out: the devices, their share of the weights, and who computes what.
class Hybrid {
public:
    /// Keys and values of `plan` must lie where the layer is. Throws Error, gpu::OutOfDeviceMemory. Keeps references to the
    /// description and the weights.
    Hybrid(const model::Description& description, const model::Weights& weights, const placement::Plan& plan,
           const DeviceStepsOptions& options, const OpenDevice& open);

    /// For model::Forward; valid as long as this lives.
    const model::Placing& placing() const { return placing_; }
    /// [layers] whose keys and values lie on a device.
    const std::vector<bool>& layersElsewhere() const { return elsewhere_; }
    /// Gives a new sequence its memory on the devices.
    void prepare(model::Sequence& sequence) const;
    /// Bytes that were allocated on a device so far, as its allocator counts them.
    uint64_t allocated(std::string_view device) const;

private:
    struct Served {
        std::string name;
        std::unique_ptr<gpu::Device> device;
        uint64_t free_before = 0;
        std::unique_ptr<DeviceSteps> steps = {};   // goes before its device
    };
    std::vector<Served> served_;
    model::Placing placing_;
    std::vector<bool> elsewhere_;
};

}  // namespace hearth::runtime
