#pragma once

#include <cstddef>
#include <cstdint>

/// What kernels of products read and write: plain data, so that kernel files need no templates of other headers.
namespace hearth::cpu {

/// 32 activations rounded to 8 bits: value = scale · code.
constexpr size_t kXBlock = 32;
struct alignas(64) XBlock {
    int8_t codes[kXBlock];
    float scale;
    float sum_all;          ///< scale · Σ codes
    float sums[2];          ///< the same of each half
    int32_t negative_all;   ///< −Σ codes
    int32_t negative[2];    ///< the same of each half
};
static_assert(sizeof(XBlock) == 64);

/// Rows [begin, end) of a weight [rows, cols] times `tokens` rows of activations. rows ≥ the level's lanes.
struct ProductJob {
    const uint8_t* weight = nullptr;
    size_t row_bytes = 0, rows = 0, cols = 0, begin = 0, end = 0;
    size_t ahead = 0;  ///< rows up to which the same thread is likely to go on: the next ones are prefetched
    const XBlock* rounded = nullptr;  ///< for block types: [tokens, cols / 32], tokens rounded_stride blocks apart
    size_t rounded_stride = 0;
    const float* x = nullptr;         ///< for float types: [tokens, cols]
    size_t x_stride = 0;
    size_t tokens = 0;
    float* out = nullptr;             ///< out[t * out_stride + row]
    size_t out_stride = 0;
    unsigned char* scratch = nullptr;
};

}  // namespace hearth::cpu
