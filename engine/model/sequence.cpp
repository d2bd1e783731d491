#include "engine/model/sequence.h"

#include <algorithm>
#include <cstdlib>

#include "engine/base/checked.h"
#include "engine/base/error.h"

namespace hearth::model {
namespace {

constexpr size_t max_checkpoints = 32;

struct KvSize {
    uint64_t cells = 0, key_bytes = 0, value_bytes = 0;
};

KvSize kvSize(const Description& d, uint32_t layer, const SequenceOptions& options) {
    const LayerShape& s = d.shapes[layer];
    if (s.recurrent || s.kv_layer != layer) return {};
    KvSize size;
    size.cells = options.context;
    if (s.windowed) size.cells = std::min<uint64_t>(size.cells, uint64_t{d.window} + options.batch);
    size.key_bytes = s.kv_heads * cpu::kvRowBytes(options.kv, s.key_width);
    size.value_bytes = d.latent.kv_rank > 0 ? 0 : s.kv_heads * cpu::kvRowBytes(options.kv, s.value_width);
    return size;
}

uint64_t recurrentLayers(const Description& d) {
    return static_cast<uint64_t>(std::ranges::count_if(d.shapes, [](const LayerShape& s) { return s.recurrent; }));
}
uint64_t convValues(const Description& d) {
    return recurrentLayers(d) * (d.delta_net.conv_width - 1) * d.delta_net.channels();
}
uint64_t memoryValues(const Description& d) {
    return recurrentLayers(d) * d.delta_net.value_heads * d.delta_net.state * d.delta_net.state;
}

}  // namespace

LazyBytes::LazyBytes(size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    data_.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));   // calloc: pages come from the system when touched
    if (!data_)
        throw Error("not enough memory for the context", std::to_string(bytes >> 20) + " MiB could not be had",
                    "Choose a smaller context length or a smaller type for keys and values");
}

void LazyBytes::Free::operator()(std::byte* p) const { std::free(p); }

Sequence::Sequence(const Description& d, const SequenceOptions& options)
    : file_(d.file), options_(options), kv_(d.layers), window_(d.window) {
    for (uint32_t i = 0; i < d.layers; ++i) {
        const KvSize size = kvSize(d, i, options);
        if (size.cells == 0) continue;
        const auto keys = checkedMul(size.cells, size.key_bytes), values = checkedMul(size.cells, size.value_bytes);
        if (!keys || !values)
            throw Error("not enough memory for the context", "its size does not fit in 64 bits",
                        "Choose a smaller context length");
        kv_[i].cells = size.cells;
        kv_[i].key_bytes = size.key_bytes;
        kv_[i].value_bytes = size.value_bytes;
        if (i < options.elsewhere.size() && options.elsewhere[i]) continue;
        kv_[i].keys = LazyBytes(*keys);
        kv_[i].values = LazyBytes(*values);
    }
    if (d.recurrent()) {
        recurrent_.conv.assign(convValues(d), 0.0f);
        recurrent_.memory.assign(memoryValues(d), 0.0f);
    }
}

void Sequence::keep(const ElsewhereSteps& place, std::unique_ptr<ElsewhereMemory> memory) {
    elsewhere_[&place] = std::move(memory);
}

ElsewhereMemory* Sequence::memoryOf(const ElsewhereSteps& place) const {
    const auto found = elsewhere_.find(&place);
    return found == elsewhere_.end() ? nullptr : found->second.get();
}

uint64_t Sequence::layerBytes(const Description& d, uint32_t layer, const SequenceOptions& options) {
    if (d.shapes[layer].recurrent)
        return (max_checkpoints + 1) * sizeof(float) * (convValues(d) + memoryValues(d)) / recurrentLayers(d);
    const KvSize size = kvSize(d, layer, options);
    return size.cells * (size.key_bytes + size.value_bytes);
}

uint64_t Sequence::bytes(const Description& d, const SequenceOptions& options) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < d.layers; ++i) total += layerBytes(d, i, options);
    return total;
}

uint32_t Sequence::truncate(uint32_t length) {
    if (length >= length_) return length_;
    // A ring holds the last `cells` positions written: enough for position `length` if its whole window is still there.
    for (const KvLayer& layer : kv_) {
        if (layer.cells == 0 || layer.cells >= options_.context) continue;
        const uint64_t oldest = written_ > layer.cells ? written_ - layer.cells : 0;
        const uint64_t needed = length >= window_ ? length - window_ + 1 : 0;
        if (oldest > needed) length = 0;
    }
    length_ = length;
    if (!recurrent_.memory.empty()) restoreCheckpoint(length);
    if (length_ == 0) written_ = 0;
    return length_;
}

void Sequence::restoreCheckpoint(uint32_t length) {
    while (!checkpoints_.empty() && checkpoints_.back().length > length) checkpoints_.pop_back();
    if (checkpoints_.empty()) {
        std::ranges::fill(recurrent_.conv, 0.0f);
        std::ranges::fill(recurrent_.memory, 0.0f);
        length_ = 0;
    } else {
        recurrent_ = checkpoints_.back().state;
        length_ = checkpoints_.back().length;
    }
}

void Sequence::recover() {
    if (!recurrent_.memory.empty()) restoreCheckpoint(length_);
}

void Sequence::advance(uint32_t tokens) {
    length_ += tokens;
    written_ = std::max(written_, length_);
}

void Sequence::checkpoint() {
    if (recurrent_.memory.empty() || length_ == 0) return;
    if (!checkpoints_.empty() && checkpoints_.back().length == length_) return;
    if (checkpoints_.size() == max_checkpoints) checkpoints_.erase(checkpoints_.begin());
    checkpoints_.push_back({length_, recurrent_});
}

}  // namespace hearth::model
