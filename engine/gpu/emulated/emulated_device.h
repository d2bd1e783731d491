#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/gpu/device.h"
#include "engine/gpu/emulated/block.h"

namespace hearth::gpu::emulated {

struct Options {
    std::string name = "emulated:0";
    uint64_t bytes = uint64_t{1} << 30;
    uint64_t seed = 0;                    ///< orders of threads, blocks and streams
    std::optional<SiteKey> dropped = {};  ///< a wait in a kernel that is left out (tests)
};

/// A graphics card that is not there: kernels run on the processor, on a thread of the device's own. Streams advance in any
/// order that their events allow, by the seed, so that a wait that is missing shows.
class EmulatedDevice : public Device {
public:
    explicit EmulatedDevice(Options options);
    ~EmulatedDevice() override;

    const std::string& name() const override;
    uint64_t bytesTotal() const override;
    uint64_t bytesFree() const override;
    void* allocate(uint64_t bytes) override;
    void free(void* memory) noexcept override;
    Mapped allocateMapped(uint64_t bytes) override;
    void freeMapped(const Mapped& memory) noexcept override;
    StreamId createStream() override;
    void copyIn(StreamId stream, void* device, const void* host, uint64_t bytes) override;
    void copyOut(StreamId stream, void* host, const void* device, uint64_t bytes) override;
    void copyWithin(StreamId stream, void* to, const void* from, uint64_t bytes) override;
    void fill(StreamId stream, void* device, uint8_t value, uint64_t bytes) override;
    void launchKernel(StreamId stream, unsigned kernel, const Grid& grid, const void* arguments, size_t bytes) override;
    EventId record(StreamId stream) override;
    void wait(StreamId stream, EventId event) override;
    void waitValue(StreamId stream, const void* mapped, uint32_t value) override;
    bool done(EventId event) override;
    void synchronize(EventId event) override;
    void synchronize() override;

    /// The waits that kernels have met so far.
    std::set<SiteKey> sites();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace hearth::gpu::emulated
