#include <algorithm>

#include "engine/text/jinja/library.h"

namespace hearth::text::jinja {

namespace {

/// The characters of `text` as [begin, end) byte ranges, from the front.
template <typename Visit>
void eachChar(const Text& text, Visit visit) {
    const std::string& s = text.bytes();
    spendBytes(s.size() * 8);
    for (size_t at = 0; at < s.size();) {
        const size_t end = at + charLength(s, at);
        visit(charAt(s, at), at, end);
        at = end;
    }
}

size_t charBefore(const std::string& s, size_t end) {
    size_t at = end - 1;
    while (at > 0 && end - at < 4 && (static_cast<unsigned char>(s[at]) & 0xC0) == 0x80) --at;
    return at + charLength(s, at) == end ? at : end - 1;
}

}  // namespace

TextPtr strip(const TextPtr& text, const Text* characters, Strip side) {
    const std::string& s = text->bytes();
    std::u32string set;
    if (characters) eachChar(*characters, [&](char32_t c, size_t, size_t) { set += c; });
    std::sort(set.begin(), set.end());
    const auto matches = [&](char32_t c) {
        return characters ? std::binary_search(set.begin(), set.end(), c) : isSpace(c);
    };
    size_t begin = 0, end = s.size();
    if (side != Strip::Right)
        while (begin < end && matches(charAt(s, begin))) begin += charLength(s, begin);
    if (side != Strip::Left)
        while (end > begin) {
            const size_t at = charBefore(s, end);
            if (at < begin || !matches(charAt(s, at))) break;
            end = at;
        }
    return subText(text, begin, end);
}

TextPtr replaceText(const TextPtr& text, const Text& from, const Text& to, Int count) {
    const std::string& s = text->bytes();
    TextBuilder builder;
    Int left = count < 0 ? Int{1} << 60 : count;
    size_t at = 0;
    if (from.size() == 0) {
        while (left-- > 0) {
            builder.append(to);
            if (at >= s.size()) break;
            const size_t end = at + charLength(s, at);
            builder.append(*text, at, end);
            at = end;
        }
    } else {
        while (left-- > 0) {
            const size_t found = findText(s, from.bytes(), at);
            if (found == std::string::npos) break;
            builder.append(*text, at, found);
            builder.append(to);
            at = found + from.size();
        }
    }
    builder.append(*text, at, s.size());
    return builder.finish(text->isSafe());
}

TextPtr changeCase(const TextPtr& text, Case form) {
    TextBuilder builder;
    bool in_word = false;  // title case: the first cased character of a word is special
    eachChar(*text, [&](char32_t c, size_t at, size_t) {
        Case now = form;
        if (form == Case::Title) {
            now = in_word ? Case::Lower : Case::Title;
            in_word = isCased(c);
        }
        if (now == Case::Lower && c == 0x3A3) {
            builder.append(isFinalSigma(text->bytes(), at) ? char32_t{0x3C2} : char32_t{0x3C3}, text->markAt(at));
            return;
        }
        for (const char32_t mapped : toCase(c, now)) builder.append(mapped, text->markAt(at));
    });
    return builder.finish();
}

TextPtr capitalize(const TextPtr& text) {
    if (text->size() == 0) return text;
    const size_t first = charLength(text->bytes(), 0);
    TextBuilder builder;
    for (const char32_t mapped : toCase(charAt(text->bytes(), 0), Case::Title)) builder.append(mapped, text->markAt(0));
    builder.append(*changeCase(subText(text, first, text->size()), Case::Lower));
    return builder.finish();
}

TextPtr swapCase(const TextPtr& text) {
    TextBuilder builder;
    eachChar(*text, [&](char32_t c, size_t at, size_t) {
        const std::u32string mapped = isUpper(c)   ? toCase(c, Case::Lower)
                                      : isLower(c) ? toCase(c, Case::Upper)
                                                   : std::u32string{c};
        for (const char32_t m : mapped) builder.append(m, text->markAt(at));
    });
    return builder.finish();
}

TextPtr pad(const TextPtr& text, size_t left, size_t right, const Text& fill) {
    checkStringSize(left);
    checkStringSize(right);
    TextBuilder builder;
    for (size_t i = 0; i < left; ++i) builder.append(fill);
    builder.append(*text);
    for (size_t i = 0; i < right; ++i) builder.append(fill);
    return builder.finish();
}

TextPtr center(const TextPtr& text, size_t width, const Text& fill) {
    const size_t length = text->length();
    if (width <= length) return text;
    const size_t gap = width - length;
    const size_t left = gap / 2 + (gap & width & 1);  // where Python puts the odd one
    return pad(text, left, gap - left, fill);
}

std::vector<TextPtr> splitLines(const TextPtr& text, bool keep_ends) {
    const std::string& s = text->bytes();
    std::vector<TextPtr> lines;
    size_t begin = 0;
    eachChar(*text, [&](char32_t c, size_t at, size_t end) {
        if (at < begin) return;  // the \n of \r\n
        const bool is_break =
            (c >= 10 && c <= 13) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
        if (!is_break) return;
        if (c == '\r' && end < s.size() && s[end] == '\n') ++end;
        lines.push_back(subText(text, begin, keep_ends ? end : at));
        begin = end;
    });
    if (begin < s.size()) lines.push_back(subText(text, begin, s.size()));
    return lines;
}

namespace {

std::vector<TextPtr> splitSpaces(const TextPtr& text, Int max_splits, bool from_right) {
    const std::string& s = text->bytes();
    std::vector<std::pair<size_t, size_t>> words;
    size_t begin = std::string::npos;
    eachChar(*text, [&](char32_t c, size_t at, size_t) {
        if (isSpace(c)) {
            if (begin != std::string::npos) words.emplace_back(begin, at);
            begin = std::string::npos;
        } else if (begin == std::string::npos) {
            begin = at;
        }
    });
    if (begin != std::string::npos) words.emplace_back(begin, s.size());
    if (max_splits >= 0 && static_cast<Int>(words.size()) > max_splits) {
        const auto keep = static_cast<size_t>(max_splits);
        if (from_right) {  // the rest keeps the white space at the text's beginning, as at its end below
            words[words.size() - keep - 1].first = 0;
            words.erase(words.begin(), words.end() - static_cast<std::ptrdiff_t>(keep + 1));
        } else {
            words.resize(keep + 1);
            words.back().second = s.size();
        }
    }
    std::vector<TextPtr> parts;
    for (const auto& [from, to] : words) parts.push_back(subText(text, from, to));
    return parts;
}

}  // namespace

std::vector<TextPtr> splitText(const TextPtr& text, const Text* separator, Int max_splits, bool from_right) {
    if (!separator) return splitSpaces(text, max_splits, from_right);
    if (separator->size() == 0) fail("a text cannot be split at nothing");
    const std::string& s = text->bytes();
    std::vector<TextPtr> parts;
    if (from_right) {
        size_t end = s.size();
        while (max_splits != 0) {
            const size_t found = findLastText(std::string_view(s).substr(0, end), separator->bytes());
            if (found == std::string::npos) break;
            parts.push_back(subText(text, found + separator->size(), end));
            end = found;
            --max_splits;
        }
        parts.push_back(subText(text, 0, end));
        std::reverse(parts.begin(), parts.end());
        return parts;
    }
    size_t at = 0;
    while (max_splits != 0) {
        const size_t found = findText(s, separator->bytes(), at);
        if (found == std::string::npos) break;
        parts.push_back(subText(text, at, found));
        at = found + separator->size();
        --max_splits;
    }
    parts.push_back(subText(text, at, s.size()));
    return parts;
}

TextPtr joinTexts(const std::vector<TextPtr>& parts, const Text& separator) {
    TextBuilder builder;
    bool first = true;
    for (const TextPtr& part : parts) {
        if (!first) builder.append(separator);
        first = false;
        builder.append(*part);
    }
    return builder.finish();
}

TextPtr escapeHtml(const TextPtr& text) {
    if (text->isSafe()) return text;
    TextBuilder builder;
    size_t begin = 0;
    const std::string& s = text->bytes();
    for (size_t at = 0; at < s.size(); ++at) {
        const char c = s[at];
        const char* entity = c == '&'    ? "&amp;"
                             : c == '<'  ? "&lt;"
                             : c == '>'  ? "&gt;"
                             : c == '"'  ? "&#34;"
                             : c == '\'' ? "&#39;"
                                         : nullptr;
        if (!entity) continue;
        builder.append(*text, begin, at);
        builder.append(entity, text->markAt(at));
        begin = at + 1;
    }
    builder.append(*text, begin, s.size());
    return builder.finish(true);
}

TextPtr wordWrap(const TextPtr& text, size_t width, bool break_long, const Text& newline) {
    if (width == 0) fail("the width of 'wordwrap' is zero");
    std::vector<TextPtr> lines;
    for (const TextPtr& paragraph : splitLines(text)) {
        // Chunks alternate between words and white space; a line drops white space at both ends (but for the first line's front).
        std::vector<TextPtr> chunks;
        size_t begin = 0;
        const std::string& s = paragraph->bytes();
        for (size_t at = 1; at <= s.size(); ++at)
            if (at == s.size() || (s[at] == ' ' || s[at] == '\t') != (s[at - 1] == ' ' || s[at - 1] == '\t')) {
                chunks.push_back(subText(paragraph, begin, at));
                begin = at;
            }
        const auto isBlank = [](const TextPtr& chunk) {
            return chunk->bytes().find_first_not_of(" \t") == std::string::npos;
        };
        const size_t before = lines.size();
        for (size_t i = 0; i < chunks.size();) {
            if (isBlank(chunks[i]) && lines.size() > before) ++i;
            std::vector<TextPtr> line;
            size_t used = 0;
            while (i < chunks.size() && used + chunks[i]->length() <= width) {
                used += chunks[i]->length();
                line.push_back(chunks[i++]);
            }
            if (i < chunks.size() && chunks[i]->length() > width && (break_long || line.empty())) {
                const size_t take =
                    break_long ? std::max<size_t>(width - used, used == 0 ? 1 : 0) : chunks[i]->length();
                const size_t cut = chunks[i]->offset(take);
                line.push_back(subText(chunks[i], 0, cut));
                chunks[i] = subText(chunks[i], cut, chunks[i]->size());
                if (chunks[i]->size() == 0) ++i;
            }
            if (!line.empty() && isBlank(line.back())) line.pop_back();
            if (!line.empty()) lines.push_back(joinTexts(line, *makeText("")));
        }
        if (lines.size() == before) lines.push_back(makeText(""));
    }
    return joinTexts(lines, newline);
}

}  // namespace hearth::text::jinja
