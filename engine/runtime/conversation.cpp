#include "engine/runtime/conversation.h"

#include <algorithm>

#include "engine/base/error.h"

namespace hearth::runtime {
namespace {

nlohmann::ordered_json asJson(std::span<const Message> messages) {
    auto all = nlohmann::ordered_json::array();
    for (const Message& m : messages) {
        nlohmann::ordered_json one{{"role", m.role}, {"content", m.content}};
        if (!m.reasoning.empty()) one["reasoning_content"] = m.reasoning;
        all.push_back(std::move(one));
    }
    return all;
}

std::string pieceOf(const text::Vocabulary& v, Token token) {
    return v.contains(token) ? std::string(v.pieceBytes(token)) : std::string();
}

/// Index of the first message that may be left out when the context is full: after a leading system message.
size_t firstDroppable(std::span<const Message> messages) {
    return !messages.empty() && messages.front().role == "system" ? 1 : 0;
}

}  // namespace

Conversation::Conversation(std::shared_ptr<Model> model) : model_(std::move(model)), session_(model_) {
    const text::Vocabulary& vocabulary = model_->vocabulary();
    if (vocabulary.kind() == text::Kind::None)
        throw Error("cannot chat with this model", "its file has no vocabulary", "Choose a complete model file");
    has_token_ = [&vocabulary](std::string_view text) { return vocabulary.findSpecial(text).has_value(); };
    if (const auto source = model_->description().file->string("tokenizer.chat_template")) {
        template_ = std::make_unique<text::ChatTemplate>(text::ChatTemplate::parse(std::string(*source)));
    } else {
        text::FallbackTemplate fallback = text::fallbackTemplate(has_token_);
        notes_.push_back("The model file has no chat template; the form " + fallback.name +
                         " is used, which fits its special tokens best.");
        template_ = std::make_unique<text::ChatTemplate>(text::ChatTemplate::parse(std::move(fallback.source)));
        template_stops_ = std::move(fallback.stops);
    }
}

Conversation::Prompt Conversation::render(std::span<const Message> messages, const ReplyOptions& options) const {
    const text::Vocabulary& v = model_->vocabulary();
    const bool resume = options.resume && !messages.empty() && messages.back().role == "assistant";
    text::Conversation c;
    c.messages = asJson(resume ? messages.first(messages.size() - 1) : messages);
    c.bos_token = pieceOf(v, v.special().bos);
    c.eos_token = pieceOf(v, v.special().eos);
    c.enable_thinking = options.enable_thinking;
    c.extra = options.template_variables;
    text::RenderedConversation rendered = template_->renderConversation(c, text::localTime());
    if (resume) {
        // What the assistant said follows the place where it begins to speak; a thought that the template opens is closed.
        const text::MarkerSet markers = text::findMarkers(template_->source(), rendered.text, has_token_);
        if (markers.opened) {
            rendered.segments.push_back({messages.back().reasoning, false});
            rendered.segments.push_back({"\n" + markers.rules[*markers.opened].close + "\n\n", true});
        }
        rendered.segments.push_back({messages.back().content, false});
        rendered.text += rendered.segments.back().text;
    }
    Prompt prompt;
    text::EncodeNotes encoded;
    prompt.tokens = model_->tokenizer().encode(rendered.segments, true, &encoded);
    prompt.text = std::move(rendered.text);
    prompt.notes = std::move(rendered.notes);
    if (encoded.bos_already_there)
        prompt.notes.push_back("Template and vocabulary both begin the text with " + c.bos_token +
                               "; it is there once.");
    return prompt;
}

/// The prompt of all messages, or what fits of it.
Conversation::Prompt Conversation::fittingPrompt(const ReplyOptions& options) const {
    const size_t keep = firstDroppable(messages_), context = model_->context();
    // Room for an answer: an eighth of the context, or what was asked for if that is less.
    const int64_t asked = options.generation.max_tokens;
    const size_t reserve = std::min<size_t>(context / 8, asked >= 0 ? static_cast<size_t>(asked) : context);
    Prompt prompt = render(messages_, options);
    if (prompt.tokens.size() < context &&
        (options.generation.overflow == Overflow::stop || prompt.tokens.size() + reserve < context))
        return prompt;

    std::vector<Message> kept = messages_;
    size_t dropped = 0;
    const size_t whole = prompt.tokens.size();
    while (kept.size() > keep + 1 && prompt.tokens.size() + reserve >= context) {
        // A question goes with its answer, so that what remains begins with a user's message again.
        do {
            kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(keep));
            ++dropped;
        } while (kept.size() > keep + 1 && kept[keep].role != "user");
        prompt = render(kept, options);
    }
    const std::string which = dropped == 1
                                  ? "message " + std::to_string(keep + 1)
                                  : "messages " + std::to_string(keep + 1) + " to " + std::to_string(keep + dropped);
    if (prompt.tokens.size() >= context)
        throw Error("the conversation is too long",
                    "its last message alone needs " + std::to_string(prompt.tokens.size()) +
                        " tokens and the context holds " + std::to_string(context),
                    "Shorten the message or choose a longer context");
    if (options.generation.overflow == Overflow::stop)
        throw Error("the conversation is too long",
                    "it needs " + std::to_string(whole) + " tokens and the context holds " + std::to_string(context) +
                        "; " + which + " no longer fit" + (dropped == 1 ? "s" : ""),
                    "Start a new chat, choose a longer context, or let old messages be left out");
    prompt.left_out = dropped;
    prompt.notes.push_back("The context is full: " + which + (dropped == 1 ? " is" : " are") +
                           " no longer seen by the model.");
    return prompt;
}

