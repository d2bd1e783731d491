#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace hearth {

/// A file mapped read-only. Pages of a file that shrinks or vanishes while mapped read as zeros after the first touch,
/// and damaged() turns true: a SIGBUS inside a mapping never ends the program. Work that read from the mapping must
/// ask damaged() before it shows its result.
class MappedFile {
public:
    /// Throws Error: not found, a directory, empty, not readable, mapping failed.
    static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const noexcept;
    const std::filesystem::path& path() const noexcept;
    bool damaged() const noexcept;
    /// Throws Error with the file's name when damaged().
    void check() const;

private:
    struct State;
    explicit MappedFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace hearth
