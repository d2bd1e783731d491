#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/gguf/type.h"

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

    double copy_bytes_per_s = 0;  ///< from main memory to a graphics device; 0 = not known
    uint64_t context_bytes = 0;  ///< what the driver takes before the first buffer, where bytes_free does not tell yet
    double gather = 0.85;  ///< share of the reading speed that scattered rows reach (sparsity §4.3)
    /// How fast weights of a type are multiplied with one token, where that is slower than reading them; measured.
    std::map<gguf::Type, double> type_bytes_per_s = {};
    double layer_s = 0;  ///< seconds that a layer takes beside its bytes: hand-outs to threads, kernel launches

    /// Bytes per second for dense products with weights of `type`.
    double rate(gguf::Type type) const;
};

/// The processor and its main memory, as the system reports them now; control-group limits count. Speeds are left 0.
Device cpuDevice();

}  // namespace hearth::placement
