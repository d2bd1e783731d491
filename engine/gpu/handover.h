#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <stop_token>

#include "engine/gpu/device.h"

namespace hearth::gpu {

/// The meeting of a device and the processor in the middle of a layer, once a layer: the device gives the layer's input and
/// the list of cold neurons, the processor gives back one vector of sums, while the device goes on with the hot neurons.
/// All of it goes through mapped memory and flags that count rounds; no call to the driver lies in between
/// (research: sparsity §4.6).
///
/// A round, on the thread that owns the device:
///   publish(stream, …)   the device will give x and the list
///   await()              the processor has them; it computes into sums()
///   giveBack()           the device may go on
///   join(stream)         the stream waits for that; sumsOnDevice() can be added
class Handover {
public:
    /// Room for `width` values of x and of sums and a list of `neurons`. `patience`: how long a device may keep silent before it counts as
    /// lost.
    Handover(Device& device, uint32_t width, uint32_t neurons, std::chrono::milliseconds patience);
    /// Lets the stream go on, whatever it waits for.
    ~Handover();
    Handover(const Handover&) = delete;
    Handover& operator=(const Handover&) = delete;

    /// What a round hands out.
    struct Sent {
        DevPtr<const float> x;
        uint32_t n = 0;                                      ///< values of x, as many as there is room for where 0
        DevPtr<const uint32_t> list = {}, count = {};        ///< null: no list
        DevPtr<const float> values = {};                     ///< one for each of the list, or null
    };
    void publish(StreamId stream, const Sent& sent);
    /// Waits for what was published last. Throws Error in words when the device keeps silent, Stopped when `stop` asks.
    void await(const std::stop_token& stop = {});
    std::span<const float> x() const { return {x_, sent_}; }
    std::span<const float> values() const { return {values_, list().size()}; }
    /// Throws Error when the device gave a list that cannot be.
    std::span<const uint32_t> list() const;
    std::span<float> sums() { return {sums_, sent_}; }
    void giveBack();
    void join(StreamId stream);
    DevPtr<const float> sumsOnDevice() const { return DevPtr<const float>(onDevice(sums_)); }

private:
    void* onDevice(const void* host) const;

    Device& device_;
    uint32_t width_, neurons_, sent_ = 0, round_ = 0;
    std::chrono::milliseconds patience_;
    EventId published_ = 0;
    Mapped memory_;
    float *x_ = nullptr, *sums_ = nullptr, *values_ = nullptr;
    uint32_t *list_ = nullptr, *count_ = nullptr, *from_device_ = nullptr, *from_processor_ = nullptr;
};

}  // namespace hearth::gpu
