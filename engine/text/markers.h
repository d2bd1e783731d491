#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::text {

enum class Tag { Answer, Thinking, ToolCall };

/// Generated text of one kind.
struct Piece {
    Tag tag = Tag::Answer;
    std::string text;

    bool operator==(const Piece&) const = default;
};

/// How a model marks what it generates.
struct MarkerSet {
    struct Rule {
        std::string open;
        std::string close;  ///< empty: up to the end
        Tag tag = Tag::Thinking;
        /// Tool calls keep their markers, for whoever parses them; other markers disappear, with the line ends beside them.
        bool keep = false;
    };

    std::vector<Rule> rules;
    /// The rule whose opening marker the prompt already ends with.
    std::optional<size_t> opened;
    /// The channels of gpt-oss: <|channel|>NAME<|message|>… <|end|>. Then `rules` is not used.
    bool harmony = false;
    /// With harmony: the prompt already opened the text of a message of this tag.
    std::optional<Tag> harmony_opened;

    /// Marker texts that are one token in many vocabularies: whoever turns tokens into text must write these out
    /// for the Tagger, although control tokens are otherwise not shown.
    std::vector<std::string> texts() const;
};

/// The markers of a model, from the source of its chat template, the end of its rendered prompt and its vocabulary.
/// `has_token` tells whether a text is one token; it may be empty.
MarkerSet findMarkers(std::string_view template_source, std::string_view prompt,
                      const std::function<bool(std::string_view)>& has_token = {});

/// Splits a stream of generated text. Where the stream is cut does not change the result; only text that may still turn
/// out to be a marker is held back.
class Tagger {
public:
    explicit Tagger(MarkerSet markers);

    /// Pieces in order; neighbours may have the same tag. Empty texts are left out.
    std::vector<Piece> push(std::string_view text);
    /// What is still held back. The Tagger must not be used afterwards.
    std::vector<Piece> finish();

private:
    enum class State { Answer, InRule, Header, Message };
    struct Match {
        size_t at = 0;
        const std::string* marker = nullptr;
        size_t index = 0;
    };

    void scan(bool at_end, std::vector<Piece>& out);
    std::vector<const std::string*> candidates() const;
    Match findMarker(const std::vector<const std::string*>& markers, bool at_end) const;
    void applyMarker(const Match& match, std::vector<Piece>& out);
    void applyHarmonyMarker(const Match& match, std::vector<Piece>& out);
    void beginMessage(std::vector<Piece>& out);
    void put(std::string_view text, std::vector<Piece>& out);
    void putRaw(std::string_view text, std::vector<Piece>& out);
    Tag tag() const;

    MarkerSet markers_;
    State state_ = State::Answer;
    size_t rule_ = 0;
    Tag message_tag_ = Tag::Answer;
    std::string buffer_;
    std::string header_;  ///< harmony: what came since the last message
    std::string line_ends_;  ///< held back, for a marker may follow them
    bool after_marker_ = false;  ///< line ends that come now are dropped
    bool answered_ = false;  ///< some answer text has come out
};

}  // namespace hearth::text
