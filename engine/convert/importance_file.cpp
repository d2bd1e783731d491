#include "engine/convert/importance_file.h"

#include <cmath>
#include <cstring>

#include "engine/base/error.h"
#include "engine/gguf/file.h"

namespace hearth::convert {
namespace {

constexpr std::string_view sums_suffix = ".in_sum2", counts_suffix = ".counts";

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
    throw Error("cannot use the importance matrix " + path.string(), why,
                "Make it again, as a GGUF file, or quantise without one");
}

std::vector<float> floatsOf(const std::filesystem::path& path, const gguf::Tensor& tensor) {
    if (tensor.type != gguf::Type::F32) refuse(path, tensor.name + " is not F32");
    std::vector<float> values(tensor.bytes / sizeof(float));
    std::memcpy(values.data(), tensor.data, tensor.bytes);
    for (const float v : values)
        if (!std::isfinite(v) || v < 0) refuse(path, tensor.name + " holds a value that is negative or not finite");
    return values;
}

}  // namespace

Importance readImportance(const std::filesystem::path& path) {
    const auto file = gguf::File::open(path);
    if (file->string("general.type").value_or("") != "imatrix") refuse(path, "it is a GGUF file of another kind");
    Importance importance;
    for (const gguf::Tensor& tensor : file->tensors()) {
        if (!tensor.name.ends_with(sums_suffix)) continue;
        const std::string name = tensor.name.substr(0, tensor.name.size() - sums_suffix.size());
        const gguf::Tensor* counted = file->find(name + std::string(counts_suffix));
        std::vector<float> weights = floatsOf(path, tensor);
        if (weights.empty()) refuse(path, tensor.name + " is empty");
        const size_t columns = tensor.ne[0], matrices = weights.size() / columns;
        const std::vector<float> counts = counted != nullptr ? floatsOf(path, *counted) : std::vector<float>();
        if (counts.size() != matrices) refuse(path, name + " has not one count for each matrix");
        for (size_t m = 0; m < matrices; ++m)
            for (size_t c = 0; c < columns; ++c)
                weights[m * columns + c] = counts[m] > 0 ? weights[m * columns + c] / counts[m] : 1.0f;
        importance.emplace(name, std::move(weights));
    }
    file->check();
    if (importance.empty()) refuse(path, "it holds no sums of squared inputs");
    return importance;
}

}  // namespace hearth::convert
