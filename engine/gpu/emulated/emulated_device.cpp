#include "engine/gpu/emulated/emulated_device.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <format>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "engine/gpu/emulated/memory.h"
#include "engine/gpu/emulated/registry.h"

namespace hearth::gpu::emulated {

namespace {

/// One thing that a stream does. `ready` is asked, with the lock held, whether it may begin.
struct Work {
    std::function<bool()> ready;   ///< empty: at once
    std::function<void()> run;
    EventId event = 0;             ///< reached when it is done
};

}  // namespace

struct EmulatedDevice::State {
    explicit State(Options o) : options(std::move(o)), memory(options.bytes), random(options.seed) {}

    Options options;
    DeviceMemory memory;
    std::map<const std::byte*, std::unique_ptr<std::byte[]>> mapped;
    std::map<const std::byte*, uint64_t> mapped_bytes;
    std::vector<Window> windows;
    BlockRunner runner;
    std::set<SiteKey> sites;
    std::mt19937_64 random;

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::deque<Work>> streams{1};
    std::set<EventId> pending;   ///< recorded and not reached
    EventId last_event = 0;
    std::exception_ptr failure;
    bool busy = false;
    std::atomic<bool> ending = false;
    std::thread thread;

    void loop();
    std::optional<Work> takeReady();
    bool idle() const;
    void add(StreamId stream, Work work);
    void throwFailure();
    void updateWindows();
    std::byte* reach(const void* address, uint64_t bytes);
};

bool EmulatedDevice::State::idle() const {
    return !busy && std::ranges::all_of(streams, [](const auto& s) { return s.empty(); });
}

std::optional<Work> EmulatedDevice::State::takeReady() {
    std::vector<std::deque<Work>*> ready;
    for (auto& stream : streams) {
        if (!stream.empty() && (failure || !stream.front().ready || stream.front().ready())) ready.push_back(&stream);
    }
    if (ready.empty()) return std::nullopt;
    auto& chosen = *ready[random() % ready.size()];
    Work work = std::move(chosen.front());
    chosen.pop_front();
    return work;
}

void EmulatedDevice::State::loop() {
    std::unique_lock lock(mutex);
    while (!ending) {
        std::optional<Work> work = takeReady();
        if (!work) {
            // What waits for a value in memory is told by nobody.
            const bool polls = !idle();
            if (polls) changed.wait_for(lock, std::chrono::microseconds(20));
            else changed.wait(lock);
            continue;
        }
        busy = true;
        if (work->run && !failure) {
            lock.unlock();
            std::exception_ptr error;
            try {
                work->run();
            } catch (...) {
                error = std::current_exception();
            }
            lock.lock();
            if (error && !failure) failure = error;
        }
        busy = false;
        if (work->event != 0) pending.erase(work->event);
        changed.notify_all();
    }
}

void EmulatedDevice::State::add(StreamId stream, Work work) {
    const std::lock_guard lock(mutex);
    streams.at(stream).push_back(std::move(work));
    changed.notify_all();
}

/// A failed device stays failed, as a card does until its context is made anew; every wait says so.
void EmulatedDevice::State::throwFailure() {
    if (failure) std::rethrow_exception(failure);
}

void EmulatedDevice::State::updateWindows() {
    windows.assign(1, memory.window());
    for (const auto& [begin, bytes] : mapped_bytes) {
        const auto at = reinterpret_cast<uintptr_t>(begin);
        windows.push_back({at, at + bytes, 0});
    }
}

std::byte* EmulatedDevice::State::reach(const void* address, uint64_t bytes) {
    const std::lock_guard lock(mutex);
    return memory.reach(address, bytes);
}

EmulatedDevice::EmulatedDevice(Options options) : state_(std::make_unique<State>(std::move(options))) {
    state_->updateWindows();
    state_->thread = std::thread([state = state_.get()] { state->loop(); });
}

EmulatedDevice::~EmulatedDevice() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->ending = true;
        state_->changed.notify_all();
    }
    state_->thread.join();
}

const std::string& EmulatedDevice::name() const { return state_->options.name; }
uint64_t EmulatedDevice::bytesTotal() const { return state_->memory.bytesTotal(); }

uint64_t EmulatedDevice::bytesFree() const {
    const std::lock_guard lock(state_->mutex);
    return state_->memory.bytesTotal() - state_->memory.bytesUsed();
}

void* EmulatedDevice::allocate(uint64_t bytes) {
    const std::lock_guard lock(state_->mutex);
    void* const memory = state_->memory.allocate(bytes);
    if (memory == nullptr)
        throw OutOfDeviceMemory(name(), bytes, state_->memory.bytesTotal() - state_->memory.bytesUsed());
    return memory;
}

