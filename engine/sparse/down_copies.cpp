#include "engine/sparse/down_copies.h"

#include <algorithm>

#include "engine/base/error.h"

namespace hearth::sparse {

namespace {

const SidecarKind kKind{"down-copies", 1};

Regrouped layoutOf(const gguf::Tensor& tensor) { return Regrouped(tensor.type, tensor.ne[1], tensor.ne[0]); }

/// Regroups a tensor, then hands the copy on.
void writeCopy(const gguf::File& model, const gguf::Tensor& tensor, const std::stop_token& stop,
               const gguf::Writer::Sink& sink) {
    const Regrouped layout = layoutOf(tensor);
    std::vector<std::byte> copy(layout.bytes);
    const uint64_t step = regroupStep(layout.type);
    for (uint64_t neuron = 0; neuron < layout.neurons; neuron += step) {
        throwIfStopped(stop);
        regroup(layout, {tensor.data, tensor.bytes}, neuron, neuron + step, copy);
    }
    model.check();
    sink(copy);
}

}  // namespace

std::vector<const gguf::Tensor*> DownCopies::candidates(const gguf::File& model) {
    constexpr std::string_view front = "blk.", end = ".ffn_down.weight";
    std::vector<const gguf::Tensor*> found;
    for (const gguf::Tensor& tensor : model.tensors()) {
        const std::string& name = tensor.name;
        if (!name.starts_with(front) || !name.ends_with(end) || tensor.n_dims != 2 || !canRegroup(tensor.type))
            continue;
        if (model.find(name.substr(0, name.size() - end.size()) + ".ffn_down_t.weight") == nullptr)
            found.push_back(&tensor);
    }
    return found;
}

uint64_t DownCopies::bytesNeeded(const gguf::File& model) {
    uint64_t bytes = 0;
    for (const gguf::Tensor* tensor : candidates(model)) bytes += layoutOf(*tensor).bytes;
    return bytes;
}

void DownCopies::prepare(const gguf::File& model, const std::string& identity, const Sidecars& sidecars,
                         std::stop_token stop, const gguf::Writer::Progress& progress) {
    gguf::Writer writer(64);   // rows of codes start where a cache line does
    for (const gguf::Tensor* tensor : candidates(model)) {
        const uint64_t ne[] = {layoutOf(*tensor).bytes};
        writer.addTensor(tensor->name, gguf::Type::I8, ne, [&model, tensor, stop](const gguf::Writer::Sink& sink) {
            writeCopy(model, *tensor, stop, sink);
        });
    }
    sidecars.write(identity, kKind, writer, stop, progress);
}

std::optional<DownCopies> DownCopies::open(const gguf::File& model, const std::string& identity,
                                           const Sidecars& sidecars, std::string* why_not) {
    DownCopies result;
    result.file_ = sidecars.open(identity, kKind, why_not);
    if (!result.file_) return {};
    for (const gguf::Tensor* tensor : candidates(model)) {
        const Regrouped layout = layoutOf(*tensor);
        const gguf::Tensor* copy = result.file_->find(tensor->name);
        if (copy == nullptr || copy->type != gguf::Type::I8 || copy->bytes != layout.bytes) {
            if (why_not != nullptr) *why_not = "it lacks the copy of " + tensor->name;
            sidecars.remove(identity, kKind);
            return {};
        }
        result.copies_.emplace_back(tensor->name, DownCopy{layout, {copy->data, copy->bytes}});
    }
    return result;
}

const DownCopy* DownCopies::find(std::string_view tensor) const {
    const auto at = std::ranges::find(copies_, tensor, [](const auto& one) -> std::string_view { return one.first; });
    return at == copies_.end() ? nullptr : &at->second;
}

}  // namespace hearth::sparse
