#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "engine/gpu/kernel.h"

namespace hearth::gpu::emulated {

/// Where device memory can be reached by kernels: an address in [begin, end) lies `offset` bytes further on.
struct Window {
    uintptr_t begin = 0, end = 0;
    ptrdiff_t offset = 0;
};

/// A place in a kernel that waits: file, line, column.
struct SiteKey {
    std::string_view file;
    uint32_t line = 0, column = 0;
    bool operator==(const SiteKey&) const = default;
    bool operator<(const SiteKey& o) const { return std::tie(line, column, file) < std::tie(o.line, o.column, o.file); }
};

struct RunOptions {
    uint64_t seed = 0;                  ///< order of blocks, and which thread runs when
    const SiteKey* dropped = nullptr;   ///< a wait that is left out
    const std::atomic<bool>* given_up = nullptr;   ///< once true, what waits for memory ends in a fault
    std::set<SiteKey>* sites = nullptr; ///< gathers the waits that were met
};

/// Runs kernels, one block after another, on the calling thread. Keeps the fibers.
class BlockRunner {
public:
    BlockRunner();
    ~BlockRunner();

    /// `body` is what each thread does. `windows`: the memory that it may reach. Throws Error for a fault: an address that
    /// is no memory of the device, threads that wait at different places, a lane that is missing in a warp function.
    void run(const std::function<void()>& body, const Grid& grid, std::span<const Window> windows,
             const RunOptions& options);

    struct State;

private:
    std::unique_ptr<State> state_;
};

}  // namespace hearth::gpu::emulated
