#include "engine/gpu/handover.h"

#include <cstring>
#include <format>
#include <stdexcept>
#include <thread>

#include "engine/base/error.h"
#include "engine/gpu/kernels/all.h"
#include "engine/gpu/progress.h"

namespace hearth::gpu {

namespace {

constexpr uint64_t kLine = 128;   // two cache lines, which a card and a processor each fetch together
constexpr auto kSpin = std::chrono::microseconds(50);

uint64_t lines(uint64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

}  // namespace

Handover::Handover(Device& device, uint32_t width, uint32_t neurons, std::chrono::milliseconds patience)
    : device_(device), width_(width), neurons_(neurons), patience_(patience) {
    const uint64_t vector = lines(uint64_t{width} * sizeof(float)), list = lines(uint64_t{neurons} * sizeof(uint32_t));
    memory_ = device.allocateMapped(2 * vector + 2 * list + 3 * kLine);
    auto* at = static_cast<std::byte*>(memory_.host);
    std::memset(at, 0, 2 * vector + 2 * list + 3 * kLine);
    const auto take = [&at](uint64_t bytes) { return std::exchange(at, at + bytes); };
    x_ = reinterpret_cast<float*>(take(vector));
    sums_ = reinterpret_cast<float*>(take(vector));
    list_ = reinterpret_cast<uint32_t*>(take(list));
    values_ = reinterpret_cast<float*>(take(list));
    count_ = reinterpret_cast<uint32_t*>(take(kLine));
    from_device_ = reinterpret_cast<uint32_t*>(take(kLine));
    from_processor_ = reinterpret_cast<uint32_t*>(take(kLine));
}

Handover::~Handover() {
    giveBack();
    device_.freeMapped(memory_);
}

void* Handover::onDevice(const void* host) const {
    const auto offset = static_cast<const std::byte*>(host) - static_cast<const std::byte*>(memory_.host);
    return static_cast<std::byte*>(memory_.device) + offset;
}

void Handover::publish(StreamId stream, const Sent& sent) {
    sent_ = sent.n > 0 ? sent.n : width_;
    if (sent_ > width_) throw std::logic_error("a hand-over of more than there is room for");
    ++round_;
    __atomic_store_n(count_, 0, __ATOMIC_RELAXED);
    launch(device_, stream, {1, 1, 256},
           kernels::Publish{sent.x, sent.list, sent.count, sent.values, DevPtr<float>(onDevice(x_)),
                            DevPtr<float>(onDevice(values_)), DevPtr<uint32_t>(onDevice(list_)),
                            DevPtr<uint32_t>(onDevice(count_)), DevPtr<uint32_t>(onDevice(from_device_)), sent_,
                            round_});
    published_ = device_.record(stream);
}

void Handover::await(const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    while (__atomic_load_n(from_device_, __ATOMIC_ACQUIRE) != round_) {
        const auto waited = Clock::now() - begin;
        if (waited < kSpin) continue;
        throwIfStopped(stop);
        // The device got past it without a word: it has failed, and says why.
        if (device_.done(published_) && __atomic_load_n(from_device_, __ATOMIC_ACQUIRE) != round_)
            device_.synchronize(published_);
        if (waited > patience_)
            throwLost(device_, waited);
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

std::span<const uint32_t> Handover::list() const {
    const uint32_t size = __atomic_load_n(count_, __ATOMIC_RELAXED);
    if (size > neurons_)
        throw Error(std::format("{} computes wrongly", device_.name()),
                    std::format("it lists {} neurons of {}", size, neurons_), "Run hearth-cli selftest");
    return {list_, size};
}

void Handover::giveBack() { __atomic_store_n(from_processor_, round_, __ATOMIC_RELEASE); }

void Handover::join(StreamId stream) { device_.waitValue(stream, onDevice(from_processor_), round_); }

}  // namespace hearth::gpu
