#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace hearth::sparse {

/// The bytes of the entry whose name ends in `name_end` in a zip archive whose entries are not compressed (PKWARE APPNOTE
/// 6.3, §4.3); nullopt: no such entry. Throws Error when the archive is damaged, compressed, split or of the 64-bit kind.
std::optional<std::span<const std::byte>> storedEntry(std::span<const std::byte> zip, std::string_view name_end);

}  // namespace hearth::sparse
