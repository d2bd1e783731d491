#include "engine/gpu/emulated/block.h"

#include <algorithm>
#include <array>
#include <format>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/gpu/emulated/fiber.h"

namespace hearth::gpu::emulated {

namespace {

enum class Wait : uint8_t { none, block, warp, ended };
enum class WarpOp : uint8_t { exchange, ballot, sum, maximum };

struct Thread {
    Fiber fiber;
    Wait wait = Wait::none;
    Site site;
    WarpOp op = WarpOp::exchange;
    uint32_t value = 0;     ///< given to a warp function, then what it gives back
    unsigned from = 0;
};

/// Noise that is NaN as a float of either size and far out of range as an index.
constexpr unsigned char kPoison = 0xff;

std::string where(const Site& site) {
    std::string_view file = site.file_name();
    file.remove_prefix(std::min(file.find_last_of('/') + 1, file.size()));
    return std::format("{}:{}", file, site.line());
}

SiteKey keyOf(const Site& site) { return {site.file_name(), site.line(), site.column()}; }

}  // namespace

struct BlockRunner::State {
    std::vector<std::unique_ptr<Thread>> threads;
    std::map<SiteKey, std::vector<unsigned char>> shared;
    std::span<const Window> windows;
    RunOptions options;
    std::mt19937_64 random;
    Grid grid;
    unsigned block_x = 0, block_y = 0, current = 0;
    bool deep = false;   ///< one thread goes as far as it can before others run
    std::optional<std::string> fault;

    void runBlock(const std::function<void()>& body);
    void afterLeaving(unsigned thread, std::vector<unsigned>& ready);
    unsigned pick(std::vector<unsigned>& ready);
    void releaseWaiting(std::vector<unsigned>& ready);
    bool releaseBlock(std::vector<unsigned>& ready);
    void releaseWarp(unsigned first, std::vector<unsigned>& ready);
    void finishWarpOp(std::span<const std::unique_ptr<Thread>> lanes);
    bool dropped(const Site& site);
    uint32_t warpFunction(WarpOp op, uint32_t value, unsigned from, const Site& site);
    void leave(Wait wait, const Site& site);
};

namespace {

/// The runner whose block this system thread is in.
thread_local BlockRunner::State* running = nullptr;

}  // namespace

void fault(const std::string& words) {
    if (!running->fault) running->fault = words;
    throw Faulted();
}

unsigned threadIndex() { return running->current; }
unsigned blockThreads() { return running->grid.threads; }
unsigned blockIndexX() { return running->block_x; }
unsigned blockIndexY() { return running->block_y; }
unsigned gridX() { return running->grid.x; }
unsigned gridY() { return running->grid.y; }

void* translate(const volatile void* address, size_t bytes) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (const Window& w : running->windows) {
        if (at >= w.begin && at < w.end && bytes <= w.end - at)
            return reinterpret_cast<void*>(at + static_cast<uintptr_t>(w.offset));
    }
    fault(std::format("thread {} of block {},{} reached for {} bytes at {:#x}, which is no memory of the device",
                      running->current, running->block_x, running->block_y, bytes, at));
}

void BlockRunner::State::leave(Wait wait, const Site& site) {
    Thread& thread = *threads[current];
    thread.wait = wait;
    thread.site = site;
    thread.fiber.leave();
    if (fault) throw Faulted();
}

/// Both orders are legal: a warp that goes on while others have not begun, and one that waits for all of them.
void BlockRunner::State::afterLeaving(unsigned thread, std::vector<unsigned>& ready) {
    const Wait wait = threads[thread]->wait;
    if (wait == Wait::none) {
        ready.insert(ready.begin(), thread);   // it waits for memory: the others first
    } else if (wait == Wait::warp && (deep || random() % 2 == 0)) {
        releaseWarp(thread / kWarp * kWarp, ready);
    }
}

