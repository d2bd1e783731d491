#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/meter.h"

/// Strings that remember where their bytes came from.
namespace hearth::text::jinja {

/// Who wrote some bytes: the template (trusted: its special-token text means special tokens), or the conversation.
enum class Mark : bool { Trusted, Input };

/// Length in bytes of the character that starts at `at` (< s.size()); a malformed byte is a character of its own.
size_t charLength(std::string_view s, size_t at);
/// Its code point; a malformed byte b gives 0xDC00 + b.
char32_t charAt(std::string_view s, size_t at);
void appendUtf8(std::string& out, char32_t c);
/// s.find(what, from) in linear time whatever the two look like; steps are spent.
size_t findText(std::string_view s, std::string_view what, size_t from = 0);
size_t findLastText(std::string_view s, std::string_view what);

class Text;
using TextPtr = std::shared_ptr<const Text>;

/// An immutable UTF-8 string with marks.
class Text : public Charged {
public:
    Text(std::string bytes, Mark mark);

    const std::string& bytes() const noexcept { return bytes_; }
    size_t size() const noexcept { return bytes_.size(); }
    /// Number of code points.
    size_t length() const;
    bool isAscii() const { return length() == size(); }
    /// Byte offset of code point `index` (≤ length()).
    size_t offset(size_t index) const;

    Mark markAt(size_t at) const;
    /// Input if any byte is.
    Mark overall() const noexcept { return first_ == Mark::Input || !flips_.empty() ? Mark::Input : Mark::Trusted; }
    /// End of the run of equal marks that contains byte `at`.
    size_t runEnd(size_t at) const;
    /// Marked as HTML-safe by the filters `safe` and `escape`.
    bool isSafe() const noexcept { return safe_; }

private:
    friend class TextBuilder;
    Text(std::string bytes, Mark first, std::vector<uint32_t> flips, bool safe);

    std::string bytes_;
    Mark first_;
    std::vector<uint32_t> flips_;  ///< byte offsets where the mark changes, ascending, inside (0, size)
    bool safe_ = false;
    mutable size_t length_ = SIZE_MAX;
};

/// Puts a Text together. Every growth is checked against the string limit.
class TextBuilder {
public:
    void append(std::string_view bytes, Mark mark);
    void append(const Text& text) { append(text, 0, text.size()); }
    void append(const Text& text, size_t from, size_t to);
    /// One code point.
    void append(char32_t c, Mark mark);
    size_t size() const noexcept { return bytes_.size(); }
    const std::string& bytes() const noexcept { return bytes_; }
    /// The finished text; the builder is empty afterwards.
    TextPtr finish(bool safe = false);

private:
    std::string bytes_;
    Mark first_ = Mark::Trusted, last_ = Mark::Trusted;
    std::vector<uint32_t> flips_;
};

TextPtr makeText(std::string bytes, Mark mark = Mark::Trusted);
/// Bytes [from, to) with their marks.
TextPtr subText(const TextPtr& text, size_t from, size_t to);

}  // namespace hearth::text::jinja
