#include "engine/sparse/down_copies.h"

#include <algorithm>
#include <cstring>

#include "engine/base/error.h"
#include "engine/sparse/checksum.h"

namespace hearth::sparse {

namespace {

const SidecarKind kKind{"down-copies", 2};
constexpr const char* kChecksum = "hearth.checksum";
constexpr uint64_t kPiece = 4 << 20;   // bytes between two looks at the stop token

Regrouped layoutOf(const gguf::Tensor& tensor) { return Regrouped(tensor.type, tensor.ne[1], tensor.ne[0]); }
uint64_t copyBytes(const gguf::Tensor& tensor) { return layoutOf(tensor).bytes * tensor.ne[2]; }

/// Regroups a tensor, matrix by matrix, and hands the copies on.
void writeCopy(const gguf::File& model, const gguf::Tensor& tensor, const std::stop_token& stop,
               const gguf::Writer::Sink& sink) {
    const Regrouped layout = layoutOf(tensor);
    std::vector<std::byte> copy(layout.bytes);
    const uint64_t step = regroupStep(layout.type), matrix = tensor.bytes / tensor.ne[2];
    for (uint64_t e = 0; e < tensor.ne[2]; ++e) {
        for (uint64_t neuron = 0; neuron < layout.neurons; neuron += step) {
            throwIfStopped(stop);
            regroup(layout, {tensor.data + e * matrix, matrix}, neuron, neuron + step, copy);
        }
        model.check();
        sink(copy);
    }
}

/// The name of the same tensor with a row per neuron; empty for one that is no down-projection.
std::string byNeuron(const std::string& name) {
    constexpr std::string_view end = ".ffn_down.weight", experts_end = ".ffn_down_exps.weight";
    if (!name.starts_with("blk.")) return {};
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size()) + ".ffn_down_t.weight";
    if (name.ends_with(experts_end)) return name.substr(0, name.size() - experts_end.size()) + ".ffn_down_t_exps.weight";
    return {};
}

bool sumIsRight(const gguf::File& file, const std::vector<const gguf::Tensor*>& candidates, const std::stop_token& stop) {
    const gguf::Tensor* written = file.find(kChecksum);
    uint64_t wanted = 0;
    if (written == nullptr || written->bytes != sizeof wanted) return false;
    std::memcpy(&wanted, written->data, sizeof wanted);
    Checksum sum;
    for (const gguf::Tensor* tensor : candidates) {
        const gguf::Tensor& copy = file.require(tensor->name);
        for (uint64_t at = 0; at < copy.bytes; at += kPiece) {
            throwIfStopped(stop);
            sum.add({copy.data + at, std::min(kPiece, copy.bytes - at)});
        }
    }
    file.check();
    return sum.value() == wanted;
}

/// Why a sidecar is not what belongs to the model; empty if it is.
std::string mismatch(const gguf::File& file, const std::vector<const gguf::Tensor*>& candidates,
                     const std::stop_token& stop) {
    for (const gguf::Tensor* tensor : candidates) {
        const gguf::Tensor* copy = file.find(tensor->name);
        if (copy == nullptr || copy->type != gguf::Type::I8 || copy->bytes != copyBytes(*tensor))
            return "it lacks the copy of " + tensor->name;
    }
    return sumIsRight(file, candidates, stop) ? std::string() : "its content is damaged";
}

}  // namespace

std::vector<const gguf::Tensor*> DownCopies::candidates(const gguf::File& model) {
    std::vector<const gguf::Tensor*> found;
    for (const gguf::Tensor& tensor : model.tensors()) {
        const std::string other = byNeuron(tensor.name);
        const uint32_t dimensions = tensor.name.ends_with("_exps.weight") ? 3 : 2;
        if (!other.empty() && tensor.n_dims == dimensions && canRegroup(tensor.type) && tensor.data != nullptr &&
            model.find(other) == nullptr)
            found.push_back(&tensor);
    }
    return found;
}

uint64_t DownCopies::bytesNeeded(const gguf::File& model) {
    uint64_t bytes = 0;
    for (const gguf::Tensor* tensor : candidates(model)) bytes += copyBytes(*tensor);
    return bytes;
}

void DownCopies::prepare(const gguf::File& model, const std::string& identity, const Sidecars& sidecars,
                         std::stop_token stop, const Progress& progress) {
    gguf::Writer writer(64);   // rows of codes start where a cache line does
    Checksum sum;
    for (const gguf::Tensor* tensor : candidates(model)) {
        const uint64_t ne[] = {copyBytes(*tensor)};
        writer.addTensor(tensor->name, gguf::Type::I8, ne, [&model, &sum, tensor, stop](const gguf::Writer::Sink& sink) {
            writeCopy(model, *tensor, stop, [&](std::span<const std::byte> bytes) {
                sum.add(bytes);
                sink(bytes);
            });
        });
    }
    const uint64_t ne[] = {sizeof(uint64_t)};   // written last, when the others are known
    writer.addTensor(kChecksum, gguf::Type::I8, ne, [&sum](const gguf::Writer::Sink& sink) {
        const uint64_t value = sum.value();
        sink(std::as_bytes(std::span(&value, 1)));
    });
    sidecars.write(identity, kKind, writer, stop, progress);
}

std::optional<DownCopies> DownCopies::open(const gguf::File& model, const std::string& identity,
                                           const Sidecars& sidecars, std::string* why_not, std::stop_token stop) {
    DownCopies result;
    result.file_ = sidecars.open(identity, kKind, why_not);
    if (!result.file_) return {};
    const std::vector<const gguf::Tensor*> all = candidates(model);
    if (const std::string why = mismatch(*result.file_, all, stop); !why.empty()) {
        if (why_not != nullptr) *why_not = why;
        sidecars.remove(identity, kKind);
        return {};
    }
    for (const gguf::Tensor* tensor : all) {
        const gguf::Tensor& copy = result.file_->require(tensor->name);
        result.copies_.emplace_back(tensor->name, DownCopy{layoutOf(*tensor), tensor->ne[2], {copy.data, copy.bytes}});
    }
    return result;
}

const DownCopy* DownCopies::find(std::string_view tensor) const {
    const auto at = std::ranges::find(copies_, tensor, [](const auto& one) -> std::string_view { return one.first; });
    return at == copies_.end() ? nullptr : &at->second;
}

}  // namespace hearth::sparse
