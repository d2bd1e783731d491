#include "engine/sparse/regrouped.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <format>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/quant/quant.h"
#include "engine/sparse/block_fields.h"

namespace hearth::sparse {

namespace {

using detail::BlockFields;
using detail::kNone;
using detail::Scale;

constexpr size_t kChunk = 32, kMaxBlock = 256, kMaxBlockBytes = 256;
constexpr uint16_t kHalfOne = 0x3c00;

const BlockFields& fieldsOf(Type type) {
    if (const BlockFields* fields = detail::findFields(type)) return *fields;
    throw Error(std::format("cannot regroup a matrix of type {}", gguf::typeInfo(type).name),
                "its values share no scales");
}

[[noreturn]] void refuseSizes(const Regrouped& layout) {
    throw Error(
        std::format("cannot regroup a matrix of type {}", gguf::typeInfo(layout.type).name),
        std::format("{} outputs of {} neurons do not fit the memory given for them", layout.outputs, layout.neurons));
}

size_t chunkBytes(unsigned bits) {
    return bits == 8 ? kChunk : (bits >= 4 ? 16u : 0u) + (bits & 2 ? 8u : 0u) + (bits & 1 ? 4u : 0u);
}

/// One block as bytes that can be changed and looked at.
class Block {
public:
    Block(const BlockFields& fields, const std::byte* from) : fields_(fields), info_(gguf::typeInfo(fields.type)) {
        std::memcpy(bytes_.data(), from, info_.block_bytes);
    }
    void setScale(uint16_t half) {
        if (fields_.scale != Scale::byte) std::memcpy(bytes_.data() + fields_.scale_at, &half, 2);
    }
    void setMinimum(uint16_t half) {
        if (fields_.minimum_at != kNone) std::memcpy(bytes_.data() + fields_.minimum_at, &half, 2);
    }
    void setOnes() {
        for (const detail::Ones& ones : fields_.ones) std::memset(bytes_.data() + ones.at, ones.value, ones.count);
    }
    /// All bytes that hold codes.
    void setCodes(uint8_t value) {
        for (size_t i = 0; i < info_.block_bytes; ++i)
            if (isCode(i)) bytes_[i] = std::byte(value);
    }
    void decode(float* out) const {
        quant::decode(fields_.type, std::span(bytes_).first(info_.block_bytes), {out, info_.block_elements});
    }

private:
    bool isCode(size_t i) const {
        const auto within = [i](size_t at, size_t count) { return i >= at && i < at + count; };
        if (fields_.scale != Scale::byte && within(fields_.scale_at, 2)) return false;
        if (fields_.minimum_at != kNone && within(fields_.minimum_at, 2)) return false;
        return std::ranges::none_of(fields_.ones, [&](const detail::Ones& o) { return within(o.at, o.count); });
    }

    const BlockFields& fields_;
    const gguf::TypeInfo& info_;
    std::array<std::byte, kMaxBlockBytes> bytes_{};
};

/// What codes and scale bytes of a type mean.
struct Meaning {
    std::array<float, 256> value{};     ///< of each code
    std::array<float, 256> scale{};     ///< of each scale byte (Scale::byte)
    std::array<uint8_t, 257> code{};    ///< of each value + 128; the last one is −0's
    std::array<float, kMaxBlock> all_set{};   ///< what a block whose code bytes are all 255 decodes to at scale 1

    explicit Meaning(const BlockFields& fields) {
        const std::array<std::byte, kMaxBlockBytes> empty{};
        std::array<float, kMaxBlock> out;
        Block unit(fields, empty.data());
        unit.setScale(kHalfOne);
        unit.setOnes();
        for (int c = 0; c < 1 << fields.bits; ++c) {
            value[static_cast<size_t>(c)] = static_cast<float>(fields.lowest + c);
            if (!fields.table) continue;
            unit.setCodes(static_cast<uint8_t>(c * 0x11));
            unit.decode(out.data());
            value[static_cast<size_t>(c)] = out[0];
        }
        for (size_t c = 0; c < size_t{1} << fields.bits; ++c) code[place(value[c])] = static_cast<uint8_t>(c);
        unit.setCodes(0xff);
        unit.decode(all_set.data());
        if (fields.scale == Scale::byte) readScales(fields);
    }

