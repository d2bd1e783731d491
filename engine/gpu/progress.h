#pragma once

#include <chrono>
#include <deque>
#include <stop_token>

#include "engine/gpu/device.h"

namespace hearth::gpu {

/// How long a device may go without getting any further before it counts as lost: 2 s, an emulated one fifty times that.
std::chrono::milliseconds patienceFor(const Device& device);

/// Waits for a device that may be lost. Its work is marked on the way; who waits for the end gives up when no mark is passed
/// for too long, however long all of it takes.
class Progress {
public:
    Progress(Device& device, std::chrono::milliseconds patience) : device_(device), patience_(patience) {}

    void mark(StreamId stream) { marks_.push_back(device_.record(stream)); }
    /// Until the last mark is passed. Throws Error: what went wrong on the device, or in words that it is lost; Stopped when
    /// `stop` asks.
    void await(const std::stop_token& stop = {});

private:
    Device& device_;
    std::chrono::milliseconds patience_;
    std::deque<EventId> marks_;
};

/// Throws Error: `device` has been silent for so long.
[[noreturn]] void throwLost(const Device& device, std::chrono::duration<double> silent);

}  // namespace hearth::gpu
