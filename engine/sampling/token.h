#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace hearth::sampling {

/// A token id, an index into the vocabulary.
using Token = int32_t;

/// What grammars need to know of a vocabulary. The functions must stay callable as long as the view is used; they are
/// called with ids in [0, size).
struct VocabularyView {
    size_t size = 0;
    std::function<std::string(Token)> bytes;      ///< what the token adds to the text, byte for byte
    std::function<bool(Token)> is_end;            ///< ends a generation
    std::function<bool(Token)> is_control;        ///< never text, whatever its piece looks like
};

}  // namespace hearth::sampling
