#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/runtime/generation.h"
#include "engine/text/chat_template.h"
#include "engine/text/markers.h"

namespace hearth::runtime {

struct Message {
    std::string role;        ///< "system", "user" or "assistant"
    std::string content;
    std::string reasoning = {};   ///< what an assistant thought before its answer
};

struct ReplyOptions {
    GenerationOptions generation;
    std::optional<bool> enable_thinking = std::nullopt;   ///< where the template has a switch for it
    /// The last message is the assistant's, and the reply goes on where that one ends.
    bool resume = false;
    /// More variables of the template.
    nlohmann::ordered_json template_variables = nlohmann::ordered_json::object();
};

struct Reply {
    Message message = {};             ///< role "assistant", also appended to the conversation
    EndReason reason = EndReason::none;
    GenerationStatistics statistics = {};
    std::vector<std::string> notes;   ///< sentences for the user: what the template changed, what no longer fits
    size_t left_out = 0;   ///< messages, after a leading system message, that no longer fitted
};

/// Messages on a model: renders them by the model's chat template, generates the reply and tells answer from thinking.
class Conversation {
public:
    using OnPiece = std::function<void(const text::Piece&)>;

    /// Throws Error: a file without a vocabulary, a template that cannot be read.
    explicit Conversation(std::shared_ptr<Model> model);
    ~Conversation();

    /// May be edited between replies; what stays the same is not computed again.
    std::vector<Message>& messages() { return messages_; }
    Model& model() { return *model_; }

    /// Answers the last message (which is not the assistant's, unless the reply resumes that). `on_piece` gets the text as it comes. A reply that was
    /// stopped is appended with what it has. Throws Error: the conversation does not fit (naming the messages that do not;
    /// with Overflow::shift the oldest are left out of the prompt instead), the template refuses it.
    Reply reply(const ReplyOptions& options, const OnPiece& on_piece, std::stop_token stop = {});
    /// reply() in two steps, for whoever drives the replies of several conversations together by runPass(): the returned
    /// generation is the conversation's, and to be driven until it has ended; then finish() is called once.
    Generation& begin(const ReplyOptions& options, OnPiece on_piece);
    Reply finish();

    /// Tokens of the prompt that reply() would use now.
    size_t promptTokens(const ReplyOptions& options) const;
    /// What the user should know about the template in use (none in the file, and what stands in).
    const std::vector<std::string>& notes() const { return notes_; }
    const text::ChatTemplate& chatTemplate() const { return *template_; }

private:
    struct Prompt {
        std::vector<Token> tokens;
        std::string text;
        std::vector<std::string> notes;
        size_t left_out = 0;
    };
    struct Pending;
    Prompt render(std::span<const Message> messages, const ReplyOptions& options) const;
    Prompt fittingPrompt(const ReplyOptions& options) const;

    std::shared_ptr<Model> model_;
    std::vector<Message> messages_;
    Session session_;
    std::function<bool(std::string_view)> has_token_;
    std::unique_ptr<text::ChatTemplate> template_;
    std::vector<std::string> template_stops_;
    std::vector<std::string> notes_;
    std::unique_ptr<Pending> pending_;
};

}  // namespace hearth::runtime