bool BlockRunner::State::dropped(const Site& site) {
    if (options.sites == nullptr && options.dropped == nullptr) return false;
    const SiteKey key = keyOf(site);
    if (options.sites != nullptr) options.sites->insert(key);
    return options.dropped != nullptr && *options.dropped == key;
}

uint32_t BlockRunner::State::warpFunction(WarpOp op, uint32_t value, unsigned from, const Site& site) {
    Thread& thread = *threads[current];
    thread.op = op;
    thread.value = value;
    thread.from = from % kWarp;
    leave(Wait::warp, site);
    return thread.value;
}

void barrier(const Site& site) {
    if (!running->dropped(site)) running->leave(Wait::block, site);
}
uint32_t exchange(uint32_t value, unsigned from, const Site& site) {
    return running->warpFunction(WarpOp::exchange, value, from, site);
}
uint32_t ballot(bool bit, const Site& site) { return running->warpFunction(WarpOp::ballot, bit, 0, site); }
float butterflySum(float value, const Site& site) {
    return std::bit_cast<float>(running->warpFunction(WarpOp::sum, std::bit_cast<uint32_t>(value), 0, site));
}
float butterflyMax(float value, const Site& site) {
    return std::bit_cast<float>(running->warpFunction(WarpOp::maximum, std::bit_cast<uint32_t>(value), 0, site));
}
void pause() {
    if (running->options.given_up != nullptr && *running->options.given_up) fault("the device was given up");
    running->leave(Wait::none, Site::current());
}

void* sharedMemory(size_t bytes, const Site& site) {
    const auto [found, is_new] = running->shared.try_emplace(keyOf(site));
    if (is_new) found->second.assign(bytes, kPoison);
    if (found->second.size() != bytes) fault(std::format("{}: memory of the block changed its size", where(site)));
    return found->second.data();
}

void BlockRunner::State::finishWarpOp(std::span<const std::unique_ptr<Thread>> lanes) {
    std::array<uint32_t, kWarp> in{}, out{};
    for (unsigned i = 0; i < kWarp; ++i) in[i] = lanes[i]->value;
    switch (lanes[0]->op) {
        case WarpOp::exchange:
            for (unsigned i = 0; i < kWarp; ++i) out[i] = in[lanes[i]->from];
            break;
        case WarpOp::ballot:
            for (unsigned i = 0; i < kWarp; ++i) out[0] |= in[i] << i;
            out.fill(out[0]);
            break;
        case WarpOp::sum:
        case WarpOp::maximum:
            for (unsigned step = kWarp / 2; step > 0; step /= 2) {
                for (unsigned i = 0; i < kWarp; ++i) {
                    const auto a = std::bit_cast<float>(in[i]), b = std::bit_cast<float>(in[i ^ step]);
                    out[i] = std::bit_cast<uint32_t>(lanes[0]->op == WarpOp::sum ? a + b : std::max(a, b));
                }
                in = out;
            }
            break;
    }
    for (unsigned i = 0; i < kWarp; ++i) lanes[i]->value = out[i];
}

/// All 32 lanes have to stand in the same function; while some run on, the others wait.
void BlockRunner::State::releaseWarp(unsigned first, std::vector<unsigned>& ready) {
    const std::span lanes(threads.data() + first, kWarp);
    const auto at_first = [&](const auto& t) {
        return t->wait == Wait::warp && keyOf(t->site) == keyOf(lanes[0]->site);
    };
    if (!std::ranges::all_of(lanes, at_first)) return;
    finishWarpOp(lanes);
    for (unsigned i = first; i < first + kWarp; ++i) {
        threads[i]->wait = Wait::none;
        ready.push_back(i);
    }
}

