#pragma once

#include <QFile>
#include <QTemporaryDir>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Makes GGUF files byte by byte, from the description of the format alone; any count, length and offset can be wrong.
namespace build {

struct Bytes {
    std::string data;

    template <typename T>
    Bytes& number(T value) {
        data.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Bytes& u8(uint8_t v) { return number(v); }
    Bytes& u32(uint32_t v) { return number(v); }
    Bytes& i32(int32_t v) { return number(v); }
    Bytes& u64(uint64_t v) { return number(v); }
    Bytes& f32(float v) { return number(v); }
    Bytes& raw(std::string_view v) {
        data += v;
        return *this;
    }
    Bytes& text(std::string_view v) { return u64(v.size()).raw(v); }
};

inline std::string key(std::string_view name, int32_t type, const Bytes& value) {
    return Bytes().text(name).i32(type).raw(value.data).data;
}
inline std::string textKey(std::string_view name, std::string_view value) { return key(name, 8, Bytes().text(value)); }
inline std::string u32Key(std::string_view name, uint32_t value) { return key(name, 4, Bytes().u32(value)); }
inline std::string u16Key(std::string_view name, uint16_t value) { return key(name, 2, Bytes().number(value)); }
inline std::string i32Key(std::string_view name, int32_t value) { return key(name, 5, Bytes().i32(value)); }

struct TensorEntry {
    std::string name = "a";
    std::vector<uint64_t> ne{8};
    int32_t type = 0;   // F32
    uint64_t offset = 0;
    std::optional<uint32_t> n_dims{};
};

inline std::string entry(const TensorEntry& t) {
    Bytes out;
    out.text(t.name).u32(t.n_dims.value_or(static_cast<uint32_t>(t.ne.size())));
    for (const uint64_t n : t.ne) out.u64(n);
    return out.i32(t.type).u64(t.offset).data;
}

struct FileParts {
    std::string magic = "GGUF";
    uint32_t version = 3;
    std::vector<std::string> keys{textKey("general.architecture", "llama")};
    std::vector<std::string> tensors{};
    std::optional<uint64_t> n_keys{}, n_tensors{};
    uint64_t alignment = 32;
    std::string data{};

    std::string header() const {
        Bytes out;
        out.raw(magic).u32(version).u64(n_tensors.value_or(tensors.size())).u64(n_keys.value_or(keys.size()));
        for (const std::string& k : keys) out.raw(k);
        for (const std::string& t : tensors) out.raw(t);
        return out.data;
    }
    std::string file() const {
        std::string out = header();
        if (!tensors.empty()) out.resize((out.size() + alignment - 1) / alignment * alignment);
        return out + data;
    }
};

/// One F32 tensor of 8 values, 0 to 7.
inline FileParts withOneTensor() {
    FileParts parts;
    Bytes data;
    for (int i = 0; i < 8; ++i) data.f32(static_cast<float>(i));
    parts.tensors = {entry({})};
    parts.data = data.data;
    return parts;
}

inline std::vector<std::byte> bytes(std::string_view text) {
    const auto span = std::as_bytes(std::span(text));
    return {span.begin(), span.end()};
}

class Folder {
public:
    std::filesystem::path path(const std::string& name) const {
        return std::filesystem::path(folder_.path().toStdString()) / name;
    }
    std::filesystem::path write(const std::string& name, std::string_view content) const {
        QFile file(QString::fromStdString(path(name).string()));
        if (!file.open(QIODevice::WriteOnly) || file.write(content.data(), static_cast<qint64>(content.size())) < 0) {
            qFatal("cannot write a test file");
        }
        return path(name);
    }

private:
    QTemporaryDir folder_;
};

/// The fixtures' folder, where it is.
inline std::filesystem::path fixtures() {
    const QByteArray named = qgetenv("HEARTH_FIXTURES");
    return named.isEmpty() ? std::filesystem::path(HEARTH_SOURCE_DIR) / "../shared/fixtures"
                           : std::filesystem::path(named.toStdString());
}

}  // namespace build
