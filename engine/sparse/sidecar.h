#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/gguf/file.h"
#include "engine/gguf/writer.h"

/// Files that hold what was worked out about a model (its prepared layouts, profile, calibration) or a machine (its speeds):
/// made once, read at each start, and worth nothing for any other. They can be deleted at any time; what they held is worked out again.
namespace hearth::sparse {

/// 64 hexadecimal digits: SHA-256 over the sizes of the model's files, all that stands before their tensors' data, and 64
/// samples of 4 KiB, evenly from the first byte of the data to the last. Milliseconds, whatever the model's size. Throws Error when the files can't
/// be read.
std::string identityOf(const gguf::File& model);
/// The same of something that has no file, such as a machine, by what tells it from others.
std::string identityOf(std::string_view description);

/// What a sidecar is, and the version of how it is laid out; one of another version is stale.
struct SidecarKind {
    std::string name;  ///< of the file, without extension: lower-case letters, digits and '-'
    uint32_t version = 1;
};

/// Sidecars of all models: FOLDER/IDENTITY/KIND.gguf.
class Sidecars {
public:
    struct Entry {
        std::filesystem::path path;
        std::string identity, kind;
        uint64_t bytes = 0;
    };

    /// `folder`: by default $XDG_CACHE_HOME/hearth, or ~/.cache/hearth; without either, whatever needs it throws Error.
    explicit Sidecars(std::filesystem::path folder = {});
    static std::filesystem::path defaultFolder();

    /// The sidecar, if there is one and it is what it should be. One that is damaged, cut off, of another model, kind or
    /// version is deleted, and `why_not` (may be nullptr) says why it was not used. Never throws for what a file holds.
    std::shared_ptr<const gguf::File> open(const std::string& identity, const SidecarKind& kind,
                                           std::string* why_not = nullptr) const;

    /// Writes a sidecar; `content` is given identity, kind and version. The file appears complete or not at all. Throws
    /// Error (no space, folder not writable) or Stopped.
    void write(const std::string& identity, const SidecarKind& kind, gguf::Writer& content, std::stop_token stop = {},
               const gguf::Writer::Progress& progress = {}) const;

    /// Where a sidecar lies, or would.
    std::filesystem::path pathOf(const std::string& identity, const SidecarKind& kind) const;
    /// What is on the disk, by path. Files that are no sidecars by their name are left out.
    std::vector<Entry> list() const;
    /// Deletes the sidecars of a model, or of all; the bytes that were freed.
    uint64_t remove(const std::optional<std::string>& identity = {}) const;
    /// Deletes one, if it is there.
    void remove(const std::string& identity, const SidecarKind& kind) const;

private:
    std::filesystem::path folder() const { return folder_.empty() ? defaultFolder() : folder_; }
    std::filesystem::path folder_;   ///< empty: the default
};

}  // namespace hearth::sparse