    /// Where `code` keeps a value.
    static size_t place(float v) {
        return std::bit_cast<uint32_t>(v) == 0x80000000u ? 256 : static_cast<size_t>(static_cast<int>(v) + 128);
    }

private:
    /// A code whose value is 1 shows what each scale byte stands for.
    void readScales(const BlockFields& fields) {
        std::array<float, kMaxBlock> out;
        for (size_t s = 0; s < 256; ++s) {
            std::array<std::byte, kMaxBlockBytes> bytes{};
            bytes[fields.scale_at] = std::byte(s);
            Block block(fields, bytes.data());
            block.setCodes(static_cast<uint8_t>(code[place(1.0f)] * 0x11));
            block.decode(out.data());
            scale[s] = out[0];
        }
    }
};

const Meaning& meaningOf(Type type) {
    static const std::vector<std::pair<Type, Meaning>> all = [] {
        std::vector<std::pair<Type, Meaning>> list;
        for (int id = 0; id < 64; ++id)
            if (const BlockFields* fields = detail::findFields(static_cast<Type>(id)))
                list.emplace_back(fields->type, Meaning(*fields));
        return list;
    }();
    return std::ranges::find(all, type, [](const auto& one) { return one.first; })->second;
}

void packChunk(unsigned bits, const uint8_t* codes, uint8_t* out) {
    if (bits == 8) {
        std::memcpy(out, codes, kChunk);
        return;
    }
    unsigned shift = 0;
    if (bits >= 4) {
        for (size_t j = 0; j < 16; ++j) out[j] = static_cast<uint8_t>((codes[j] & 15) | (codes[j + 16] & 15) << 4);
        out += 16;
        shift = 4;
    }
    if (bits & 2) {
        for (size_t j = 0; j < 8; ++j) {
            unsigned byte = 0;
            for (size_t k = 0; k < 4; ++k) byte |= (codes[j + 8 * k] >> shift & 3u) << (2 * k);
            out[j] = static_cast<uint8_t>(byte);
        }
        out += 8;
        shift += 2;
    }
    if (bits & 1) {
        std::memset(out, 0, 4);
        for (size_t j = 0; j < kChunk; ++j)
            out[j / 8] = static_cast<uint8_t>(out[j / 8] | (codes[j] >> shift & 1) << (j % 8));
    }
}

void unpackChunk(unsigned bits, const uint8_t* in, uint8_t* codes) {
    if (bits == 8) {
        std::memcpy(codes, in, kChunk);
        return;
    }
    std::memset(codes, 0, kChunk);
    unsigned shift = 0;
    if (bits >= 4) {
        for (size_t j = 0; j < kChunk; ++j) codes[j] = static_cast<uint8_t>(in[j % 16] >> (j / 16 * 4) & 15);
        in += 16;
        shift = 4;
    }
    if (bits & 2) {
        for (size_t j = 0; j < kChunk; ++j)
            codes[j] = static_cast<uint8_t>(codes[j] | (in[j % 8] >> (j / 8 * 2) & 3) << shift);
        in += 8;
        shift += 2;
    }
    if (bits & 1)
        for (size_t j = 0; j < kChunk; ++j)
            codes[j] = static_cast<uint8_t>(codes[j] | (in[j / 8] >> (j % 8) & 1) << shift);
}

/// Takes apart the blocks of up to 32 outputs that hold the same neurons, and writes what belongs to them.
class Regrouper {
public:
    Regrouper(const Regrouped& layout, std::span<std::byte> copy)
        : layout_(layout),
          fields_(fieldsOf(layout.type)),
          meaning_(meaningOf(layout.type)),
          block_(gguf::typeInfo(layout.type).block_elements),
          copy_(copy.data()),
          codes_(block_ * kChunk) {}

