#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/model/description.h"
#include "engine/placement/activity.h"
#include "engine/placement/plan.h"

namespace hearth::placement {

/// Weights of one kind: exact bytes, by their type (which decides how fast a processor multiplies them).
struct Sized {
    uint64_t bytes = 0;
    uint64_t aligned = 0;   ///< with each tensor at a boundary of `device_alignment`
    std::map<gguf::Type, uint64_t> by_type = {};
    void add(const gguf::Tensor& tensor);
};

/// Where buffers begin on a graphics device.
constexpr uint64_t device_alignment = 256;

/// What of a layer can be cut: neurons, or whole experts where an expert has no zeros of its own.
struct FeedForward {
    std::string what;      ///< "feed-forward" or "experts"
    uint64_t units =
        0;    ///< rows of each matrix that can be cut: neurons (of all experts), or experts; 0 = no such part
    Sized gate, rest;      ///< of all units: rows that are read whatever fires; the others
    double gate_reads = 1, rest_reads = 1;   ///< expected share of the bytes that a token reads
    uint64_t granule = 1;  ///< units move in multiples of it: a matrix is cut between its blocks only
    bool gathered = false; ///< the rest is read by lists of rows
    Curve curve;           ///< how the reads of the rest are spread
};

struct LayerItems {
    std::map<std::string, Sized> core = {};   ///< by kind: attention, norms, router and shared expert, predictor
    uint64_t kv_bytes = 0;                    ///< of the whole context
    double kv_reads = 0;                      ///< bytes a token reads of it at Options::depth
    bool kv_movable = true;                   ///< false: recurrent state, always where the layer is
    FeedForward feed_forward = {};
};

/// A model as the planner sees it: everything that takes bytes, and how much of it a token is expected to read.
struct ModelItems {
    std::vector<LayerItems> layers;
    std::map<std::string, Sized> resting;  ///< by kind, always in main memory: read by rows (embeddings) or not at all
    Sized tied_output;  ///< the embedding where it is the output matrix too: a device needs a copy
    uint64_t embedding_reads = 0;  ///< bytes of the rows that a token reads
    std::map<std::string, Sized> output;  ///< by kind: output matrix and last norm
    uint64_t dense_reads = 0;  ///< weights that a token reads when nothing is skipped
    uint64_t transposed = 0;  ///< bytes of row-per-neuron copies that loading makes in main memory
    uint64_t regrouped = 0;   ///< bytes of regrouped copies that are mapped from a sidecar
    uint64_t scratch = 0, logits = 0, staging = 0;  ///< working memory in main memory, and for a hand-over
    uint64_t device_scratch = 0;  ///< working memory of a graphics device, logits included
    double params = 0;  ///< values that take part in a token
};

/// The kind of a weight, as people see it.
std::string kindOf(std::string_view tensor);

/// `activity`: [layers]. `ctx` positions are allocated, `depth` of them read.
ModelItems itemsOf(const model::Description& description, std::span<const Activity> activity, const Options& options,
                   uint32_t ctx, uint32_t depth);

}  // namespace hearth::placement
