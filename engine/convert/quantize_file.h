#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/thread_pool.h"
#include "engine/convert/mix.h"

namespace hearth::convert {

/// How much the inputs of each matrix matter: tensor name → one weight ≥ 0 per value of a row (ne[0] of them), or, for
/// tensors of expert matrices, one such row after another for each expert (ne[0] · ne[2]).
using Importance = std::map<std::string, std::vector<float>, std::less<>>;

struct QuantizeProgress {
    std::string_view tensor;       ///< being worked on; empty at the end
    uint64_t done = 0, total = 0;  ///< bytes of the source's tensors
};

struct QuantizeOptions {
    FileType type = FileType::Q4_K_M;
    bool pure = false;                        ///< see planTypes()
    /// Sources are F32, F16, BF16 and Q8_0 tensors. Others lose quality twice and are refused unless this says so;
    /// tensors that keep their type or become F32 lose nothing and are always taken.
    bool allow_requantizing = false;
    const Importance* importance = nullptr;   ///< must live until the call returns
    std::function<void(const QuantizeProgress&)> progress =
        {};   ///< called from the calling thread, several times a second
    std::stop_token stop = {};                ///< polled every few milliseconds
    /// Bytes free in a folder; by default what the system says.
    std::function<uint64_t(const std::filesystem::path& folder)> free_bytes = {};
};

/// What a file has to say about how it was converted: the types of a PowerInfer file's predictor, or nothing.
std::string predictorNote(const std::filesystem::path& file);

/// Writes the model of `source` (any shard of a split set; the result is one file) to `target`, its tensors converted as
/// planTypes() says, all keys kept but general.file_type and general.quantization_version, which are set. The bytes written
/// depend on the source and the options alone, not on the number of threads.
/// `target` appears only when it is complete. Throws Error (the same file, no space, values that do not fit, refused
/// sources ...) and Stopped; both leave nothing behind.
void quantizeFile(const std::filesystem::path& source, const std::filesystem::path& target,
                  const QuantizeOptions& options, ThreadPool& pool);

}  // namespace hearth::convert
