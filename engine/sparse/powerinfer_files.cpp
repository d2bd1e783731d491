#include "engine/sparse/powerinfer_files.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <system_error>

#include "engine/base/error.h"
#include "engine/sparse/torch_file.h"

namespace hearth::sparse {

namespace fs = std::filesystem;

namespace {

/// N of activation_N.pt.
std::optional<uint64_t> layerOf(std::string_view name) {
    constexpr std::string_view front = "activation_", end = ".pt";
    if (!name.starts_with(front) || !name.ends_with(end) || name.size() <= front.size() + end.size()) return {};
    const std::string_view digits = name.substr(front.size(), name.size() - front.size() - end.size());
    uint64_t number = 0;
    const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (code != std::errc() || stop != digits.data() + digits.size()) return {};
    return number;
}

}  // namespace

Profile readActivationFolder(const fs::path& folder, std::span<const uint64_t> neurons,
                             std::vector<std::string>* notes) {
    std::map<uint64_t, fs::path> files;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        const auto layer = layerOf(name);
        if (!layer || *layer >= neurons.size()) {
            if (notes != nullptr) notes->push_back(name + " belongs to no layer of the model and was left out");
        } else if (!files.emplace(*layer, entry.path()).second) {
            throw Error("cannot use " + folder.string(), "layer " + std::to_string(*layer) + " is there twice");
        }
    }
    if (error) throw Error("cannot read " + folder.string(), error.message());
    Profile profile(neurons.size());
    for (size_t i = 0; i < neurons.size(); ++i) {
        const auto file = files.find(i);
        if (file == files.end())
            throw Error("cannot use " + folder.string(), "activation_" + std::to_string(i) + ".pt is missing");
        const std::vector<int64_t> counts = readTorchIntegers(file->second);
        if (counts.size() != neurons[i] || std::ranges::any_of(counts, [](int64_t n) { return n < 0; }))
            throw Error("cannot use " + file->second.string(),
                        "it does not hold a count for each of the layer's " + std::to_string(neurons[i]) + " neurons");
        Profile::Layer& layer = profile.layer(i);
        layer.fired.assign(counts.begin(), counts.end());
        layer.rates = false;
    }
    return profile;
}

std::vector<uint64_t> readGpuIndexCounts(const fs::path& path, std::span<const uint64_t> neurons) {
    const auto file = gguf::File::open(path);
    std::vector<uint64_t> counts;
    for (size_t i = 0; i < neurons.size(); ++i) {
        const gguf::Tensor* mask = file->find("blk." + std::to_string(i) + ".gpu_idx");
        if (mask == nullptr || mask->type != gguf::Type::I32 || mask->ne[0] != neurons[i] || mask->rows() != 1)
            throw Error("cannot use " + path.string(),
                        "it has no list of the " + std::to_string(neurons[i]) + " neurons of layer " + std::to_string(i),
                        "It was made for another model");
        std::vector<int32_t> on_card(neurons[i]);
        std::memcpy(on_card.data(), mask->data, mask->bytes);
        counts.push_back(static_cast<uint64_t>(std::ranges::count_if(on_card, [](int32_t v) { return v != 0; })));
    }
    file->check();
    return counts;
}

}  // namespace hearth::sparse
