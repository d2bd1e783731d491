#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::placement {

enum class Kind : uint8_t { cpu, cuda, emulated };

/// Something that computes and has memory of its own. Names: "cpu", "cuda:0", "emulated:0". Bytes and bytes per second.
struct Device {
    std::string name;
    Kind kind = Kind::cpu;
    uint64_t bytes_total = 0, bytes_free = 0;
    double read_bytes_per_s = 0;  ///< 0 = not measured: no speed is predicted
    double flops = 0;
    double handover_s = 0;
};

/// The processor and its main memory, as the system reports them now; control-group limits count. Speeds are left 0.
Device cpuDevice();

}  // namespace hearth::placement
