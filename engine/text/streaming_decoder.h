#pragma once

#include <memory>
#include <string>

#include "engine/text/tokenizer.h"

namespace hearth::text {

/// Turns tokens into text as they come, never showing half a character.
class StreamingDecoder {
public:
    /// `at_text_start`: the first token begins a text, so that the space the tokenizer puts there is dropped.
    /// False for an answer that goes on from a prompt whose last token is not the start.
    explicit StreamingDecoder(std::shared_ptr<const Tokenizer> tokenizer, DecodeOptions options = {});

    /// The characters that are complete now: well-formed UTF-8, possibly empty. Bytes that no later token can make a
    /// character of come as U+FFFD.
    std::string push(Token token);
    /// The bytes of an unfinished character (0 to 3) that are left at the end; the decoder then is as new, in the middle of a text.
    std::string finish();

private:
    std::shared_ptr<const Tokenizer> tokenizer_;
    DecodeOptions options_;
    bool first_;
    std::string pending_;
};

}  // namespace hearth::text
