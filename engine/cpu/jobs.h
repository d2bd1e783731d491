#pragma once

#include <cstddef>
#include <cstdint>

/// What kernels of products read and write: plain data, so that kernel files need no templates of other headers.
namespace hearth::cpu {

/// 32 activations rounded to 8 bits: value = scale · code. A block far above its row's root mean square is rounded to 16
/// bits, in two blocks: value = scale · (kFine · code + the other block's code). Few channels of a model hold such values,
/// and their rounding would be most of the noise of all (Dettmers et al., LLM.int8(), 2022, section 3).
constexpr size_t kXBlock = 32;
constexpr int kFine = 254;          ///< so that both codes lie in −127 … 127
constexpr float kFineFrom = 4.0f;   ///< largest magnitude of a block / root mean square of its row
struct alignas(64) XBlock {
    int8_t codes[kXBlock];
    float scale;
    float sum_all;          ///< scale · Σ of what the codes stand for, the other block's included
    float sums[2];          ///< the same of each half
    int32_t negative_all;   ///< −Σ codes
    int32_t negative[2];    ///< the same of each half
    int32_t low;            ///< 0, or how many blocks behind this one the block of low codes lies
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

/// Rows that are read soon: kernels bring them nearer a little at a time, while they compute.
struct Ahead {
    const uint8_t* weight = nullptr;
    size_t row_bytes = 0;
    const uint32_t* rows = nullptr;
    size_t count = 0;
};

/// out[i] = row rows[i] of a weight [ , cols] times one token of activations.
struct ListedJob {
    const uint8_t* weight = nullptr;
    size_t row_bytes = 0, cols = 0;
    const uint32_t* rows = nullptr;
    size_t count = 0;
    const XBlock* rounded = nullptr;  ///< for block types: [cols / 32]
    const float* x = nullptr;         ///< for float types: [cols]
    float* out = nullptr;
    Ahead ahead;
};

/// sums [tokens, n] += Σ over listed rows, in their order, of coefficient · elements [first, first + n) of the row: for each
/// value, sum = fma(coefficient · scale, code, sum), then, in types with a minimum, sum = sum + coefficient · minimum.
struct AddRowsJob {
    const uint8_t* weight = nullptr;
    size_t row_bytes = 0;
    const uint32_t* rows = nullptr;
    size_t count = 0;
    const float* coefficients = nullptr;   ///< of listed row i for token t at coefficients[t * coefficient_stride + i]
    size_t coefficient_stride = 0;
    size_t first = 0, n = 0;               ///< multiples of the type's block, or the row's end
    size_t tokens = 1;
    float* sums = nullptr;
    size_t sums_stride = 0;
    Ahead ahead;
};

/// sums [outputs] += what listed neurons add, from a down-projection that is regrouped by neuron (sparse/regrouped.h): for
/// each group of neurons that shares scales, in order, sum = fma(scale, Σ coefficient · code, sum), then, in types with a
/// minimum, sum = fma(±minimum, Σ coefficient, sum). The inner sums begin at +0 and take the group's listed neurons in their
/// order, code by fma. A list must not end inside a group that has more listed neurons.
struct AddRegroupedJob {
    const uint8_t *codes = nullptr, *scales = nullptr, *common = nullptr;
    size_t code_row_bytes = 0, scale_row_bytes = 0, common_row_bytes = 0;
    size_t group = 0, common_group = 0;
    size_t outputs = 0;
    const uint32_t* rows = nullptr;        ///< ascending
    size_t count = 0;
    const float* coefficients = nullptr;   ///< of listed neuron i at [i]
    float* sums = nullptr;
    Ahead ahead;
};

}  // namespace hearth::cpu
