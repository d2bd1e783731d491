#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/mapped_file.h"
#include "engine/base/thread_pool.h"
#include "engine/cpu/matmul.h"
#include "engine/gguf/file.h"
#include "engine/placement/device.h"
#include "engine/sparse/sidecar.h"

namespace hearth::placement {

/// The types of a file's matrices, each once: what speeds are measured for.
std::vector<gguf::Type> weightTypes(const gguf::File& file);

/// Measures the processor: products with weights that no cache holds, each run with others than the one before. They lie
/// in a mapped file as a model's do, because pages of the file cache and of the heap are not read equally fast. Each figure
/// is the median of some runs.
class SpeedProbe {
public:
    /// Writes the weights into a file in `folder` that is gone as soon as it is mapped. Throws Error when that fails.
    SpeedProbe(ThreadPool& pool, const std::filesystem::path& folder);
    /// Bytes per second of products of one token with weights of `type`.
    double dense(gguf::Type type, int runs = 5);
    /// The same for rows that fire at random, one in eight, as up- and as down-projection.
    double gathered(gguf::Type type, int runs = 5);
    /// Operations per second of products with 128 tokens.
    double manyTokens(gguf::Type type, int runs = 3);
    /// Seconds that the hand-outs to the pool take in one layer.
    double layerSeconds() const;

private:
    /// The next part of the memory as weights.
    cpu::Weight weight(gguf::Type type);

    ThreadPool& pool_;
    size_t bytes_;  // of one part
    size_t next_ = 0;  // part
    std::shared_ptr<const MappedFile> weights_;
};

/// How fast this machine's processor is, measured once for each number of threads and kept in a sidecar: reading, dense and
/// scattered products by weight type, products with many tokens, and what a layer takes beside its bytes.
class CpuSpeeds {
public:
    /// `folder`: where results are kept; defaultFolder() but in tests.
    explicit CpuSpeeds(ThreadPool& pool, std::filesystem::path folder = defaultFolder());

    /// Gives `cpu` its speeds, for weights of `types` too. What is not known yet is measured (about a second, and a fraction
    /// of one for each type) and kept. What is kept for another processor, instruction-set level or number of threads, or is
    /// damaged, is not used. Throws Error when there is no room for the measurement; a folder that cannot be written is no
    /// error.
    void describe(Device& cpu, std::span<const gguf::Type> types);
    /// Measures everything again that describe() is asked for.
    void forget();

    /// Where the results of this machine and number of threads are kept.
    std::filesystem::path path() const;
    /// $XDG_CACHE_HOME/hearth/machine, or below ~/.cache.
    static std::filesystem::path defaultFolder();

private:
    void load();
    void save() const;

    ThreadPool& pool_;
    std::filesystem::path folder_;
    sparse::Sidecars sidecars_;
    std::string identity_;  // of processor, level and threads
    Device known_;  // speeds measured so far; 0 = not yet
};

}  // namespace hearth::placement
