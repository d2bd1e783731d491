#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/gguf/writer.h"

/// Files with the tensors and keys of a llama model, for tests that never run it.
namespace hearth::made {

struct Shape {
    uint32_t width = 256, inner = 256, layers = 2, experts = 0, vocabulary = 64;
    bool tied = false, fused = false;
    uint32_t rows =
        0;   ///< rows of every matrix where only names, types and row lengths matter; 0: as many as there should be
};

/// Adds the keys and tensors of `shape`, matrices of `type` with the bytes of
/// `matrices`, as often as needed (it must live until the file is written).
inline void addModel(gguf::Writer& writer, const Shape& shape, gguf::Type type, std::span<const std::byte> matrices) {
    writer.set("general.architecture", "llama");
    writer.set("general.name", "tiny");
    writer.set("general.file_type", uint32_t{0});
    writer.set("llama.block_count", shape.layers);
    writer.set("llama.embedding_length", shape.width);
    writer.set("llama.feed_forward_length", shape.inner);
    if (shape.experts != 0) writer.set("llama.expert_count", shape.experts);
    writer.set("tokenizer.ggml.model", "no_vocab");
    writer.setArray("tokenizer.ggml.tokens", std::span<const std::string>(std::array<std::string, 3>{"a", "",
                                                                                                     "\xe2\x96\x81"
                                                                                                     "b"}));
    writer.setArray("tokenizer.ggml.scores", std::span<const float>(std::array{0.0f, -1.5f, 3e-8f}));
    writer.set("llama.rope.scaling.finetuned", true);
    const auto add = [&](std::string name, gguf::Type kind, std::vector<uint64_t> ne) {
        uint64_t rows = 1;
        if (ne.size() > 1 && shape.rows != 0) ne[1] = shape.rows;
        for (size_t d = 1; d < ne.size(); ++d) rows *= ne[d];
        const uint64_t bytes = rows * gguf::rowBytes(kind, ne[0]);
        // Norms and routers are F32 and do not take the matrices' bytes.
        static const std::vector<float> ones(1024, 1.0f);
        const std::span<const std::byte> repeated =
            type == kind && ne.size() > 1 ? matrices : std::as_bytes(std::span(ones));
        writer.addTensor(std::move(name), kind, ne, [repeated, bytes](const gguf::Writer::Sink& sink) {
            for (uint64_t at = 0; at < bytes;) {
                const uint64_t n = std::min<uint64_t>(bytes - at, repeated.size());
                sink(repeated.first(n));
                at += n;
            }
        });
    };
    const uint64_t e = shape.width, f = shape.inner, x = shape.experts;
    add("token_embd.weight", type, {e, shape.vocabulary});
    if (!shape.tied) add("output.weight", type, {e, shape.vocabulary});
    add("output_norm.weight", gguf::Type::F32, {e});
    for (uint32_t layer = 0; layer < shape.layers; ++layer) {
        const std::string block = "blk." + std::to_string(layer) + ".";
        add(block + "attn_norm.weight", gguf::Type::F32, {e});
        add(block + "ffn_norm.weight", gguf::Type::F32, {e});
        if (shape.fused) add(block + "attn_qkv.weight", type, {e, 3 * e});
        else
            for (const char* name : {"attn_q", "attn_k", "attn_v"}) add(block + name + ".weight", type, {e, e});
        add(block + "attn_output.weight", type, {e, e});
        if (x != 0) {
            add(block + "ffn_gate_inp.weight", gguf::Type::F32, {e, x});
            for (const char* name : {"ffn_gate_exps", "ffn_up_exps"}) add(block + name + ".weight", type, {e, f, x});
            add(block + "ffn_down_exps.weight", type, {f, e, x});
        } else {
            for (const char* name : {"ffn_gate", "ffn_up"}) add(block + name + ".weight", type, {e, f});
            add(block + "ffn_down.weight", type, {f, e});
        }
    }
}

}  // namespace hearth::made
