#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace hearth::gguf {

/// A file in the making: written under its name + ".part", renamed by commit(), removed otherwise.
class OutputFile {
public:
    /// Throws Error when `bytes` do not fit on the drive, the folder is missing or not writable, or another program is
    /// writing the same file.
    OutputFile(const std::filesystem::path& path, uint64_t bytes);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::span<const std::byte> bytes);
    /// Waits until the drive has it all, then gives it its final name.
    void commit();

private:
    [[noreturn]] void fail(int code) const;
    void requireSpace(uint64_t bytes) const;

    std::filesystem::path path_, partial_;
    int descriptor_ = -1;
};

}  // namespace hearth::gguf
