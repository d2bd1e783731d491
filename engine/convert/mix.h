#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/gguf/file.h"

namespace hearth::convert {

/// What a file as a whole can be quantised to, by its number in general.file_type (formats §1.6).
enum class FileType : uint32_t {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q8_0 = 7,
    Q5_0 = 8,
    Q5_1 = 9,
    Q4_K_S = 14,
    Q4_K_M = 15,
    Q5_K_M = 17,
    Q6_K = 18,
    BF16 = 32,
};

/// All of them, largest files first.
std::span<const FileType> fileTypes();
std::string_view fileTypeName(FileType type);
/// By name, case-insensitively; nullopt when there is none.
std::optional<FileType> fileTypeByName(std::string_view name);

/// One tensor and the type that it gets.
struct TensorPlan {
    const gguf::Tensor* tensor;   ///< of the source file
    gguf::Type type;
    uint64_t bytes;               ///< in the new file
};

/// The type of each tensor of `file` in a file of type `type`, in the order of the file (formats §1.8):
/// - one-dimensional tensors, norms, biases, expert routers and other small ones become F32;
/// - output.weight (token_embd.weight where there is none) gets at least Q6_K;
/// - attn_k and attn_v of models with eight experts get Q8_0;
/// - the K mixes give attention values and down-projections of some layers more bits;
/// - where rows are no multiple of 256, Q4_K becomes Q5_0, Q5_K Q5_1, Q6_K Q8_0; where they are none of 32, F16.
/// `pure` leaves out the second to fourth point. Tensors of integers stay as they are.
std::vector<TensorPlan> planTypes(const gguf::File& file, FileType type, bool pure = false);

}  // namespace hearth::convert
