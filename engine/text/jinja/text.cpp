#include "engine/text/jinja/text.h"

#include <algorithm>

namespace hearth::text::jinja {

namespace {

/// A string that changes its mark more often than this is treated as input from there on.
constexpr size_t kMaxFlips = size_t{1} << 18;

/// What a Text costs besides its bytes, with what the allocator and lists of texts add.
constexpr size_t kTextCost = sizeof(Text) + 64;

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

struct Decoded {
    char32_t code;
    size_t length;
};

Decoded decode(std::string_view s, size_t at) {
    const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(s[at + i])); };
    const char32_t lead = byte(0);
    if (lead < 0x80) return {lead, 1};
    const size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                          : lead >= 0xE0 && lead < 0xF0 ? 3
                          : lead >= 0xC2 && lead < 0xE0 ? 2
                                                        : 0;
    if (length == 0 || s.size() - at < length) return {0xDC00 + lead, 1};
    char32_t code = lead & (0x7Fu >> length);
    for (size_t i = 1; i < length; ++i) {
        if (!isContinuation(s[at + i])) return {0xDC00 + lead, 1};
        code = code << 6 | (byte(i) & 0x3F);
    }
    constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[length] || code > 0x10FFFF) return {0xDC00 + lead, 1};
    return {code, length};
}

}  // namespace

size_t charLength(std::string_view s, size_t at) { return decode(s, at).length; }
char32_t charAt(std::string_view s, size_t at) { return decode(s, at).code; }

void appendUtf8(std::string& out, char32_t c) {
    const auto put = [&](char32_t b) { out += static_cast<char>(static_cast<unsigned char>(b)); };
    if (c < 0x80) {
        put(c);
    } else if (c >= 0xDC80 && c <= 0xDCFF) {
        put(c - 0xDC00);  // a malformed byte, kept as it was
    } else if (c < 0x800) {
        put(0xC0 | c >> 6);
        put(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        put(0xE0 | c >> 12);
        put(0x80 | ((c >> 6) & 0x3F));
        put(0x80 | (c & 0x3F));
    } else {
        put(0xF0 | c >> 18);
        put(0x80 | ((c >> 12) & 0x3F));
        put(0x80 | ((c >> 6) & 0x3F));
        put(0x80 | (c & 0x3F));
    }
}

namespace {

/// First match of `what` (≥ 1 element) in [first, last) by the failure function of Knuth, Morris and Pratt.
template <typename Iterator>
Iterator searchLinear(Iterator first, Iterator last, Iterator what, size_t n) {
    std::vector<uint32_t> fallback(n, 0);
    const auto w = [&](size_t i) { return *(what + static_cast<std::ptrdiff_t>(i)); };
    for (size_t i = 1, k = 0; i < n; ++i) {
        while (k > 0 && w(i) != w(k)) k = fallback[k - 1];
        if (w(i) == w(k)) ++k;
        fallback[i] = static_cast<uint32_t>(k);
    }
    size_t k = 0;
    for (auto it = first; it != last; ++it) {
        while (k > 0 && *it != w(k)) k = fallback[k - 1];
        if (*it == w(k)) ++k;
        if (k == n) return it - static_cast<std::ptrdiff_t>(n - 1);
    }
    return last;
}

/// Up to this length the standard library's search is near enough to linear.
constexpr size_t kShort = 16;

}  // namespace

size_t findText(std::string_view s, std::string_view what, size_t from) {
    if (what.empty() || from > s.size()) return s.find(what, from);
    size_t found;
    if (what.size() <= kShort) {
        found = s.find(what, from);
    } else {
        const auto it = searchLinear(s.begin() + static_cast<std::ptrdiff_t>(from), s.end(), what.begin(), what.size());
        found = it == s.end() ? std::string_view::npos : static_cast<size_t>(it - s.begin());
    }
    spendBytes((found == std::string_view::npos ? s.size() : found) - from + what.size());
    return found;
}

size_t findLastText(std::string_view s, std::string_view what) {
    if (what.size() <= kShort) {
        const size_t found = s.rfind(what);
        spendBytes(found == std::string_view::npos ? s.size() : s.size() - found);
        return found;
    }
    spendBytes(s.size() + what.size());
    const auto it = searchLinear(s.rbegin(), s.rend(), what.rbegin(), what.size());
    return it == s.rend() ? std::string_view::npos : s.size() - static_cast<size_t>(it - s.rbegin()) - what.size();
}

Text::Text(std::string bytes, Mark mark) : Charged(bytes.size() + kTextCost), bytes_(std::move(bytes)), first_(mark) {}

Text::Text(std::string bytes, Mark first, std::vector<uint32_t> flips, bool safe)
    : Charged(bytes.size() + flips.size() * sizeof(uint32_t) + kTextCost),
      bytes_(std::move(bytes)),
      first_(first),
      flips_(std::move(flips)),
      safe_(safe) {}

size_t Text::length() const {
    if (length_ == SIZE_MAX) {
        spendBytes(size());
        size_t count = 0;
        for (size_t at = 0; at < bytes_.size(); at += charLength(bytes_, at)) ++count;
        length_ = count;
    }
    return length_;
}

size_t Text::offset(size_t index) const {
    if (isAscii()) return index;
    spend(index / 16 + 1);
    size_t at = 0;
    for (; index > 0; --index) at += charLength(bytes_, at);
    return at;
}

Mark Text::markAt(size_t at) const {
    const auto flips = std::upper_bound(flips_.begin(), flips_.end(), at) - flips_.begin();
    return (flips % 2 == 0) == (first_ == Mark::Trusted) ? Mark::Trusted : Mark::Input;
}

size_t Text::runEnd(size_t at) const {
    const auto next = std::upper_bound(flips_.begin(), flips_.end(), at);
    return next == flips_.end() ? bytes_.size() : *next;
}

void TextBuilder::append(std::string_view bytes, Mark mark) {
    if (bytes.empty()) return;
    checkStringSize(bytes_.size() + bytes.size());
    spendBytes(bytes.size());
    if (bytes_.empty()) {
        first_ = last_ = mark;
    } else if (mark != last_ && flips_.size() < kMaxFlips) {
        flips_.push_back(static_cast<uint32_t>(bytes_.size()));
        last_ = mark;
        // The last flip that is kept must lead into input, whatever follows.
        if (flips_.size() == kMaxFlips && mark == Mark::Trusted) {
            flips_.pop_back();
            last_ = Mark::Input;
        }
    }
    bytes_ += bytes;
}

void TextBuilder::append(const Text& text, size_t from, size_t to) {
    while (from < to) {
        const size_t end = std::min(to, text.runEnd(from));
        append(std::string_view(text.bytes()).substr(from, end - from), text.markAt(from));
        from = end;
    }
}

void TextBuilder::append(char32_t c, Mark mark) {
    std::string bytes;
    appendUtf8(bytes, c);
    append(bytes, mark);
}

TextPtr TextBuilder::finish(bool safe) {
    TextPtr text(new Text(std::move(bytes_), first_, std::move(flips_), safe));
    *this = {};
    return text;
}

TextPtr makeText(std::string bytes, Mark mark) { return std::make_shared<const Text>(std::move(bytes), mark); }

TextPtr subText(const TextPtr& text, size_t from, size_t to) {
    if (from == 0 && to == text->size()) return text;
    TextBuilder builder;
    builder.append(*text, from, to);
    return builder.finish();
}

}  // namespace hearth::text::jinja
