#include "engine/text/streaming_decoder.h"

#include <utility>

#include "engine/text/unicode.h"

namespace hearth::text {

StreamingDecoder::StreamingDecoder(std::shared_ptr<const Tokenizer> tokenizer, DecodeOptions options)
    : tokenizer_(std::move(tokenizer)), options_(options), first_(options.at_text_start) {}

std::string StreamingDecoder::push(Token token) {
    const bool start = std::exchange(first_, false);
    pending_ += tokenizer_->decode({&token, 1}, {options_.control_tokens, start});
    const size_t complete = pending_.size() - incompleteTail(pending_);
    std::string out = replaceIllFormed(std::string_view(pending_).substr(0, complete));
    pending_.erase(0, complete);
    return out;
}

std::string StreamingDecoder::finish() { return std::exchange(pending_, {}); }

}  // namespace hearth::text
