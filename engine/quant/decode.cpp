#include <array>
#include <bit>
#include <cstring>
#include <format>

#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/quant/blocks.h"

namespace hearth::quant {

namespace detail {

float readHalf(const uint8_t* bytes) { return halfToFloat(static_cast<uint16_t>(bytes[0] | bytes[1] << 8)); }

size_t countBlocks(Type type, size_t values, size_t bytes) {
    const gguf::TypeInfo& info = gguf::typeInfo(type);
    const size_t blocks = values / info.block_elements;
    if (values % info.block_elements != 0 || blocks != bytes / info.block_bytes || bytes % info.block_bytes != 0)
        throw Error(std::format("cannot convert {} values of type {}", values, info.name),
                    std::format("{} values in {} bytes are not whole blocks of {} values in {} bytes", values, bytes,
                                info.block_elements, info.block_bytes));
    return blocks;
}

namespace {

/// 32 four-bit codes in 16 bytes: first all low nibbles, then all high nibbles.
inline int nibble(const uint8_t* codes, int j) { return j < 16 ? codes[j] & 15 : codes[j - 16] >> 4; }

inline uint32_t readWord(const uint8_t* bytes) {
    return static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
           static_cast<uint32_t>(bytes[2]) << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

inline int fifthBit(uint32_t word, int j) { return static_cast<int>(word >> j & 1u) << 4; }

}  // namespace

void decodeQ4_0(const uint8_t* block, float* out) {
    const float scale = readHalf(block);
    for (int j = 0; j < 32; ++j) out[j] = static_cast<float>(nibble(block + 2, j) - 8) * scale;
}

void decodeQ4_1(const uint8_t* block, float* out) {
    const float scale = readHalf(block), minimum = readHalf(block + 2);
    for (int j = 0; j < 32; ++j) out[j] = static_cast<float>(nibble(block + 4, j)) * scale + minimum;
}

void decodeQ5_0(const uint8_t* block, float* out) {
    const float scale = readHalf(block);
    const uint32_t high = readWord(block + 2);
    for (int j = 0; j < 32; ++j) out[j] = static_cast<float>((nibble(block + 6, j) | fifthBit(high, j)) - 16) * scale;
}

void decodeQ5_1(const uint8_t* block, float* out) {
    const float scale = readHalf(block), minimum = readHalf(block + 2);
    const uint32_t high = readWord(block + 4);
    for (int j = 0; j < 32; ++j)
        out[j] = static_cast<float>(nibble(block + 8, j) | fifthBit(high, j)) * scale + minimum;
}

void decodeQ8_0(const uint8_t* block, float* out) {
    const float scale = readHalf(block);
    for (int j = 0; j < 32; ++j) out[j] = static_cast<float>(static_cast<int8_t>(block[2 + j])) * scale;
}

namespace {

DecodeBlock decoder(Type type) {
    switch (type) {
        case Type::Q4_0: return decodeQ4_0;
        case Type::Q4_1: return decodeQ4_1;
        case Type::Q5_0: return decodeQ5_0;
        case Type::Q5_1: return decodeQ5_1;
        case Type::Q8_0: return decodeQ8_0;
        case Type::Q2_K: return decodeQ2_K;
        case Type::Q3_K: return decodeQ3_K;
        case Type::Q4_K: return decodeQ4_K;
        case Type::Q5_K: return decodeQ5_K;
        case Type::Q6_K: return decodeQ6_K;
        case Type::IQ4_NL: return decodeIQ4_NL;
        case Type::IQ4_XS: return decodeIQ4_XS;
        case Type::TQ1_0: return decodeTQ1_0;
        case Type::TQ2_0: return decodeTQ2_0;
        case Type::MXFP4: return decodeMXFP4;
        case Type::NVFP4: return decodeNVFP4;
        case Type::Q1_0: return decodeQ1_0;
        case Type::Q2_0: return decodeQ2_0;
        default: return nullptr;
    }
}

template <typename Convert>
void decode16(std::span<const std::byte> bytes, std::span<float> out, Convert toFloat) {
    for (size_t i = 0; i < out.size(); ++i) {
        uint16_t bits;
        std::memcpy(&bits, bytes.data() + 2 * i, 2);
        out[i] = toFloat(bits);
    }
}

}  // namespace
}  // namespace detail

void decode(Type type, std::span<const std::byte> blocks, std::span<float> out) {
    static_assert(std::endian::native == std::endian::little, "GGUF values are read as they stand in the file");
    const size_t count = detail::countBlocks(type, out.size(), blocks.size());
    if (count == 0) return;
    switch (type) {
        case Type::F32: std::memcpy(out.data(), blocks.data(), blocks.size()); return;
        case Type::F16: detail::decode16(blocks, out, halfToFloat); return;
        case Type::BF16: detail::decode16(blocks, out, bf16ToFloat); return;
        default: break;
    }
    const gguf::TypeInfo& info = gguf::typeInfo(type);
    const detail::DecodeBlock decodeBlock = detail::decoder(type);
    if (!decodeBlock)
        throw Error(std::format("cannot read values of type {}", info.name), "the type holds no weights",
                    "Use a file whose weights are floating point or quantised");
    const auto* block = reinterpret_cast<const uint8_t*>(blocks.data());
    for (size_t b = 0; b < count; ++b) decodeBlock(block + b * info.block_bytes, out.data() + b * info.block_elements);
}

}  // namespace hearth::quant
