#include "engine/gguf/type.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/base/checked.h"
#include "engine/base/error.h"

namespace hearth::gguf {
namespace {

struct Entry {
    Type type;
    TypeInfo info;
};

// Research: formats §1.7 (elements and bytes of a block).
constexpr std::array types{
    Entry{Type::F32, {"F32", 1, 4}},         Entry{Type::F16, {"F16", 1, 2}},
    Entry{Type::Q4_0, {"Q4_0", 32, 18}},     Entry{Type::Q4_1, {"Q4_1", 32, 20}},
    Entry{Type::Q5_0, {"Q5_0", 32, 22}},     Entry{Type::Q5_1, {"Q5_1", 32, 24}},
    Entry{Type::Q8_0, {"Q8_0", 32, 34}},     Entry{Type::Q2_K, {"Q2_K", 256, 84}},
    Entry{Type::Q3_K, {"Q3_K", 256, 110}},   Entry{Type::Q4_K, {"Q4_K", 256, 144}},
    Entry{Type::Q5_K, {"Q5_K", 256, 176}},   Entry{Type::Q6_K, {"Q6_K", 256, 210}},
    Entry{Type::IQ4_NL, {"IQ4_NL", 32, 18}}, Entry{Type::IQ4_XS, {"IQ4_XS", 256, 136}},
    Entry{Type::I8, {"I8", 1, 1}},           Entry{Type::I16, {"I16", 1, 2}},
    Entry{Type::I32, {"I32", 1, 4}},         Entry{Type::I64, {"I64", 1, 8}},
    Entry{Type::F64, {"F64", 1, 8}},         Entry{Type::BF16, {"BF16", 1, 2}},
    Entry{Type::TQ1_0, {"TQ1_0", 256, 54}},  Entry{Type::TQ2_0, {"TQ2_0", 256, 66}},
    Entry{Type::MXFP4, {"MXFP4", 32, 17}},   Entry{Type::NVFP4, {"NVFP4", 64, 36}},
    Entry{Type::Q1_0, {"Q1_0", 128, 18}},    Entry{Type::Q2_0, {"Q2_0", 64, 18}},
};

enum class Family { Codebook, Removed, Activation, Fork };

struct Refused {
    int first, last;
    std::string_view name;
    Family family;
};

// Research: formats §1.6. A range stands for types that are told apart only by their interleaving.
constexpr std::array refused{
    Refused{4, 4, "Q4_2", Family::Removed},
    Refused{5, 5, "Q4_3", Family::Removed},
    Refused{9, 9, "Q8_1", Family::Activation},
    Refused{15, 15, "Q8_K", Family::Activation},
    Refused{16, 16, "IQ2_XXS", Family::Codebook},
    Refused{17, 17, "IQ2_XS", Family::Codebook},
    Refused{18, 18, "IQ3_XXS", Family::Codebook},
    Refused{19, 19, "IQ1_S", Family::Codebook},
    Refused{21, 21, "IQ3_S", Family::Codebook},
    Refused{22, 22, "IQ2_S", Family::Codebook},
    Refused{29, 29, "IQ1_M", Family::Codebook},
    Refused{31, 31, "Q4_0_4_4", Family::Removed},
    Refused{32, 32, "Q4_0_4_8", Family::Removed},
    Refused{33, 33, "Q4_0_8_8", Family::Removed},
    Refused{36, 36, "IQ4_NL_4_4", Family::Removed},
    Refused{37, 37, "IQ4_NL_4_8", Family::Removed},
    Refused{38, 38, "IQ4_NL_8_8", Family::Removed},
    Refused{133, 133, "Q6_0", Family::Fork},
    Refused{134, 134, "IQ1_BN", Family::Fork},
    Refused{135, 135, "IQ2_BN", Family::Fork},
    Refused{137, 137, "IQ2_K", Family::Fork},
    Refused{138, 138, "IQ3_K", Family::Fork},
    Refused{139, 139, "IQ4_K", Family::Fork},
    Refused{140, 140, "IQ5_K", Family::Fork},
    Refused{141, 141, "IQ6_K", Family::Fork},
    Refused{144, 144, "IQ4_KS", Family::Fork},
    Refused{145, 145, "IQ2_KS", Family::Fork},
    Refused{146, 146, "IQ4_KSS", Family::Fork},
    Refused{151, 151, "Q8_KV", Family::Fork},
    Refused{152, 152, "IQ5_KS", Family::Fork},
    Refused{153, 153, "IQ2_KT", Family::Fork},
    Refused{154, 154, "IQ3_KT", Family::Fork},
    Refused{155, 155, "IQ4_KT", Family::Fork},
    Refused{156, 156, "IQ3_KS", Family::Fork},
    Refused{157, 157, "IQ2_KL", Family::Fork},
    Refused{158, 158, "IQ1_KT", Family::Fork},
    Refused{202, 399, "row-interleaved", Family::Fork},
};

constexpr const char* other_file = "Choose another file of this model, for example its Q4_K_M";

TypeRefusal refusalOf(const Refused& entry, int id) {
    const std::string label = "has type " + std::to_string(id) + " (" + std::string(entry.name) + "), ";
    switch (entry.family) {
        case Family::Codebook:
            return {label + "one of the IQ1, IQ2 and IQ3 families, which Hearth does not read", other_file};
        case Family::Removed:
            return {label + "which was removed from the format", "Download a newer file of this model"};
        case Family::Activation:
            return {label + "which is for intermediate results and never stands in a file",
                    "The file is damaged; download it again"};
        case Family::Fork: return {label + "which only the ik_llama.cpp program writes and reads", other_file};
    }
    return {};
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

const TypeInfo* findType(Type type) noexcept {
    const auto found = std::find_if(types.begin(), types.end(), [&](const Entry& e) { return e.type == type; });
    return found == types.end() ? nullptr : &found->info;
}

TypeRefusal refusal(Type type) {
    const int id = static_cast<int>(type);
    for (const Refused& entry : refused) {
        if (entry.first <= id && id <= entry.last) return refusalOf(entry, id);
    }
    return {"has type " + std::to_string(id) + ", which is not known",
            "The file is damaged, or newer than this version of Hearth"};
}

const TypeInfo& typeInfo(Type type) {
    if (const TypeInfo* info = findType(type)) return *info;
    TypeRefusal reason = refusal(type);
    throw Error("cannot read a tensor", "it " + reason.why, std::move(reason.next_step));
}

std::optional<Type> typeByName(std::string_view name) {
    const auto same = [&](const Entry& e) {
        return std::equal(name.begin(), name.end(), e.info.name.begin(), e.info.name.end(),
                          [](char a, char b) { return lower(a) == lower(b); });
    };
    const auto found = std::find_if(types.begin(), types.end(), same);
    if (found == types.end()) return std::nullopt;
    return found->type;
}

uint64_t rowBytes(Type type, uint64_t elements) {
    const TypeInfo& info = typeInfo(type);
    if (elements % info.block_elements != 0) {
        throw Error("cannot lay out a row of " + std::string(info.name),
                    std::to_string(elements) + " values are not a multiple of its block of " +
                        std::to_string(info.block_elements));
    }
    const auto bytes = checkedMul(elements / info.block_elements, info.block_bytes);
    if (!bytes) throw Error("cannot lay out a row of " + std::string(info.name), "its size does not fit in 64 bits");
    return *bytes;
}

}  // namespace hearth::gguf
