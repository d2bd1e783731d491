#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/model/description.h"
#include "engine/placement/activity.h"

namespace hearth::placement {

/// A model that may not be on this machine: what it would say about itself, and how its neurons fire.
struct ModelShape {
    std::string id, name;
    model::Description description;
    std::vector<Activity> activity;   ///< [layers]
};

/// Reads one shape or a list of them from JSON. Keys of a shape:
///   architecture, layers, width, heads, vocabulary         as general.architecture and its sizes; all must be there
///   kv_heads, head_width, feed_forward, context, window    default: heads, width / heads, none, 2048, none
///   experts {count, used, width, type}                     instead of or beside feed_forward
///   activation                                             silu gelu relu relu2 drelu; default: the architecture's
///   gated, tied                                            a gate in the feed-forward (true); output = embedding (false)
///   type, output_type                                      of the matrices (Q4_0); of the output matrix (as type)
///   predictor_rank                                         PowerInfer's predictor of that rank in each layer
///   active, flagged                                        shares of neurons that fire, that a predictor lets through
///   curve                                                  how reads are spread: an exponent, or a list of {layer, points}
///                                                          of which each layer takes the nearest (activity.h)
///   id, name
/// Models with zeros have a row per neuron in their down-projections. Throws Error: not readable, no JSON, a key that is
/// missing or of another kind, an impossible model.
std::vector<ModelShape> readShapes(const std::filesystem::path& path);

/// The shape `id` of a file with several (an empty `id`: its only one). Throws Error, listing those there are.
ModelShape readShape(const std::filesystem::path& path, const std::string& id = "");

}  // namespace hearth::placement