size_t Conversation::promptTokens(const ReplyOptions& options) const {
    return render(messages_, options).tokens.size();
}

/// A reply under way.
struct Conversation::Pending {
    text::Tagger tagger;
    OnPiece on_piece;
    Reply reply;
    bool resumes = false;
    std::optional<Generation> generation = std::nullopt;

    void take(const std::vector<text::Piece>& pieces) {
        for (text::Piece piece : pieces) {
            std::string& to = piece.tag == text::Tag::Thinking ? reply.message.reasoning : reply.message.content;
            if (to.empty() && !resumes)
                piece.text.erase(0,
                                 piece.text.find_first_not_of(" \n"));  // the space between the roles of many templates
            if (piece.text.empty()) continue;
            to += piece.text;
            if (on_piece) on_piece(piece);
        }
    }
};

Conversation::~Conversation() = default;

Generation& Conversation::begin(const ReplyOptions& options, OnPiece on_piece) {
    if (messages_.empty() || (messages_.back().role == "assistant" && !options.resume))
        throw Error("nothing to answer", "the last message is not yours", "Write something");
    Prompt prompt = fittingPrompt(options);
    const text::MarkerSet markers = text::findMarkers(template_->source(), prompt.text, has_token_);
    GenerationOptions generation_options = options.generation;
    generation_options.stop.insert(generation_options.stop.end(), template_stops_.begin(), template_stops_.end());
    for (const std::string& marker : markers.texts())
        if (const auto token = model_->vocabulary().findSpecial(marker))
            generation_options.shown_tokens.push_back(*token);
    pending_ = std::make_unique<Pending>(Pending{
        text::Tagger(markers),
        std::move(on_piece),
        {.message = {"assistant", ""}, .notes = std::move(prompt.notes), .left_out = prompt.left_out}});
    Pending& pending = *pending_;
    pending.resumes = options.resume && messages_.back().role == "assistant";
    pending.generation.emplace(session_, std::move(prompt.tokens), generation_options,
                               [&pending](std::string_view text) { pending.take(pending.tagger.push(text)); });
    return *pending.generation;
}

Reply Conversation::finish() {
    pending_->take(pending_->tagger.finish());
    Reply reply = std::move(pending_->reply);
    reply.reason = pending_->generation->reason();
    reply.statistics = pending_->generation->statistics();
    const bool resumes = pending_->resumes;
    pending_.reset();
    if (resumes) messages_.back().content += reply.message.content;
    else messages_.push_back(reply.message);
    return reply;
}

Reply Conversation::reply(const ReplyOptions& options, const OnPiece& on_piece, std::stop_token stop) {
    Generation* const all[] = {&begin(options, on_piece)};
    runAll(*model_, all, stop);
    return finish();
}

}  // namespace hearth::runtime
