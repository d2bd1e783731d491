#include "engine/text/markers.h"

#include <algorithm>
#include <array>
#include <utility>

namespace hearth::text {

namespace {

struct KnownRule {
    const char *open, *close;
    Tag tag;
    bool by_token;  ///< a token of the vocabulary is enough; for common words the template must have it too
};

constexpr KnownRule kKnown[] = {
    {"<think>", "</think>", Tag::Thinking, true},
    {"[THINK]", "[/THINK]", Tag::Thinking, true},
    {"<seed:think>", "</seed:think>", Tag::Thinking, true},
    {"\u25c1think\u25b7", "\u25c1/think\u25b7", Tag::Thinking, true},
    {"<|START_THINKING|>", "<|END_THINKING|>", Tag::Thinking, true},
    {"<|channel>thought", "<channel|>", Tag::Thinking, false},
    {"<|inner_prefix|>", "<|inner_suffix|>", Tag::Thinking, true},
    {"<thinking>", "</thinking>", Tag::Thinking, false},
    {"<reasoning>", "</reasoning>", Tag::Thinking, false},
    {"<response>", "</response>", Tag::Answer, false},
    {"<answer>", "</answer>", Tag::Answer, false},
    {"<|START_RESPONSE|>", "<|END_RESPONSE|>", Tag::Answer, true},
    {"<tool_call>", "</tool_call>", Tag::ToolCall, true},
    {"<minimax:tool_call>", "</minimax:tool_call>", Tag::ToolCall, true},
    {"<seed:tool_call>", "</seed:tool_call>", Tag::ToolCall, true},
    {"<TOOLCALL>", "</TOOLCALL>", Tag::ToolCall, true},
    {"<|tool_call>", "<tool_call|>", Tag::ToolCall, true},
    {"<|tool_call_start|>", "<|tool_call_end|>", Tag::ToolCall, true},
    {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", Tag::ToolCall, true},
    {"<\uff5ctool\u2581calls\u2581begin\uff5c>", "<\uff5ctool\u2581calls\u2581end\uff5c>", Tag::ToolCall, true},
    {"<|START_ACTION|>", "<|END_ACTION|>", Tag::ToolCall, true},
    {"[TOOL_CALLS]", "", Tag::ToolCall, true},
    {"<|tool_call|>", "", Tag::ToolCall, true},
    {"<|python_tag|>", "", Tag::ToolCall, true},
};

const std::string kMessage = "<|message|>";
/// What ends the text of a harmony message; the first three come after it, the others begin the next one.
const std::array<std::string, 5> kMessageEnds = {"<|end|>", "<|call|>", "<|return|>", "<|start|>", "<|channel|>"};
/// A header is a few words; whatever is longer without a <|message|> is an answer of a model that forgot its channels.
constexpr size_t kMaxHeader = 256;

bool isLineEnd(char c) { return c == '\n' || c == '\r'; }

std::string_view withoutSpaceAtEnd(std::string_view s) {
    const size_t last = s.find_last_not_of(" \n\r\t");
    return last == std::string_view::npos ? std::string_view() : s.substr(0, last + 1);
}

Tag tagOfHeader(std::string_view header) {
    if (header.find("to=") != std::string_view::npos) return Tag::ToolCall;
    return header.find("analysis") != std::string_view::npos ? Tag::Thinking : Tag::Answer;
}

}  // namespace

std::vector<std::string> MarkerSet::texts() const {
    std::vector<std::string> out;
    if (harmony) {
        out.assign(kMessageEnds.begin(), kMessageEnds.end());
        out.push_back(kMessage);
        out.push_back("<|constrain|>");
        return out;
    }
    for (const Rule& rule : rules) {
        out.push_back(rule.open);
        if (!rule.close.empty()) out.push_back(rule.close);
    }
    return out;
}

MarkerSet findMarkers(std::string_view source, std::string_view prompt,
                      const std::function<bool(std::string_view)>& has_token) {
    MarkerSet set;
    const auto inSource = [&](std::string_view what) {
        return !what.empty() && source.find(what) != std::string_view::npos;
    };
    const auto isToken = [&](std::string_view what) { return has_token && has_token(what); };
    const bool channels = inSource("<|channel|>") || (source.empty() && isToken("<|channel|>"));
    if (channels && (inSource(kMessage) || isToken(kMessage))) {
        set.harmony = true;
        const size_t start = prompt.rfind("<|start|>");
        const std::string_view last = start == std::string_view::npos ? std::string_view() : prompt.substr(start);
        const size_t message = last.find(kMessage);
        if (message != std::string_view::npos && last.find("<|end|>") == std::string_view::npos)
            set.harmony_opened = tagOfHeader(last.substr(0, message));
        return set;
    }
    const std::string_view end = withoutSpaceAtEnd(prompt);
    for (const KnownRule& known : kKnown) {
        const bool wanted = inSource(known.open) || inSource(known.close) || (known.by_token && isToken(known.open));
        if (!wanted && !end.ends_with(known.open)) continue;
        if (end.ends_with(known.open)) set.opened = set.rules.size();
        set.rules.push_back({known.open, known.close, known.tag, known.tag == Tag::ToolCall});
    }
    return set;
}

Tagger::Tagger(MarkerSet markers) : markers_(std::move(markers)) {
    if (markers_.harmony) {
        state_ = markers_.harmony_opened ? State::Message : State::Header;
        message_tag_ = markers_.harmony_opened.value_or(Tag::Answer);
    } else if (markers_.opened && *markers_.opened < markers_.rules.size()) {
        state_ = State::InRule;
        rule_ = *markers_.opened;
        after_marker_ = true;
    }
}

Tag Tagger::tag() const {
    if (state_ == State::InRule) return markers_.rules[rule_].tag;
    return state_ == State::Message ? message_tag_ : Tag::Answer;
}

std::vector<Piece> Tagger::push(std::string_view text) {
    std::vector<Piece> out;
    buffer_ += text;
    scan(false, out);
    return out;
}

std::vector<Piece> Tagger::finish() {
    std::vector<Piece> out;
    scan(true, out);
    if (state_ == State::Header && header_.find("<|") == std::string::npos) {
        state_ = State::Message;  // a model that forgot its channels
        message_tag_ = Tag::Answer;
        putRaw(header_, out);
    }
    putRaw(line_ends_, out);
    line_ends_.clear();
    return out;
}

/// The markers that mean something in the present state.
std::vector<const std::string*> Tagger::candidates() const {
    std::vector<const std::string*> out;
    switch (state_) {
        case State::Answer:
            for (const auto& rule : markers_.rules) out.push_back(&rule.open);
            break;
        case State::InRule:
            if (!markers_.rules[rule_].close.empty()) out.push_back(&markers_.rules[rule_].close);
            break;
        case State::Header: out.push_back(&kMessage); break;
        case State::Message:
            for (const auto& end : kMessageEnds) out.push_back(&end);
            break;
    }
    return out;
}

/// The first place in the buffer where a marker stands (`marker` set) or could still come to stand (not set); without
/// either, the end of the buffer. Of two markers at one place the longer one counts.
Tagger::Match Tagger::findMarker(const std::vector<const std::string*>& markers, bool at_end) const {
    for (size_t at = 0; at < buffer_.size(); ++at) {
        const std::string_view rest = std::string_view(buffer_).substr(at);
        Match best{at, nullptr, 0};
        bool undecided = false;
        for (size_t i = 0; i < markers.size(); ++i) {
            const std::string& marker = *markers[i];
            if (marker.empty()) continue;
            if (rest.starts_with(marker)) {
                if (!best.marker || marker.size() > best.marker->size()) best = {at, &marker, i};
            } else if (!at_end && marker.size() > rest.size() && marker.starts_with(rest)) {
                undecided = true;
            }
        }
        if (undecided) return {at, nullptr, 0};
        if (best.marker) return best;
    }
    return {buffer_.size(), nullptr, 0};
}

void Tagger::scan(bool at_end, std::vector<Piece>& out) {
    for (;;) {
        const Match match = findMarker(candidates(), at_end);
        const std::string before = buffer_.substr(0, match.at);
        if (state_ == State::Header) {
            header_ += before;
        } else {
            put(before, out);
        }
        const size_t length = match.marker ? match.marker->size() : 0;
        buffer_.erase(0, match.at + length);
        if (state_ == State::Header && header_.size() > kMaxHeader) {
            state_ = State::Message;
            message_tag_ = Tag::Answer;
            put(std::exchange(header_, {}), out);
            if (!match.marker) continue;
        }
        if (!match.marker) return;
        if (markers_.harmony) applyHarmonyMarker(match, out);
        else applyMarker(match, out);
    }
}

void Tagger::applyMarker(const Match& match, std::vector<Piece>& out) {
    const bool opens = state_ == State::Answer;
    if (opens) rule_ = match.index;
    const auto& rule = markers_.rules[rule_];
    if (rule.keep) {
        if (opens) {
            putRaw(std::exchange(line_ends_, {}), out);
            state_ = State::InRule;
        }
        putRaw(std::exchange(line_ends_, {}), out);
        putRaw(*match.marker, out);
    } else {
        line_ends_.clear();
    }
    after_marker_ = !rule.keep;
    state_ = opens ? State::InRule : State::Answer;
}

void Tagger::applyHarmonyMarker(const Match& match, std::vector<Piece>& out) {
    if (state_ == State::Header) return beginMessage(out);
    if (message_tag_ == Tag::ToolCall && match.index < 3) {
        putRaw(std::exchange(line_ends_, {}), out);
        putRaw(*match.marker, out);
    }
    line_ends_.clear();
    state_ = State::Header;
    header_ = match.index < 3 ? "" : *match.marker;
}

/// The header is complete: its channel says what the message is.
void Tagger::beginMessage(std::vector<Piece>& out) {
    message_tag_ = tagOfHeader(header_);
    state_ = State::Message;
    if (message_tag_ == Tag::ToolCall) putRaw(header_ + kMessage, out);
    if (message_tag_ == Tag::Answer && answered_) putRaw("\n\n", out);
    header_.clear();
    after_marker_ = message_tag_ != Tag::ToolCall;
}

/// Text between markers: line ends beside a marker that disappears disappear with it.
void Tagger::put(std::string_view text, std::vector<Piece>& out) {
    if (after_marker_) {
        while (!text.empty() && isLineEnd(text.front())) text.remove_prefix(1);
        if (!text.empty()) after_marker_ = false;
    }
    size_t end = text.size();
    while (end > 0 && isLineEnd(text[end - 1])) --end;
    if (end > 0) {
        putRaw(std::exchange(line_ends_, {}), out);
        putRaw(text.substr(0, end), out);
    }
    line_ends_ += text.substr(end);
}

void Tagger::putRaw(std::string_view text, std::vector<Piece>& out) {
    if (text.empty()) return;
    const Tag now = tag();
    answered_ |= now == Tag::Answer;
    if (!out.empty() && out.back().tag == now) out.back().text += text;
    else out.push_back({now, std::string(text)});
}

}  // namespace hearth::text