    void clearCodes() { std::ranges::fill(codes_, uint8_t{0}); }

    void take(const std::byte* from, uint64_t neuron, uint64_t output) {
        Block block(fields_, from);
        if (fields_.scale == Scale::coded) takeCoded(block, from, neuron, output);
        else takeAlone(from, neuron, output);
        block.setScale(kHalfOne);
        block.setMinimum(0);
        block.setOnes();
        std::array<float, kMaxBlock> values;
        block.decode(values.data());
        for (size_t j = 0; j < block_; ++j)
            codes_[j * kChunk + output % kChunk] = meaning_.code[Meaning::place(values[j])];
    }

    void writeCodes(uint64_t neuron, uint64_t output) {
        const size_t bytes = chunkBytes(fields_.bits);
        for (size_t j = 0; j < block_; ++j) {
            std::byte* to = copy_ + (neuron + j) * layout_.code_row_bytes + output / kChunk * bytes;
            packChunk(fields_.bits, codes_.data() + j * kChunk, reinterpret_cast<uint8_t*>(to));
        }
    }

private:
    std::byte* scaleRow(uint64_t neuron) const {
        return copy_ + layout_.scales_at + neuron / layout_.group * layout_.scale_row_bytes;
    }

    void takeAlone(const std::byte* from, uint64_t neuron, uint64_t output) {
        const size_t size = fields_.scale == Scale::half ? 2 : 1;
        for (size_t g = 0; g < block_ / layout_.group; ++g)
            std::memcpy(scaleRow(neuron + g * layout_.group) + output * size, from + fields_.scale_at + g * size, size);
        if (fields_.minimum_at != kNone)
            std::memcpy(scaleRow(neuron) + (layout_.outputs + output) * 2, from + fields_.minimum_at, 2);
    }

    void takeCoded(Block block, const std::byte* from, uint64_t neuron, uint64_t output) {
        std::byte* common = copy_ + layout_.common_at + neuron / layout_.common_group * layout_.common_row_bytes;
        std::memcpy(common + output * 2, from + fields_.scale_at, 2);
        std::array<float, kMaxBlock> values;
        block.setCodes(0xff);
        block.setScale(kHalfOne);
        block.setMinimum(0);
        block.decode(values.data());
        for (size_t j = 0; j < block_; j += layout_.group)   // the quotient of two products is whole
            scaleRow(neuron + j)[output] =
                std::byte(static_cast<uint8_t>(static_cast<int>(values[j] / meaning_.all_set[j])));
        if (fields_.minimum_at == kNone) return;
        std::memcpy(common + (layout_.outputs + output) * 2, from + fields_.minimum_at, 2);
        block.setScale(0);
        block.setMinimum(kHalfOne);
        block.decode(values.data());
        for (size_t j = 0; j < block_; j += layout_.group)
            scaleRow(neuron + j)[layout_.outputs + output] =
                std::byte(static_cast<uint8_t>(static_cast<int>(-values[j])));
    }

