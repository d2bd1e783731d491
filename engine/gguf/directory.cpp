#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "engine/base/checked.h"
#include "engine/base/error.h"
#include "engine/gguf/limits.h"
#include "engine/gguf/reader.h"

namespace hearth::gguf {
namespace {

/// `text` without the digits it begins with; the same text when it begins with none.
std::string_view skipDigits(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
}

/// blk.N.ffn_{gate,up,down}.E.weight: one tensor per expert, as Mixtral files had before April 2024.
bool isOldExpert(std::string_view name) {
    if (!name.starts_with("blk.")) return false;
    name = skipDigits(name.substr(4));
    for (const std::string_view part : {".ffn_gate.", ".ffn_up.", ".ffn_down."}) {
        if (!name.starts_with(part)) continue;
        const std::string_view expert = name.substr(part.size()), rest = skipDigits(expert);
        return rest.size() < expert.size() && rest == ".weight";
    }
    return false;
}

}  // namespace

void Reader::readTensors(Shard& shard, uint64_t n) {
    std::unordered_set<std::string_view> seen;
    for (uint64_t i = 0; i < n; ++i) shard.tensors.push_back(readTensor(seen));
}

Tensor Reader::readTensor(std::unordered_set<std::string_view>& seen) {
    const std::string ordinal = "tensor " + std::to_string(seen.size() + 1) + " of its directory";
    const std::string_view name = text(max_key_bytes, "the name of " + ordinal);
    if (const std::string problem = tensorNameProblem(name); !problem.empty())
        failDamaged("the name of " + ordinal + " " + problem);
    const std::string label = "the tensor " + shownName(name);
    if (!seen.insert(name).second) failDamaged(label + " stands in it twice");

    Tensor tensor;
    tensor.name = name;
    tensor.n_dims = number<uint32_t>(label);
    if (tensor.n_dims > max_dims)
        failDamaged(label + " has " + std::to_string(tensor.n_dims) + " dimensions; at most 4 are allowed");
    for (uint32_t d = 0; d < tensor.n_dims; ++d) tensor.ne[d] = number<uint64_t>(label);
    checkType(tensor, number<int32_t>(label), label);
    measure(tensor, label);
    tensor.file_offset = number<uint64_t>(label);
    return tensor;
}

void Reader::checkType(Tensor& tensor, int32_t id, const std::string& label) const {
    tensor.type = static_cast<Type>(id);
    if (findType(tensor.type)) return;
    TypeRefusal reason = refusal(tensor.type);
    fail(label + " " + reason.why, std::move(reason.next_step));
}

void Reader::measure(Tensor& tensor, const std::string& label) const {
    constexpr auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    uint64_t elements = 1;
    for (const uint64_t n : tensor.ne) {
        if (n == 0) failDamaged(label + " has a dimension of 0");
        const auto product = checkedMul(elements, n);
        if (!product || *product > most) failDamaged(label + " is too large: its dimensions multiply to 2^63 or more");
        elements = *product;
    }
    const TypeInfo& info = typeInfo(tensor.type);
    if (tensor.ne[0] % info.block_elements != 0) {
        failDamaged(label + " has rows of " + std::to_string(tensor.ne[0]) + " values, not a multiple of the " +
                    std::to_string(info.block_elements) + " in a block of " + std::string(info.name));
    }
    const auto bytes = checkedMul(elements / info.block_elements, info.block_bytes);
    if (!bytes || *bytes > most) failDamaged(label + " is too large: its size is 2^63 bytes or more");
    tensor.bytes = *bytes;
}

void Reader::placeData(Shard& shard) const {
    const auto start = checkedAlign(position_, shard.alignment);
    if (!start) failDamaged("its header does not fit in 64 bits");
    shard.data_start = *start;
    // How long a file without gaps is: tells a file that was cut from an offset that is wrong.
    uint64_t end = shard.data_start, complete = shard.data_start;
    for (Tensor& tensor : shard.tensors) {
        const std::string label = "the tensor " + shownName(tensor.name);
        if (tensor.file_offset % shard.alignment != 0) {
            failDamaged(label + " begins at offset " + std::to_string(tensor.file_offset) +
                        ", not a multiple of the alignment " + std::to_string(shard.alignment));
        }
        const auto first = checkedAdd(shard.data_start, tensor.file_offset);
        const auto last = first ? checkedAdd(*first, tensor.bytes) : std::nullopt;
        if (!last)
            failDamaged(label + " lies outside of any possible file: its offset is " +
                        std::to_string(tensor.file_offset));
        const auto padded = checkedAlign(tensor.bytes, shard.alignment);
        const auto sum = padded ? checkedAdd(complete, *padded) : std::nullopt;
        if (!sum) failDamaged("its tensors together are too large: their sizes do not fit in 64 bits");
        complete = *sum;
        tensor.file_offset = *first;
        end = std::max(end, *last);
    }
    if (!shard.tensors.empty() && end > file_size_) {
        const std::string has = "the file has " + std::to_string(file_size_) + " bytes";
        if (end > complete)
            failDamaged("a tensor lies outside of the file: it ends at byte " + std::to_string(end) + ", but " + has);
        fail("the file is truncated: its tensors need " + std::to_string(end) + " bytes, but " + has,
             "The download is not complete; download or copy it again");
    }
    checkOverlap(shard);
}

void Reader::checkOverlap(const Shard& shard) const {
    std::vector<uint32_t> order(shard.tensors.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return shard.tensors[a].file_offset < shard.tensors[b].file_offset; });
    for (size_t i = 1; i < order.size(); ++i) {
        const Tensor &before = shard.tensors[order[i - 1]], &after = shard.tensors[order[i]];
        if (before.file_offset + before.bytes <= after.file_offset) continue;
        failDamaged("the tensors " + shownName(before.name) + " and " + shownName(after.name) + " overlap");
    }
}

void Reader::refuseOldExperts(const Shard& shard) const {
    for (const Tensor& tensor : shard.tensors) {
        if (!isOldExpert(tensor.name)) continue;
        fail("it stores each expert as a tensor of its own (" + shownName(tensor.name) +
                 "), as mixture-of-experts files did before April 2024",
             "Download a newer file of this model");
    }
}

}  // namespace hearth::gguf
