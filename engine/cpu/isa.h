#pragma once

#include <span>
#include <string_view>

namespace hearth::cpu {

/// Instruction-set levels. avx2 = AVX2 + FMA + F16C; avxvnni = avx2 + AVX-VNNI; avx512 = AVX-512 F, BW, VL, DQ, VNNI.
enum class Isa : unsigned char { generic, avx2, avxvnni, avx512 };

std::string_view isaName(Isa isa);
/// Levels that this processor and operating system run, lowest first.
std::span<const Isa> availableIsas();
/// The level in use: the highest available, or what HEARTH_ISA names (Error if unknown or not available). Resolved once.
Isa activeIsa();

}  // namespace hearth::cpu