    const Regrouped& layout_;
    const BlockFields& fields_;
    const Meaning& meaning_;
    const size_t block_;
    std::byte* copy_;
    std::vector<uint8_t> codes_;   ///< [block, 32]: the codes of a neuron side by side
};

float halfAt(const std::byte* bytes) {
    uint16_t half;
    std::memcpy(&half, bytes, 2);
    return halfToFloat(half);
}

float integerAt(const std::byte* byte) { return static_cast<float>(static_cast<int8_t>(*byte)); }

}  // namespace

bool canRegroup(Type type) { return detail::findFields(type) != nullptr; }

uint64_t regroupStep(Type type) {
    fieldsOf(type);
    return gguf::typeInfo(type).block_elements;
}

Regrouped::Regrouped(Type of, uint64_t output_count, uint64_t neuron_count)
    : type(of), outputs(output_count), neurons(neuron_count) {
    const BlockFields& fields = fieldsOf(type);
    const uint64_t block = gguf::typeInfo(type).block_elements, rows = fields.minimum_at == kNone ? 1 : 2;
    // A neuron takes at most 32 bytes of codes an output (one output fills a chunk) and 8 of scales.
    const auto weights = checkedMul(outputs, neurons);
    if (outputs == 0 || neurons == 0 || neurons % block != 0 || !weights || !checkedMul(*weights, 40))
        refuseSizes(*this);
    group = fields.group;
    code_row_bytes = (outputs + kChunk - 1) / kChunk * chunkBytes(fields.bits);
    scale_row_bytes = rows * outputs * (fields.scale == Scale::half ? 2 : 1);
    scales_at = neurons * code_row_bytes;
    common_at = scales_at + neurons / group * scale_row_bytes;
    bytes = common_at;
    if (fields.scale != Scale::coded) return;
    common_group = block;
    common_row_bytes = rows * outputs * 2;
    bytes += neurons / common_group * common_row_bytes;
}

void regroup(const Regrouped& layout, std::span<const std::byte> matrix, uint64_t first, uint64_t last,
             std::span<std::byte> copy) {
    const uint64_t step = regroupStep(layout.type), row = gguf::rowBytes(layout.type, layout.neurons),
                   block = gguf::typeInfo(layout.type).block_bytes;
    if (matrix.size() != row * layout.outputs || copy.size() != layout.bytes || first > last || last > layout.neurons ||
        first % step != 0 || last % step != 0)
        refuseSizes(layout);
    Regrouper regrouper(layout, copy);
    for (uint64_t neuron = first; neuron < last; neuron += step)
        for (uint64_t output = 0; output < layout.outputs; output += kChunk) {
            const uint64_t end = std::min<uint64_t>(output + kChunk, layout.outputs);
            if (end - output < kChunk) regrouper.clearCodes();
            for (uint64_t o = output; o < end; ++o)
                regrouper.take(matrix.data() + o * row + neuron / step * block, neuron, o);
            regrouper.writeCodes(neuron, output);
        }
}

void decodeNeuron(const Regrouped& layout, std::span<const std::byte> copy, uint64_t neuron, std::span<float> out) {
    if (copy.size() != layout.bytes || neuron >= layout.neurons || out.size() != layout.outputs) refuseSizes(layout);
    const BlockFields& fields = fieldsOf(layout.type);
    const Meaning& meaning = meaningOf(layout.type);
    const std::byte* codes = copy.data() + neuron * layout.code_row_bytes;
    const std::byte* scales = copy.data() + layout.scales_at + neuron / layout.group * layout.scale_row_bytes;
    const std::byte* common = nullptr;
    if (layout.common_group != 0)
        common = copy.data() + layout.common_at + neuron / layout.common_group * layout.common_row_bytes;
    std::array<uint8_t, kChunk> chunk{};
    for (uint64_t o = 0; o < layout.outputs; ++o) {
        if (o % kChunk == 0)
            unpackChunk(fields.bits, reinterpret_cast<const uint8_t*>(codes) + o / kChunk * chunkBytes(fields.bits),
                        chunk.data());
        const uint64_t m = layout.outputs + o;   // in a row of minima
        float scale = 0, minimum = 0;
        switch (fields.scale) {
            case Scale::half:
                scale = halfAt(scales + 2 * o);
                if (fields.minimum_at != kNone) minimum = halfAt(scales + 2 * m);
                break;
            case Scale::byte: scale = meaning.scale[std::to_integer<size_t>(scales[o])]; break;
            case Scale::coded:
                scale = halfAt(common + 2 * o) * integerAt(scales + o);
                if (fields.minimum_at != kNone) minimum = halfAt(common + 2 * m) * integerAt(scales + m);
                break;
        }
        const float product = scale * meaning.value[chunk[o % kChunk]];
        out[o] = fields.minimum_at == kNone ? product : fields.minimum_sign > 0 ? product + minimum : product - minimum;
    }
}

}  // namespace hearth::sparse
