#pragma once

#include <array>
#include <cstdint>

#include "engine/gguf/type.h"

/// What stands where in a block, as far as taking blocks apart needs it (formats §1.7). How codes are packed is left to
/// quant::decode: a block whose scales are replaced by ones decodes to its codes.
namespace hearth::sparse::detail {

inline constexpr uint8_t kNone = 0xff;

enum class Scale : uint8_t {
    half,  ///< a half-precision number, and perhaps one for the minimum
    byte,  ///< eight bits of a float format
    coded,  ///< integers that common half-precision numbers scale
};

/// `count` bytes at `at` that are all `value` when every scale of a block is to be one.
struct Ones {
    uint8_t at = 0, count = 0, value = 0;
};

struct BlockFields {
    gguf::Type type;
    Scale scale;
    uint8_t bits;  ///< of a code
    uint16_t group;  ///< values that share a scale
    uint8_t scale_at;  ///< the (common) scale; the first byte of several with Scale::byte
    uint8_t minimum_at;  ///< the (common) minimum, a half-precision number; kNone
    int8_t minimum_sign;  ///< whether the minimum is added (+1) or subtracted (−1)
    int8_t lowest;  ///< value of code 0
    bool table;  ///< values are not lowest, lowest + 1, … but what the lowest bits of a code byte decode to
    std::array<Ones, 3> ones;  ///< for Scale::byte and Scale::coded
};

/// nullptr for types that are not made of blocks.
const BlockFields* findFields(gguf::Type type);

}  // namespace hearth::sparse::detail
