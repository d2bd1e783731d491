#pragma once

#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_pool.h"
#include "engine/convert/quantize_file.h"
#include "engine/quant/quant.h"
#include "tests/engine/convert/tiny_model.h"
#include "tests/engine/quant/made_tensors.h"

/// What the tests of convert::quantizeFile share: a folder of their own with a model to start from.
namespace hearth::test {

inline std::vector<char> contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// True when `call` throws an Error whose text holds all of `words`.
template <typename Call>
bool refuses(Call call, std::initializer_list<const char*> words) {
    try {
        call();
    } catch (const Error& e) {
        for (const char* word : words)
            if (std::string(e.what()).find(word) == std::string::npos) {
                qWarning("said: %s", e.what());
                return false;
            }
        return true;
    }
    return false;
}

class QuantizeFolder {
public:
    std::filesystem::path path(const char* name) const {
        return std::filesystem::path(folder_.path().toStdString()) / name;
    }
    /// Names of the files that are there.
    std::set<std::string> names() const {
        std::set<std::string> all;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path().toStdString()))
            all.insert(entry.path().filename());
        return all;
    }
    /// Writes source.gguf: a tiny model with ffn_gate of layer 0 the made `tensor`, in `type`.
    std::filesystem::path source(const char* tensor = "gaussian", gguf::Type type = gguf::Type::F32,
                                 made::Shape shape = {}) const {
        const std::vector<float> values = made::tensor(tensor);
        std::vector<std::byte> bytes(gguf::rowBytes(type, values.size()));
        quant::encode(type, values, bytes);
        gguf::Writer writer;
        shape.width = made::kColumns;
        shape.inner = made::kRows;
        made::addModel(writer, shape, type, bytes);
        writer.write(path("source.gguf"));
        return path("source.gguf");
    }

private:
    QTemporaryDir folder_;
};

}  // namespace hearth::test
