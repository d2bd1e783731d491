#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/ops.h"
#include "engine/model/description.h"

namespace hearth::model {

/// Bytes that are zero and only take memory once they are touched.
class LazyBytes {
public:
    LazyBytes() = default;
    explicit LazyBytes(size_t bytes);   ///< throws Error when the machine has not enough
    std::byte* data() { return data_.get(); }
    const std::byte* data() const { return data_.get(); }
    size_t size() const { return size_; }

private:
    struct Free {
        void operator()(std::byte* p) const;
    };
    std::unique_ptr<std::byte, Free> data_;
    size_t size_ = 0;
};

/// Keys and values of one layer: a row a cell, cell = position % cells. Windowed layers keep as many cells as their
/// window and one batch need, the others one for every position of the context.
struct KvLayer {
    size_t cells = 0;
    size_t key_bytes = 0, value_bytes = 0;  ///< of a cell: all key/value heads; value_bytes 0 = values lie in the keys
    LazyBytes keys, values;
};

/// The state of gated delta net layers after some number of tokens.
struct RecurrentState {
    std::vector<float> conv;  ///< [recurrent layers, conv_width − 1, channels]: the last inputs, oldest first
    std::vector<float> memory;  ///< [recurrent layers, value heads, state, state]
};

struct SequenceOptions {
    uint32_t context = 0;  ///< positions
    uint32_t batch = 512;  ///< most tokens of one pass
    cpu::KvType kv = cpu::KvType::f16;
    std::vector<bool> elsewhere = {};  ///< [layers] whose keys and values are not kept here; empty = none
};

class ElsewhereSteps;

/// What a graphics device remembers of a sequence.
class ElsewhereMemory {
public:
    virtual ~ElsewhereMemory() = default;
};

/// What a model remembers of one text: keys, values and recurrent state of its first length() tokens.
class Sequence {
public:
    Sequence(const Description& description, const SequenceOptions& options);

    uint32_t length() const { return length_; }
    uint32_t context() const { return options_.context; }
    cpu::KvType kvType() const { return options_.kv; }

    /// Forgets tokens from `length` on, so that other ones can follow. Returns how many tokens really remain: fewer where
    /// a ring buffer or recurrent state cannot go back that little (recurrent models return to the last checkpoint).
    uint32_t truncate(uint32_t length);
    /// Keeps a copy of the recurrent state at the present length (nothing to do for other models). The last 32 are kept.
    void checkpoint();

    /// Memory that belongs to `place`, which must outlive the sequence; nullptr when it has none.
    void keep(const ElsewhereSteps& place, std::unique_ptr<ElsewhereMemory> memory);
    ElsewhereMemory* memoryOf(const ElsewhereSteps& place) const;

    /// Cells of layer i's keys and values: cell = position % cells. 0 = it has none of its own.
    size_t cells(uint32_t layer) const { return kv_[layer].cells; }

    /// Bytes that a sequence of these options will take, at most.
    static uint64_t bytes(const Description& description, const SequenceOptions& options);
    /// The same for one layer.
    static uint64_t layerBytes(const Description& description, uint32_t layer, const SequenceOptions& options);

private:
    friend class Steps;
    /// After a pass that ended early: recurrent state may be half advanced, so it returns to the last checkpoint.
    void recover();
    void advance(uint32_t tokens);
    void restoreCheckpoint(uint32_t length);
    struct Checkpoint {
        uint32_t length;
        RecurrentState state;
    };
    std::shared_ptr<const gguf::File> file_;
    SequenceOptions options_;
    uint32_t length_ = 0;
    uint32_t written_ = 0;  // the longest it has been: rings hold the last cells before this
    std::vector<KvLayer> kv_;  // [layers]; empty where the layer has none of its own
    RecurrentState recurrent_;
    std::vector<Checkpoint> checkpoints_;  // ascending length
    uint32_t window_ = 0;
    std::map<const ElsewhereSteps*, std::unique_ptr<ElsewhereMemory>> elsewhere_;
};

}  // namespace hearth::model