bool BlockRunner::State::releaseBlock(std::vector<unsigned>& ready) {
    const Thread* waiting = nullptr;
    for (unsigned i = 0; i < grid.threads; ++i) {
        const Thread& t = *threads[i];
        if (t.wait == Wait::ended) continue;
        if (t.wait != Wait::block || (waiting != nullptr && keyOf(waiting->site) != keyOf(t.site))) return false;
        waiting = &t;
    }
    if (waiting == nullptr) return false;
    for (unsigned i = 0; i < grid.threads; ++i) {
        if (threads[i]->wait != Wait::block) continue;
        threads[i]->wait = Wait::none;
        ready.push_back(i);
    }
    return true;
}

/// Nobody can run: what stands complete goes on. What does not is a mistake of the kernel.
void BlockRunner::State::releaseWaiting(std::vector<unsigned>& ready) {
    for (unsigned first = 0; first < grid.threads; first += kWarp) releaseWarp(first, ready);
    if (!ready.empty() || releaseBlock(ready)) return;
    std::map<std::string, unsigned> places;
    for (unsigned i = 0; i < grid.threads; ++i) {
        const Thread& t = *threads[i];
        ++places[t.wait == Wait::ended ? "at the end" : "at " + where(t.site)];
    }
    if (places.size() == 1 && places.begin()->first == "at the end") return;
    fault = "its threads wait for each other for ever:";
    for (const auto& [place, count] : places) *fault += std::format(" {} {},", count, place);
    fault->back() = '.';
}

unsigned BlockRunner::State::pick(std::vector<unsigned>& ready) {
    const size_t at = deep ? ready.size() - 1 : random() % ready.size();
    std::swap(ready[at], ready.back());
    const unsigned thread = ready.back();
    ready.pop_back();
    return thread;
}

void BlockRunner::State::runBlock(const std::function<void()>& body) {
    shared.clear();
    std::vector<unsigned> ready(grid.threads);
    std::iota(ready.begin(), ready.end(), 0u);
    std::ranges::shuffle(ready, random);
    deep = random() % 2 == 0;
    for (unsigned i = 0; i < grid.threads; ++i) {
        threads[i]->wait = Wait::none;
        threads[i]->fiber.start([this, &body] {
            try {
                body();
            } catch (const Faulted&) {
            } catch (const std::exception& error) {
                if (!fault) fault = error.what();
            }
        });
    }
    while (!fault) {
        if (ready.empty()) releaseWaiting(ready);
        if (ready.empty()) break;
        if (!deep && random() % 8 == 0) std::ranges::shuffle(ready, random);
        current = pick(ready);
        if (threads[current]->fiber.resume()) {
            threads[current]->wait = Wait::ended;
        } else {
            afterLeaving(current, ready);
        }
    }
}

BlockRunner::BlockRunner() : state_(std::make_unique<State>()) {}
BlockRunner::~BlockRunner() = default;

void BlockRunner::run(const std::function<void()>& body, const Grid& grid, std::span<const Window> windows,
                      const RunOptions& options) {
    State& s = *state_;
    if (grid.threads == 0 || grid.threads % kWarp != 0 || grid.threads > 1024 || grid.x == 0 || grid.y == 0)
        throw Error("cannot run a kernel",
                    std::format("{} x {} blocks of {} threads are no grid", grid.x, grid.y, grid.threads));
    while (s.threads.size() < grid.threads) s.threads.push_back(std::make_unique<Thread>());
    s.grid = grid;
    s.windows = windows;
    s.options = options;
    s.random.seed(options.seed);
    s.fault.reset();
    std::vector<unsigned> blocks(size_t{grid.x} * grid.y);
    std::iota(blocks.begin(), blocks.end(), 0u);
    std::ranges::shuffle(blocks, s.random);
    State* const outer = std::exchange(running, &s);
    for (size_t i = 0; i < blocks.size() && !s.fault; ++i) {
        s.block_x = blocks[i] % grid.x;
        s.block_y = blocks[i] / grid.x;
        s.runBlock(body);
    }
    running = outer;
    if (s.fault) throw Error("a kernel failed", *s.fault);
}

}  // namespace hearth::gpu::emulated
