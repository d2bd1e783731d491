#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/error.h"
#include "engine/text/segment.h"

namespace hearth::text {

struct Rendered {
    std::string text;
    /// Joined they are `text`; neighbours differ in `trusted`.
    std::vector<Segment> segments;
};

/// What a template can do, found out by rendering small conversations with it.
struct TemplateCapabilities {
    bool system_role = true;       ///< false: refuses or drops a system message
    bool developer_role = false;   ///< knows the role "developer" beside "system"
    bool text_content = true;      ///< content as a string
    bool parts_content = false;    ///< content as a list of parts, [{"type": "text", "text": …}]
    bool tools = false;            ///< shows tool definitions
    bool null_for_no_tools = true; ///< false: without tools it wants an empty list
    bool arguments_as_object = true;  ///< arguments of tool calls: as a JSON object, else as a string of JSON
    bool writes_bos = false;       ///< the rendered text begins with bos_token
    /// Variables that switch thinking on and off ("enable_thinking", "thinking") and that change the prompt.
    std::vector<std::string> thinking_switches;
    bool reasoning_effort = false;  ///< reads the variable reasoning_effort
};

/// A conversation as programs hold it (the OpenAI form).
struct Conversation {
    /// [{role, content, reasoning_content?, tool_calls?, tool_call_id?, name?}]; content a string, null, or a list of parts.
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    nlohmann::ordered_json tools;  ///< a list of definitions, or null
    bool add_generation_prompt = true;
    std::optional<bool> enable_thinking;
    std::string bos_token, eos_token;
    nlohmann::ordered_json extra = nlohmann::ordered_json::object();  ///< more variables, untrusted
};

struct RenderedConversation : Rendered {
    /// What had to be changed so that the template takes the conversation: sentences for the user.
    std::vector<std::string> notes;
};

namespace jinja {
struct Limits;
struct Program;
}  // namespace jinja

/// A chat template of a model file, parsed. Immutable, so it may be used by several threads at once.
///
/// The language is that of Jinja2 3.1 as Hugging Face transformers sets it up: immutable sandbox, trim_blocks,
/// lstrip_blocks, loop controls, the generation tag, raise_exception, strftime_now, tojson in insertion order and without
/// HTML escapes. Templates are untrusted: steps, memory, string sizes and recursion are limited.
class ChatTemplate {
public:
    /// Throws TemplateError.
    static ChatTemplate parse(std::string source);

    /// `context` is an object; its members become the template's variables, and strings in them count as untrusted, but
    /// for the texts of special tokens (bos_token, eos_token …) and well-known role names of messages.
    /// `now` is what strftime_now shows. Throws TemplateError; TemplateRefusal when the template calls raise_exception.
    Rendered render(const nlohmann::ordered_json& context, const std::tm& now) const;

    /// Renders a conversation, adapted to what the template takes: system text goes into the first user message, content
    /// and tool arguments get the form it wants, neighbours of one role are joined if it refuses them.
    RenderedConversation renderConversation(const Conversation& conversation, const std::tm& now) const;

    /// Computed at the first call.
    const TemplateCapabilities& capabilities() const;
    const std::string& source() const noexcept;

private:
    struct Shared;
    explicit ChatTemplate(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
    Rendered render(const nlohmann::ordered_json& context, const std::tm& now, const jinja::Limits& limits) const;
    TemplateCapabilities probe() const;

    std::shared_ptr<Shared> shared_;
};

/// A template for a model whose file has none.
struct FallbackTemplate {
    std::string name;  ///< "ChatML", "Llama 3" …, for the user
    std::string source;
    std::vector<std::string> stops;  ///< texts that end an answer, where no token does
};

/// The template that fits the special tokens of a vocabulary; `has_token` tells whether a text is one token of it.
FallbackTemplate fallbackTemplate(const std::function<bool(std::string_view)>& has_token);

/// The local time of this moment, for ChatTemplate::render.
std::tm localTime();

}  // namespace hearth::text
