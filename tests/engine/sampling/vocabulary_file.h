#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/gguf/file.h"
#include "engine/sampling/token.h"

/// The pieces of a vocabulary file, read here so that the sampling tests depend on no tokenizer.
struct VocabularyFile {
    std::vector<std::string> pieces;
    std::set<hearth::sampling::Token> ends, controls;

    /// SentencePiece (▁ for a space, <0xHH> for bytes) and byte-level BPE (each byte a printable character).
    VocabularyFile(const std::string& path, std::set<hearth::sampling::Token> end_tokens)
        : ends(std::move(end_tokens)) {
        const auto file = hearth::gguf::File::open(path);
        const bool byte_level = file->string("tokenizer.ggml.model") == "gpt2";
        const auto types = file->value("tokenizer.ggml.token_type")->integers();
        const auto texts = file->value("tokenizer.ggml.tokens")->strings();
        for (size_t i = 0; i < texts.size(); ++i) {
            if (types[i] == 3 || types[i] == 2) controls.insert(static_cast<hearth::sampling::Token>(i));
            pieces.push_back(types[i] == 3   ? std::string(texts[i])
                             : types[i] == 6 ? std::string(1, static_cast<char>(std::stoi(
                                                                  std::string(texts[i].substr(3, 2)), nullptr, 16)))
                             : byte_level    ? bytesOf(texts[i])
                                             : spaced(texts[i]));
        }
    }

    hearth::sampling::VocabularyView view() const {
        using hearth::sampling::Token;
        return {pieces.size(), [this](Token t) { return pieces[static_cast<size_t>(t)]; },
                [this](Token t) { return ends.contains(t); }, [this](Token t) { return controls.contains(t); }};
    }

private:
    static std::string spaced(std::string_view text) {
        std::string result(text);
        for (size_t at; (at = result.find("\xE2\x96\x81")) != std::string::npos;) result.replace(at, 3, " ");
        return result;
    }
    /// GPT-2's table: printable Latin-1 stands for itself, the other 68 bytes for U+0100 and up, in order.
    static std::string bytesOf(std::string_view text) {
        std::string result;
        for (size_t i = 0; i < text.size(); ++i) {
            auto code = static_cast<unsigned>(static_cast<unsigned char>(text[i]));
            if (code >= 0xC0) code = (code & 0x1Fu) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3Fu);
            if (code >= 0x100) {
                unsigned byte = 0, n = code - 0x100;
                for (;; ++byte) {
                    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
                    if (!printable && n-- == 0) break;
                }
                code = byte;
            }
            result += static_cast<char>(code);
        }
        return result;
    }
};
