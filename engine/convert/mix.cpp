#include "engine/convert/mix.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

#include "engine/quant/quant.h"

namespace hearth::convert {

using gguf::Type;

namespace {

struct Named {
    FileType type;
    std::string_view name;
    Type base;   ///< the type of most tensors
};

constexpr Named kNamed[] = {
    {FileType::F32, "F32", Type::F32},        {FileType::F16, "F16", Type::F16},
    {FileType::BF16, "BF16", Type::BF16},     {FileType::Q8_0, "Q8_0", Type::Q8_0},
    {FileType::Q6_K, "Q6_K", Type::Q6_K},     {FileType::Q5_1, "Q5_1", Type::Q5_1},
    {FileType::Q5_K_M, "Q5_K_M", Type::Q5_K}, {FileType::Q5_0, "Q5_0", Type::Q5_0},
    {FileType::Q4_1, "Q4_1", Type::Q4_1},     {FileType::Q4_K_M, "Q4_K_M", Type::Q4_K},
    {FileType::Q4_K_S, "Q4_K_S", Type::Q4_K}, {FileType::Q4_0, "Q4_0", Type::Q4_0},
};

const Named& named(FileType type) { return *std::ranges::find(kNamed, type, &Named::type); }

bool isFloat(Type type) { return type == Type::F32 || type == Type::F16 || type == Type::BF16; }
bool holdsIntegers(Type type) {
    return type == Type::I8 || type == Type::I16 || type == Type::I32 || type == Type::I64 || type == Type::F64;
}

/// Tensors that are small or that decide (norms, routers, positions, convolutions over a few tokens): bits saved there
/// are few and errors there are dear.
bool staysF32(const gguf::Tensor& tensor) {
    constexpr std::string_view parts[] = {"_norm",       "ffn_gate_inp", "position_embd",
                                          "token_types", "ssm_conv1d",   "shortconv.conv"};
    if (tensor.n_dims < 2 || tensor.rows() < 2 || tensor.ne[0] < 32 || !tensor.name.ends_with(".weight")) return true;
    return std::ranges::any_of(parts,
                               [&](std::string_view part) { return tensor.name.find(part) != std::string::npos; });
}

/// What the mixes need to know of a model.
struct Model {
    int64_t layers = 0, experts = 0;
    bool tied = false;
};

Model modelOf(const gguf::File& file) {
    Model model;
    const std::string architecture(file.string("general.architecture").value_or(""));
    model.layers = file.integer(architecture + ".block_count").value_or(0);
    model.experts = file.integer(architecture + ".expert_count").value_or(0);
    model.tied = file.find("output.weight") == nullptr;
    return model;
}

/// The number after "blk.", or −1.
int64_t layerOf(std::string_view name) {
    int64_t layer = -1;
    if (name.starts_with("blk.")) std::from_chars(name.data() + 4, name.data() + name.size(), layer);
    return layer;
}

/// Layers whose attention values and down-projections get more bits: the first and last eighth, and every third between.
bool hasMoreBits(int64_t layer, int64_t layers) {
    const int64_t eighth = layers / 8;
    return layer >= 0 && (layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2);
}

bool isDown(std::string_view name) { return name.find(".ffn_down") != std::string_view::npos; }

/// The type of a K mix (formats §1.8); Q5_K_M is Q4_K_M with Q5_K in place of Q4_K.
Type mixedType(std::string_view name, FileType type, Type base, const Model& model) {
    const int64_t layer = layerOf(name);
    const bool value = name.ends_with(".attn_v.weight"), medium = type != FileType::Q4_K_S;
    if (model.experts == 8 && name.ends_with(".attn_output.weight")) return Type::Q5_K;
    if (medium && (value || isDown(name)) && hasMoreBits(layer, model.layers)) return Type::Q6_K;
    if (medium && name.ends_with(".attn_qkv.weight")) return base == Type::Q5_K ? Type::Q6_K : Type::Q5_K;
    if (!medium && value && layer >= 0 && layer < 4) return Type::Q5_K;
    if (!medium && isDown(name) && layer >= 0 && layer < model.layers / 8) return Type::Q5_K;
    return base;
}

Type wantedType(const gguf::Tensor& tensor, FileType type, bool pure, const Model& model) {
    const Type base = named(type).base;
    if (pure || isFloat(base) || base == Type::Q8_0) return base;
    if (tensor.name == "output.weight" || (model.tied && tensor.name == "token_embd.weight")) return Type::Q6_K;
    // Beside eight experts, attention keys and values are a small part of the file that every token reads.
    const bool shared = tensor.name.ends_with(".attn_v.weight") || tensor.name.ends_with(".attn_k.weight");
    if (model.experts == 8 && shared) return Type::Q8_0;
    const bool mix = type == FileType::Q5_K_M || type == FileType::Q4_K_M || type == FileType::Q4_K_S;
    return mix ? mixedType(tensor.name, type, base, model) : base;
}

/// `wanted`, or what fits rows of this length.
Type fittingType(Type wanted, uint64_t row) {
    if (row % 256 != 0) {
        if (wanted == Type::Q4_K) wanted = Type::Q5_0;
        if (wanted == Type::Q5_K) wanted = Type::Q5_1;
        if (wanted == Type::Q6_K) wanted = Type::Q8_0;
    }
    return row % gguf::typeInfo(wanted).block_elements == 0 ? wanted : Type::F16;
}

}  // namespace

std::span<const FileType> fileTypes() {
    static constexpr auto types = [] {
        std::array<FileType, std::size(kNamed)> all{};
        for (size_t i = 0; i < all.size(); ++i) all[i] = kNamed[i].type;
        return all;
    }();
    return types;
}

std::string_view fileTypeName(FileType type) { return named(type).name; }

std::optional<FileType> fileTypeByName(std::string_view name) {
    const auto same = [](char a, char b) {
        return std::toupper(static_cast<unsigned char>(a)) == std::toupper(static_cast<unsigned char>(b));
    };
    for (const Named& candidate : kNamed)
        if (std::ranges::equal(candidate.name, name, same)) return candidate.type;
    return std::nullopt;
}

std::vector<TensorPlan> planTypes(const gguf::File& file, FileType type, bool pure) {
    const Model model = modelOf(file);
    std::vector<TensorPlan> plan;
    plan.reserve(file.tensors().size());
    for (const gguf::Tensor& tensor : file.tensors()) {
        Type chosen = tensor.type;
        if (!holdsIntegers(tensor.type)) {
            if (type == FileType::F32) chosen = Type::F32;
            else if (!staysF32(tensor)) chosen = fittingType(wantedType(tensor, type, pure, model), tensor.ne[0]);
            else if (isFloat(tensor.type)) chosen = Type::F32;
        }
        plan.push_back({&tensor, chosen, tensor.rows() * gguf::rowBytes(chosen, tensor.ne[0])});
    }
    return plan;
}

}  // namespace hearth::convert
