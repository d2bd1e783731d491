#pragma once

#include <cstddef>
#include <span>

#include "engine/gguf/type.h"

namespace hearth::quant {

using gguf::Type;

/// Decodes out.size() values (a multiple of the block) from blocks of `type`. Exact: scale times code, minus minimum, in
/// float32 (formats §1.7). Throws Error for sizes that do not match.
void decode(Type type, std::span<const std::byte> blocks, std::span<float> out);

/// True for the types that encode() writes: F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 Q4_K Q5_K Q6_K.
bool canEncode(Type type);

/// Encodes `values`, one row of a matrix (a multiple of the block). `importance` is empty or one weight ≥ 0 per value:
/// the squared error of a value counts that much.
void encode(Type type, std::span<const float> values, std::span<std::byte> out, std::span<const float> importance = {});

}  // namespace hearth::quant
