#include "engine/placement/device.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace hearth::placement {
namespace {

std::optional<uint64_t> numberIn(const char* path) {
    std::ifstream in(path);
    uint64_t value = 0;
    if (in >> value) return value;
    return std::nullopt;
}

/// A line of /proc/meminfo in bytes.
uint64_t memoryInfo(const std::string& name) {
    std::ifstream in("/proc/meminfo");
    std::string key, unit;
    uint64_t kib = 0;
    while (in >> key >> kib && std::getline(in, unit))
        if (key == name + ":") return kib * 1024;
    return 0;
}

}  // namespace

double Device::rate(gguf::Type type) const {
    const auto found = type_bytes_per_s.find(type);
    return found == type_bytes_per_s.end() ? read_bytes_per_s : found->second;
}

Device cpuDevice() {
    Device cpu{.name = "cpu",
               .kind = Kind::cpu,
               .bytes_total = memoryInfo("MemTotal"),
               .bytes_free = memoryInfo("MemAvailable")};
    if (const auto limit = numberIn("/sys/fs/cgroup/memory.max")) {
        const uint64_t used = numberIn("/sys/fs/cgroup/memory.current").value_or(0);
        cpu.bytes_total = std::min(cpu.bytes_total, *limit);
        cpu.bytes_free = std::min(cpu.bytes_free, *limit > used ? *limit - used : 0);
    }
    return cpu;
}

}  // namespace hearth::placement
