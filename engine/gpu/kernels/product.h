#pragma once

#include "engine/gpu/kernels/blocks.h"

namespace hearth::gpu::kernels {

/// 32 activations rounded to 8 bits: value = scale · code. sums: scale · Σ codes of each half.
struct Rounded {
    int codes[8];
    float scale;
    float sums[2];
    float unused;
};
static_assert(sizeof(Rounded) == 48);

/// Rounds x [rows, cols] to blocks of 32, one warp a block; cols a multiple of 32. Grid: x over groups of blocks of a row
/// (a warp each), y over rows.
struct RoundActivations {
    static constexpr const char* name = "round_activations";
    DevPtr<const float> x;
    DevPtr<Rounded> out;  ///< [rows, cols / 32]
    uint32_t cols;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        const unsigned blocks = cols / 32, block = blockX() * warps() + warp();
        if (block >= blocks) return;  // the whole warp leaves
        const float value = x[size_t{blockY()} * cols + block * 32 + lane()];
        const float scale = warpMax(fabsf(value)) / 127.0f;
        const int code = scale > 0 ? static_cast<int>(rintf(value / scale)) : 0;
        // Four lanes make a word; sums of codes are exact in float, whatever the order.
        uint32_t packed = static_cast<uint32_t>(code & 255) << lane() % 4 * 8;
        packed |= shuffle(packed, lane() ^ 1);
        packed |= shuffle(packed, lane() ^ 2);
        const float low = warpSum(lane() < 16 ? static_cast<float>(code) : 0.0f);
        const float high = warpSum(lane() < 16 ? 0.0f : static_cast<float>(code));
        Rounded& to = out[size_t{blockY()} * blocks + block];
        if (lane() % 4 == 0) to.codes[lane() / 4] = static_cast<int>(packed);
        if (lane() == 0) {
            to.scale = scale;
            to.sums[0] = scale * low;
            to.sums[1] = scale * high;
        }
    }
};

/// Which rows of a weight are wanted: all of them, or those in a list whose length the device knows.
struct Rows {
    DevPtr<const uint32_t> list, count;  ///< null: all `rows`
    uint32_t rows;

    HEARTH_KERNEL_FUNCTION uint32_t size() const { return list ? *count : rows; }
    HEARTH_KERNEL_FUNCTION uint32_t at(uint32_t i) const { return list ? list[i] : i; }
};

/// out[token, i] = row at(i) of weight [rows, cols] · x[token], one warp a row. Grid: x over rows (a warp each, and on in
/// steps of the grid), y over tokens. Each lane adds its groups of 16 in ascending order, the warp by its butterfly.
template <Type type>
struct Multiply {
    static constexpr const char* name = "multiply";
    DevPtr<const uint8_t> weight;
    DevPtr<const Rounded> x;  ///< [tokens, cols / 32]
    DevPtr<float> out;  ///< [tokens, out_stride]
    Rows rows;
    uint32_t cols, out_stride;

    HEARTH_KERNEL_FUNCTION void operator()() const {
        using F = Format<type>;
        constexpr unsigned groups = F::values / 16;
        const DevPtr<const Rounded> token = x + size_t{blockY()} * (cols / 32);
        const uint32_t size = rows.size();
        for (uint32_t i = blockX() * warps() + warp(); i < size; i += gridX() * warps()) {
            const DevPtr<const uint8_t> row = weight + size_t{rows.at(i)} * (cols / F::values * F::bytes);
            float sum = 0;
            for (unsigned g = lane(); g < cols / 16; g += kWarp) {
                const Group group = F::group(row + size_t{g / groups} * F::bytes, g % groups);
                const Rounded& r = token[g / 2];
                int dot = 0;
                for (unsigned k = 0; k < 4; ++k) dot = dot4(group.codes[k], r.codes[g % 2 * 4 + k], dot);
                sum += group.scale * (r.scale * static_cast<float>(dot)) - group.minimum * r.sums[g % 2];
            }
            sum = warpSum(sum);
            if (lane() == 0) out[size_t{blockY()} * out_stride + i] = sum;
        }
    }
};

HEARTH_KERNEL_FUNCTION float halfAt(DevPtr<const uint8_t> p, size_t i) {
    return halfAsFloat(p.as<const uint16_t>()[i]);
}
HEARTH_KERNEL_FUNCTION float bf16At(DevPtr<const uint8_t> p, size_t i) {
    return bitsAsFloat(static_cast<uint32_t>(p.as<const uint16_t>()[i]) << 16);
}

/// The same for weights of floats, with x as it is.
template <Type type>
    requires(type == Type::F32 || type == Type::F16 || type == Type::BF16)
struct Multiply<type> {
    static constexpr const char* name = "multiply_floats";
    DevPtr<const uint8_t> weight;
    DevPtr<const float> x;  ///< [tokens, cols]
    DevPtr<float> out;  ///< [tokens, out_stride]
    Rows rows;
    uint32_t cols, out_stride;

    HEARTH_KERNEL_FUNCTION static float at(DevPtr<const uint8_t> row, size_t i) {
        if constexpr (type == Type::F32) return row.template as<const float>()[i];
        else if constexpr (type == Type::F16) return halfAt(row, i);
        else return bf16At(row, i);
    }
    HEARTH_KERNEL_FUNCTION void operator()() const {
        const DevPtr<const float> token = x + size_t{blockY()} * cols;
        const uint32_t size = rows.size();
        for (uint32_t i = blockX() * warps() + warp(); i < size; i += gridX() * warps()) {
            const DevPtr<const uint8_t> row = weight + size_t{rows.at(i)} * cols * (type == Type::F32 ? 4 : 2);
            float sum = 0;
            for (unsigned c = lane(); c < cols; c += kWarp) sum += at(row, c) * token[c];
            sum = warpSum(sum);
            if (lane() == 0) out[size_t{blockY()} * out_stride + i] = sum;
        }
    }
};

#define HEARTH_FLOAT_TYPES(X) X(F32) X(F16) X(BF16)

}  // namespace hearth::gpu::kernels
