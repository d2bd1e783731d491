#include <algorithm>
#include <cstring>

#include "engine/gguf/reader.h"

namespace hearth::gguf {
namespace {

bool isPrintable(char c) {
    const auto code = static_cast<unsigned char>(c);
    return code >= 0x20 ? code != 0x7f : c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

std::pair<std::string, std::string> describeForeign(std::span<const std::byte> start) {
    const std::string_view text(reinterpret_cast<const char*>(start.data()), std::min<size_t>(start.size(), 256));
    const auto begins = [&](std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; };
    const std::string gguf = "Choose a file whose name ends in .gguf";

    if (begins("version https://git-lfs")) {
        return {"it is only a pointer to the real file, left by a git clone without LFS", "Download the file itself"};
    }
    if (begins("<!") || begins("<html") || begins("<HTML")) {
        return {"it is a web page, not a model: the download went wrong", "Download it again"};
    }
    // Formats before GGUF begin with a little-endian word that reads "ggml", "ggmf" or "ggjt".
    if (begins("lmgg") || begins("fmgg") || begins("tjgg")) {
        return {"it is in the GGML format of early 2023, from before GGUF", "Download a newer file of this model"};
    }
    if (begins("PK\x03\x04")) return {"it is a zip archive or a PyTorch checkpoint, not GGUF", gguf};
    if (text.size() > 8 && text[8] == '{') return {"it looks like a safetensors file, not GGUF", gguf};
    if (std::all_of(text.begin(), text.end(), [](char c) { return c == '\0'; })) {
        return {"it holds only zeros where its header should be: the download is not complete", "Download it again"};
    }
    if (std::all_of(text.begin(), text.end(), isPrintable)) return {"it is a text file, not GGUF", gguf};
    return {"it is not a GGUF file (it does not begin with the letters GGUF)", gguf};
}

}  // namespace hearth::gguf
