#include "engine/sparse/block_fields.h"

namespace hearth::sparse::detail {

namespace {

using gguf::Type;

constexpr BlockFields kFields[] = {
    {Type::Q4_0, Scale::half, 4, 32, 0, kNone, 0, -8, false, {}},
    {Type::Q4_1, Scale::half, 4, 32, 0, 2, 1, 0, false, {}},
    {Type::Q5_0, Scale::half, 5, 32, 0, kNone, 0, -16, false, {}},
    {Type::Q5_1, Scale::half, 5, 32, 0, 2, 1, 0, false, {}},
    {Type::Q8_0, Scale::half, 8, 32, 0, kNone, 0, -128, false, {}},
    {Type::IQ4_NL, Scale::half, 4, 32, 0, kNone, 0, 0, true, {}},
    {Type::TQ1_0, Scale::half, 2, 256, 52, kNone, 0, -1, false, {}},
    {Type::TQ2_0, Scale::half, 2, 256, 64, kNone, 0, -1, false, {}},
    {Type::Q1_0, Scale::half, 1, 128, 0, kNone, 0, 0, true, {}},
    {Type::Q2_0, Scale::half, 2, 64, 0, kNone, 0, -1, false, {}},
    {Type::MXFP4, Scale::byte, 4, 32, 0, kNone, 0, 0, true, {{{0, 1, 0x80}}}},
    {Type::NVFP4, Scale::byte, 4, 16, 0, kNone, 0, 0, true, {{{0, 4, 0x40}}}},
    {Type::Q2_K, Scale::coded, 2, 16, 80, 82, -1, 0, false, {{{0, 16, 0x01}}}},
    {Type::Q3_K, Scale::coded, 3, 16, 108, kNone, 0, -4, false, {{{96, 8, 0x11}, {104, 4, 0xaa}}}},
    {Type::Q4_K, Scale::coded, 4, 32, 0, 2, -1, 0, false, {{{4, 4, 0x01}, {8, 4, 0x00}, {12, 4, 0x01}}}},
    {Type::Q5_K, Scale::coded, 5, 32, 0, 2, -1, 0, false, {{{4, 4, 0x01}, {8, 4, 0x00}, {12, 4, 0x01}}}},
    {Type::Q6_K, Scale::coded, 6, 16, 208, kNone, 0, -32, false, {{{192, 16, 0x01}}}},
    {Type::IQ4_XS, Scale::coded, 4, 32, 0, kNone, 0, 0, true, {{{2, 2, 0xaa}, {4, 4, 0x11}}}},
};

}  // namespace

const BlockFields* findFields(Type type) {
    for (const BlockFields& fields : kFields)
        if (fields.type == type) return &fields;
    return nullptr;
}

}  // namespace hearth::sparse::detail
