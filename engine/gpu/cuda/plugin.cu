/// The CUDA back end: a library of its own, loaded at run time, so that a machine without a driver only lacks this.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstring>
#include <format>
#include <map>
#include <mutex>
#include <vector>

#include "engine/gpu/backend.h"
#include "engine/gpu/kernels/all.h"

namespace hearth::gpu::cuda {

namespace {

/// Older cards lack what kernels ask for (dot products of bytes, independent threads).
constexpr int kLeastMajor = 7, kLeastMinor = 5;

[[noreturn]] void failed(const char* what, cudaError_t error) {
    throw Error(std::format("the graphics card failed: {}", what), cudaGetErrorString(error),
                "Restart Hearth; if it happens again, update the card's driver");
}

void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) failed(what, error);
}

template <typename Kernel>
__global__ void run(const Kernel kernel) {
    kernel();
}

using Launcher = void (*)(const Grid&, const void*, cudaStream_t);

template <typename Kernel>
void launchOne(const Grid& grid, const void* arguments, cudaStream_t stream) {
    Kernel kernel;
    std::memcpy(&kernel, arguments, sizeof kernel);
    run<<<dim3(grid.x, grid.y), grid.threads, 0, stream>>>(kernel);
}

struct Entry {
    const char* name;
    size_t argument_bytes;
    Launcher launch;
};

template <typename... Kernels>
const Entry& entry(unsigned number, kernels::List<Kernels...>) {
    static const Entry entries[] = {{Kernels::name, sizeof(Kernels), &launchOne<Kernels>}...};
    return entries[number];
}

/// cuStreamWaitValue32 by the running driver, so that the library needs none to be loaded.
using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
WaitValue waitValueFunction() {
    static const WaitValue function = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result;
        if (cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &found, 12000, cudaEnableDefault, &result) != cudaSuccess ||
            result != cudaDriverEntryPointSuccess)
            found = nullptr;
        return reinterpret_cast<WaitValue>(found);
    }();
    return function;
}

class CudaDevice : public Device {
public:
    explicit CudaDevice(int number) : number_(number), name_(std::format("cuda:{}", number)) {
        use();
        check(cudaStreamCreateWithFlags(&streams_.emplace_back(), cudaStreamNonBlocking), "a stream could not be made");
    }
    ~CudaDevice() override {
        cudaSetDevice(number_);
        cudaDeviceSynchronize();
        for (const auto& [id, event] : events_) cudaEventDestroy(event);
        for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    }

    const std::string& name() const override { return name_; }
    uint64_t bytesTotal() const override { return memory().second; }
    uint64_t bytesFree() const override { return memory().first; }

