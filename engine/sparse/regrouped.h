#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/gguf/type.h"

/// A down-projection kept with a row per neuron, without loss.
///
/// In most files `ffn_down` [d, f] runs along the neurons: a block holds the weights of 32 or 256 neurons for one output, so
/// nothing of it can be left unread. The regrouped copy holds the same numbers in another order: a row of codes for each
/// neuron, and for each group of neurons that shares a scale in the file one row of those scales (and minima). A neuron that
/// does not fire costs no codes, a group in which none fires no scales. A value is scale · code (− minimum), computed as the
/// file's type says, so that decoding gives the bits that decoding the file gives.
namespace hearth::sparse {

using gguf::Type;

/// Where things stand in a copy. Three matrices, one after another:
/// codes [neurons, d]: each row is chunks of 32 outputs, the last one filled up with zero codes. A chunk holds the codes'
///   four low bits (16 bytes: the low nibbles are outputs 0 … 15), the two bits after those (8 bytes: byte j has outputs
///   j, j + 8, j + 16, j + 24 from the lowest bits up) and one more (4 bytes, bit j is output j), each only where the type
///   has such bits; codes of eight bits are a byte each.
/// scales [neurons / group, d]: for types whose scale stands alone, the file's own (half precision or a byte); for types of
///   256 values the sub-block's signed integer, a byte. A row of minima follows each row of scales where there are any.
/// common [neurons / common_group, d]: for types of 256 values the half-precision numbers that scale the integers; a row of
///   those for minima follows each row.
struct Regrouped {
    Type type;
    uint64_t outputs = 0, neurons = 0;  ///< d, f
    uint64_t group = 0, common_group = 0;  ///< neurons that share a row; common_group is 0 where there is none
    uint64_t code_row_bytes = 0, scale_row_bytes = 0, common_row_bytes = 0;  ///< with the minima
    uint64_t scales_at = 0, common_at = 0;  ///< offsets in the copy; codes start at 0
    uint64_t bytes = 0;  ///< of the whole copy

    /// The layout for a matrix [outputs, neurons] of `type`. Throws Error when the type is not made of blocks, a row is not
    /// whole blocks, or the sizes overflow.
    Regrouped(Type type, uint64_t outputs, uint64_t neurons);
};

/// Whether matrices of `type` can be regrouped: every type of blocks that Hearth reads.
bool canRegroup(Type type);

/// Neurons that regroup() takes at a time: those of a block.
uint64_t regroupStep(Type type);

/// Writes the part of `copy` (layout.bytes) that belongs to the neurons `first` … `last` − 1, both multiples of
/// regroupStep(). `matrix` is the file's: [outputs, neurons], row by row. Parts may be made by different threads. Throws Error
/// for sizes that do not match.
void regroup(const Regrouped& layout, std::span<const std::byte> matrix, uint64_t first, uint64_t last,
             std::span<std::byte> copy);

/// out[d] = the weights of a neuron, bit for bit those of the file. Throws Error for sizes that do not match.
void decodeNeuron(const Regrouped& layout, std::span<const std::byte> copy, uint64_t neuron, std::span<float> out);

}  // namespace hearth::sparse
