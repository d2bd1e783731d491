#include "engine/gpu/backend.h"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <format>

#include "engine/base/size.h"
#include "engine/gpu/emulated/emulated_device.h"

namespace hearth::gpu {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCudaLibrary = "libhearth_cuda.so";

/// Beside the program (as it is built), or in the library folder (as it is installed).
fs::path cudaLibrary() {
    std::error_code ignored;
    const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
    for (const fs::path& at : {folder / kCudaLibrary, folder.parent_path() / HEARTH_PLUGIN_FOLDER / kCudaLibrary})
        if (fs::exists(at, ignored)) return at;
    return {};
}

struct Cuda {
    const Backend* backend = nullptr;
    std::string why_not;
};

/// Loaded once and never unloaded: a driver does not like to go.
const Cuda& cuda() {
    static const Cuda loaded = [] {
        const fs::path path = cudaLibrary();
        if (path.empty()) return Cuda{nullptr, "no NVIDIA card is used: Hearth's CUDA back end is not installed"};
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return Cuda{nullptr, std::format("no NVIDIA card is used: {}", dlerror())};
        const auto entry = reinterpret_cast<const Backend* (*)()>(dlsym(library, "hearth_gpu_backend"));
        const Backend* const backend = entry != nullptr ? entry() : nullptr;
        if (backend == nullptr || backend->layout != kernelLayout())
            return Cuda{nullptr, "no NVIDIA card is used: the CUDA back end belongs to another version of Hearth"};
        return Cuda{backend, {}};
    }();
    return loaded;
}

std::vector<uint64_t> wantedSizes() {
    const char* const text = std::getenv("HEARTH_DEVICES");
    return text != nullptr ? emulatedSizes(text) : std::vector<uint64_t>();
}

std::optional<unsigned> numberAfter(std::string_view name, std::string_view kind) {
    if (!name.starts_with(kind)) return std::nullopt;
    name.remove_prefix(kind.size());
    unsigned number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (name.empty() || error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return number;
}

}  // namespace

std::vector<uint64_t> emulatedSizes(std::string_view text) {
    std::vector<uint64_t> sizes;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        constexpr std::string_view kind = "emulated:";
        const auto bytes = item.starts_with(kind) ? parseSize(item.substr(kind.size())) : std::nullopt;
        if (!bytes || *bytes == 0)
            throw Error("cannot use HEARTH_DEVICES", std::format("\"{}\" is no device that can be emulated", item),
                        "Write it like emulated:6G,emulated:4G");
        sizes.push_back(*bytes);
    }
    return sizes;
}

Discovery discover() {
    Discovery all;
    if (cuda().backend != nullptr) all = cuda().backend->discover();
    else all.notes.push_back(cuda().why_not);
    size_t number = 0;
    for (const uint64_t bytes : wantedSizes())
        all.devices.push_back({std::format("emulated:{}", number++), "emulated on the processor", bytes, bytes, {}});
    return all;
}

std::unique_ptr<Device> open(std::string_view name) {
    if (const auto number = numberAfter(name, "emulated:")) {
        const std::vector<uint64_t> sizes = wantedSizes();
        // The first one is there without being asked for, so that kernels can be tried anywhere.
        if (*number < std::max<size_t>(sizes.size(), 1)) {
            emulated::Options options{.name = std::string(name)};
            if (!sizes.empty()) options.bytes = sizes[*number];
            return std::make_unique<emulated::EmulatedDevice>(std::move(options));
        }
    }
    if (const auto number = numberAfter(name, "cuda:")) {
        if (cuda().backend == nullptr) throw Error(std::format("cannot use {}", name), cuda().why_not);
        return cuda().backend->open(*number);
    }
    throw Error(std::format("cannot use {}", name), "there is no such device",
                "hearth-cli devices lists those there are");
}

}  // namespace hearth::gpu
