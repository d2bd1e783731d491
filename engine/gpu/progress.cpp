#include "engine/gpu/progress.h"

#include <format>
#include <thread>

#include "engine/base/error.h"

namespace hearth::gpu {

std::chrono::milliseconds patienceFor(const Device& device) {
    constexpr std::chrono::milliseconds patience(2000);
    return device.name().starts_with("emulated") ? 50 * patience : patience;
}

void throwLost(const Device& device, std::chrono::duration<double> silent) {
    throw Error(std::format("{} no longer answers", device.name()),
                std::format("it has been silent for {:.1f} s", silent.count()),
                "Load the model again, with a lower budget or without this device");
}

void Progress::await(const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    constexpr auto spin = std::chrono::microseconds(50);
    auto begin = Clock::now();
    while (!marks_.empty()) {
        if (device_.done(marks_.front())) {
            device_.synchronize(marks_.front());   // says what went wrong
            marks_.pop_front();
            begin = Clock::now();
            continue;
        }
        const auto silent = Clock::now() - begin;
        if (silent < spin) continue;
        throwIfStopped(stop);
        if (silent > patience_) throwLost(device_, silent);
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

}  // namespace hearth::gpu