    void* allocate(uint64_t bytes) override {
        use();
        void* address = nullptr;
        const cudaError_t error = cudaMalloc(&address, bytes);
        if (error == cudaErrorMemoryAllocation) {
            cudaGetLastError();   // it is dealt with
            throw OutOfDeviceMemory(name_, bytes, bytesFree());
        }
        check(error, "memory could not be had");
        return address;
    }
    void free(void* address) noexcept override {
        cudaSetDevice(number_);
        cudaFree(address);   // waits for the work before it
    }
    Mapped allocateMapped(uint64_t bytes) override {
        use();
        Mapped memory;
        check(cudaHostAlloc(&memory.host, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "shared memory could not be had");
        check(cudaHostGetDevicePointer(&memory.device, memory.host, 0), "shared memory could not be mapped");
        return memory;
    }
    void freeMapped(const Mapped& memory) noexcept override {
        cudaSetDevice(number_);
        cudaDeviceSynchronize();
        cudaFreeHost(memory.host);
    }

    StreamId createStream() override {
        use();
        check(cudaStreamCreateWithFlags(&streams_.emplace_back(), cudaStreamNonBlocking), "a stream could not be made");
        return static_cast<StreamId>(streams_.size() - 1);
    }
    void copyIn(StreamId stream, void* device, const void* host, uint64_t bytes) override {
        copy(stream, device, host, bytes, cudaMemcpyHostToDevice);
    }
    void copyOut(StreamId stream, void* host, const void* device, uint64_t bytes) override {
        copy(stream, host, device, bytes, cudaMemcpyDeviceToHost);
    }
    void copyWithin(StreamId stream, void* to, const void* from, uint64_t bytes) override {
        copy(stream, to, from, bytes, cudaMemcpyDeviceToDevice);
    }
    void fill(StreamId stream, void* device, uint8_t value, uint64_t bytes) override {
        use();
        check(cudaMemsetAsync(device, value, bytes, streams_.at(stream)), "memory could not be filled");
    }
    void launchKernel(StreamId stream, unsigned kernel, const Grid& grid, const void* arguments, size_t bytes) override {
        use();
        const Entry& e = entry(kernel, kernels::All());
        if (bytes != e.argument_bytes) throw std::logic_error(std::format("kernel {} takes {} bytes", e.name, e.argument_bytes));
        e.launch(grid, arguments, streams_.at(stream));
        check(cudaGetLastError(), e.name);
    }

    EventId record(StreamId stream) override {
        use();
        cudaEvent_t event = nullptr;
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event could not be made");
        const EventId id = ++last_event_;
        events_.emplace(id, event);
        check(cudaEventRecord(event, streams_.at(stream)), "an event could not be recorded");
        forgetReached();
        return id;
    }
    void wait(StreamId stream, EventId event) override {
        use();
        if (const auto found = events_.find(event); found != events_.end())
            check(cudaStreamWaitEvent(streams_.at(stream), found->second), "a stream could not wait");
    }
    void waitValue(StreamId stream, const void* mapped, uint32_t value) override {
        use();
        if (waitValueFunction() == nullptr)
            throw Error(std::format("cannot use {}", name_), "its driver has no waiting for values", "Update the driver");
        const auto address = reinterpret_cast<CUdeviceptr>(mapped);
        if (waitValueFunction()(streams_.at(stream), address, value, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS)
            failed("a stream could not wait for a value", cudaErrorUnknown);
    }
    bool done(EventId event) override {
        use();
        const auto found = events_.find(event);
        return found == events_.end() || cudaEventQuery(found->second) != cudaErrorNotReady;
    }
    void synchronize(EventId event) override {
        use();
        if (const auto found = events_.find(event); found != events_.end())
            check(cudaEventSynchronize(found->second), "what was waited for did not come");
        forgetReached();
    }
    void synchronize() override {
        use();
        check(cudaDeviceSynchronize(), "its work did not end well");
    }

private:
    void use() const { check(cudaSetDevice(number_), "it is not there any more"); }
    std::pair<uint64_t, uint64_t> memory() const {
        use();
        size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "it does not say how much memory it has");
        return {free, total};
    }
    void copy(StreamId stream, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind) {
        use();
        check(cudaMemcpyAsync(to, from, bytes, kind, streams_.at(stream)), "a copy could not be made");
    }
    /// An event that was reached holds nobody up any more.
    void forgetReached() {
        while (!events_.empty() && cudaEventQuery(events_.begin()->second) == cudaSuccess) {
            cudaEventDestroy(events_.begin()->second);
            events_.erase(events_.begin());
        }
    }

    int number_;
    std::string name_;
    std::vector<cudaStream_t> streams_;
    std::map<EventId, cudaEvent_t> events_;
    EventId last_event_ = 0;
};

std::string whyNot(const cudaDeviceProp& card) {
    if (card.major > kLeastMajor || (card.major == kLeastMajor && card.minor >= kLeastMinor)) return {};
    return std::format("its compute capability is {}.{}, and Hearth needs {}.{}", card.major, card.minor, kLeastMajor, kLeastMinor);
}

Discovery discover() {
    Discovery all;
    int count = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess) {
        const bool driver = error != cudaErrorInsufficientDriver;
        all.notes.push_back(std::format("no NVIDIA card is used: {}", driver ? cudaGetErrorString(error)
                                                                            : "there is no NVIDIA driver, or it is too old"));
        return all;
    }
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp card{};
        Found found{std::format("cuda:{}", i), "NVIDIA card", 0, 0, {}};
        if (const cudaError_t error = cudaGetDeviceProperties(&card, i); error != cudaSuccess) {
            found.why_not = cudaGetErrorString(error);
        } else {
            found.description = card.name;
            found.bytes_total = card.totalGlobalMem;
            found.why_not = whyNot(card);
            size_t free = 0, total = 0;
            if (found.why_not.empty() && cudaSetDevice(i) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess)
                found.bytes_free = free;
        }
        all.devices.push_back(found);
    }
    return all;
}

std::unique_ptr<Device> open(unsigned number) {
    const Discovery all = discover();
    if (number >= all.devices.size())
        throw Error(std::format("cannot use cuda:{}", number),
                    all.notes.empty() ? "there is no such card" : all.notes.front(), "hearth-cli devices lists those there are");
    if (!all.devices[number].why_not.empty())
        throw Error(std::format("cannot use cuda:{}", number), all.devices[number].why_not);
    return std::make_unique<CudaDevice>(static_cast<int>(number));
}

}  // namespace
}  // namespace hearth::gpu::cuda

extern "C" __attribute__((visibility("default"))) const hearth::gpu::Backend* hearth_gpu_backend() {
    static const hearth::gpu::Backend backend{hearth::gpu::kernelLayout(), hearth::gpu::cuda::discover, hearth::gpu::cuda::open};
    return &backend;
}