void EmulatedDevice::free(void* memory) noexcept {
    State& s = *state_;
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return s.idle(); });
    try {
        s.memory.free(memory);
    } catch (...) {
        if (!s.failure) s.failure = std::current_exception();
    }
}

Mapped EmulatedDevice::allocateMapped(uint64_t bytes) {
    State& s = *state_;
    auto memory = std::make_unique<std::byte[]>(bytes);
    std::byte* const at = memory.get();
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return !s.busy; });   // a running kernel looks at the windows
    s.mapped.emplace(at, std::move(memory));
    s.mapped_bytes.emplace(at, bytes);
    s.updateWindows();
    return {at, at};
}

void EmulatedDevice::freeMapped(const Mapped& memory) noexcept {
    State& s = *state_;
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return s.idle(); });
    const auto* const at = static_cast<const std::byte*>(memory.host);
    s.mapped.erase(at);
    s.mapped_bytes.erase(at);
    s.updateWindows();
}

StreamId EmulatedDevice::createStream() {
    const std::lock_guard lock(state_->mutex);
    state_->streams.emplace_back();
    return static_cast<StreamId>(state_->streams.size() - 1);
}

void EmulatedDevice::copyIn(StreamId stream, void* device, const void* host, uint64_t bytes) {
    if (bytes == 0) return;
    state_->add(stream, {{}, [=, this] { std::memcpy(state_->reach(device, bytes), host, bytes); }});
}

void EmulatedDevice::copyOut(StreamId stream, void* host, const void* device, uint64_t bytes) {
    if (bytes == 0) return;
    state_->add(stream, {{}, [=, this] { std::memcpy(host, state_->reach(device, bytes), bytes); }});
}

void EmulatedDevice::copyWithin(StreamId stream, void* to, const void* from, uint64_t bytes) {
    if (bytes == 0) return;
    state_->add(stream, {{}, [=, this] { std::memmove(state_->reach(to, bytes), state_->reach(from, bytes), bytes); }});
}

void EmulatedDevice::fill(StreamId stream, void* device, uint8_t value, uint64_t bytes) {
    if (bytes == 0) return;
    state_->add(stream, {{}, [=, this] { std::memset(state_->reach(device, bytes), value, bytes); }});
}

void EmulatedDevice::launchKernel(StreamId stream, unsigned kernel, const Grid& grid, const void* arguments,
                                  size_t bytes) {
    const KernelEntry& entry = kernelEntry(kernel);
    if (bytes != entry.argument_bytes)
        throw std::logic_error(std::format("kernel {} takes {} bytes of arguments", entry.name, entry.argument_bytes));
    const auto* const from = static_cast<const std::byte*>(arguments);
    std::vector<std::byte> copy(from, from + bytes);
    state_->add(stream, {{}, [this, &entry, grid, held = std::move(copy)] {
                             State& s = *state_;
                             RunOptions run;
                             {
                                 const std::lock_guard lock(s.mutex);
                                 run.seed = s.random();
                             }
                             run.dropped = s.options.dropped ? &*s.options.dropped : nullptr;
                             std::set<SiteKey> sites;
                             run.sites = &sites;
                             run.given_up = &s.ending;
                             try {
                                 s.runner.run([&] { entry.run(held.data()); }, grid, s.windows, run);
                             } catch (const Error& error) {
                                 throw Error(std::format("{} failed on {}", entry.name, s.options.name), error.why());
                             }
                             const std::lock_guard lock(s.mutex);
                             s.sites.merge(sites);
                         }});
}

EventId EmulatedDevice::record(StreamId stream) {
    State& s = *state_;
    EventId event;
    {
        const std::lock_guard lock(s.mutex);
        event = ++s.last_event;
        s.pending.insert(event);
    }
    s.add(stream, {{}, {}, event});
    return event;
}

void EmulatedDevice::wait(StreamId stream, EventId event) {
    state_->add(stream, {[this, event] { return !state_->pending.contains(event); }, {}});
}

void EmulatedDevice::waitValue(StreamId stream, const void* mapped, uint32_t value) {
    const auto* const word = static_cast<const uint32_t*>(mapped);
    state_->add(stream,
                {[=] { return static_cast<int32_t>(__atomic_load_n(word, __ATOMIC_ACQUIRE) - value) >= 0; }, {}});
}

bool EmulatedDevice::done(EventId event) {
    const std::lock_guard lock(state_->mutex);
    return !state_->pending.contains(event);
}

void EmulatedDevice::synchronize(EventId event) {
    State& s = *state_;
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return !s.pending.contains(event); });
    s.throwFailure();
}

void EmulatedDevice::synchronize() {
    State& s = *state_;
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return s.idle(); });
    s.throwFailure();
}

std::set<SiteKey> EmulatedDevice::sites() {
    const std::lock_guard lock(state_->mutex);
    return state_->sites;
}

}  // namespace hearth::gpu::emulated
