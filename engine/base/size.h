#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hearth {

/// Bytes as people write them: `6`, `6G` and `6GiB` are 6 · 2³⁰, `6GB` is 6 · 10⁹ (likewise K, M, T); a bare number from
/// 2²⁰ up is bytes. Fractions are allowed ("1.5G"). nullopt for anything else and for sizes of 2⁶³ bytes and more.
std::optional<uint64_t> parseSize(std::string_view text);

/// "5.87 GiB"; sizes under 0.1 GiB in MiB.
std::string formatSize(uint64_t bytes);

}  // namespace hearth
