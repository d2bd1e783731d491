#include <algorithm>
#include <exception>
#include <iterator>

#include "engine/text/chat_template.h"
#include "engine/text/jinja/meter.h"

/// From a conversation as programs hold it to what a particular template takes.
namespace hearth::text {

namespace {

using Json = nlohmann::ordered_json;

Json message(const char* role, const Json& content) { return Json{{"role", role}, {"content", content}}; }

Json textParts(const std::string& text) { return Json::array({Json{{"type", "text"}, {"text", text}}}); }

bool hasRole(const Json& m, std::string_view role) {
    return m.contains("role") && m["role"].is_string() && m["role"].get_ref<const std::string&>() == role;
}

std::string contentText(const Json& m) {
    return m.contains("content") && m["content"].is_string() ? m["content"].get<std::string>() : std::string();
}

/// Small conversations against one template; each render that fails counts as "it cannot do that".
class Prober {
public:
    using Render = std::function<Rendered(const Json&)>;
    explicit Prober(Render render) : render_(std::move(render)) {}

    /// What stands for "no tools".
    Json no_tools;

    std::optional<std::string> text(const Json& messages, const Json& more = Json::object()) const {
        Json context{{"messages", messages},          {"tools", no_tools}, {"documents", nullptr},
                     {"add_generation_prompt", true}, {"bos_token", kBos}, {"eos_token", "[hearth-eos]"}};
        context.update(more);
        try {
            return render_(context).text;
        } catch (const Error&) {
            return std::nullopt;
        }
    }
    bool shows(const Json& messages, std::initializer_list<std::string_view> texts,
               const Json& more = Json::object()) const {
        const auto rendered = text(messages, more);
        return rendered &&
               std::all_of(texts.begin(), texts.end(), [&](auto t) { return rendered->find(t) != std::string::npos; });
    }

    static constexpr const char* kBos = "[hearth-bos]";

private:
    Render render_;
};

Json toolCallMessages(const Json& arguments, bool parts) {
    Json call{{"id", "call00001"},
              {"type", "function"},
              {"function", Json{{"name", "hearthtool"}, {"arguments", arguments}}}};
    Json assistant = message("assistant", "");
    assistant["tool_calls"] = Json::array({call});
    Json result = message("tool", "hearthresult");
    result["name"] = "hearthtool";
    result["tool_call_id"] = "call00001";
    return Json::array({message("user", parts ? textParts("hearthuser") : Json("hearthuser")), assistant, result});
}

Json toolDefinition() {
    return Json::array({Json{
        {"type", "function"},
        {"function",
         Json{{"name", "hearthtool"},
              {"description", "hearthdescription"},
              {"parameters", Json{{"type", "object"},
                                  {"properties", Json{{"hearthkey", Json{{"type", "string"}, {"description", "key"}}}}},
                                  {"required", Json::array({"hearthkey"})}}}}}}});
}

bool mentions(const std::string& source, std::string_view word) { return source.find(word) != std::string::npos; }

/// The text parts of a list of parts; sets `lost` when there are other ones.
std::string joinParts(const Json& parts, bool& lost) {
    std::string text;
    for (const Json& part : parts) {
        const bool is_text = part.is_object() && part.contains("text") && part["text"].is_string();
        if (!is_text) {
            lost = true;
            continue;
        }
        if (!text.empty()) text += '\n';
        text += part["text"].get_ref<const std::string&>();
    }
    return text;
}

/// Copying and destroying JSON is recursive, so what comes from outside must not be nested deeply.
void checkDepth(const Json& json) {
    constexpr size_t kMaxDepth = 200;
    std::vector<std::pair<const Json*, size_t>> open{{&json, 0}};
    while (!open.empty()) {
        const auto [value, depth] = open.back();
        open.pop_back();
        if (depth > kMaxDepth) throw TemplateError(0, "the conversation is nested too deeply");
        if (value->is_structured())
            for (const Json& item : *value) open.emplace_back(&item, depth + 1);
    }
}

/// Step by step, with a note for each step that changed something.
class Adapter {
public:
    Adapter(const TemplateCapabilities& can, Json messages) : can_(can), messages_(std::move(messages)) {}

    void run() {
        if (!messages_.is_array()) throw TemplateError(0, "the conversation is not a list of messages");
        for (Json& m : messages_) {
            if (!m.is_object()) throw TemplateError(0, "a message of the conversation is not an object");
            renameDeveloper(m);
            convertArguments(m);
            toText(m);
        }
        if (!can_.system_role) mergeSystem();
        if (!can_.text_content && can_.parts_content)
            for (Json& m : messages_)
                if (m.contains("content") && m["content"].is_string())
                    m["content"] = textParts(m["content"].get<std::string>());
    }

    /// For templates that want strict turns: neighbours of one role become one message. True if something changed.
    bool joinNeighbours() {
        Json joined = Json::array();
        bool changed = false;
        for (const Json& m : messages_) {
            const bool plain = m.contains("content") && m["content"].is_string() && !m.contains("tool_calls");
            if (plain && !joined.empty() && (hasRole(m, "user") || hasRole(m, "assistant")) &&
                joined.back().value("role", "") == m.value("role", "") && joined.back().contains("content") &&
                joined.back()["content"].is_string() && !joined.back().contains("tool_calls")) {
                joined.back()["content"] = contentText(joined.back()) + "\n\n" + contentText(m);
                changed = true;
            } else {
                joined.push_back(m);
            }
        }
        if (changed) {
            messages_ = std::move(joined);
            note(
                "This model's template wants user and assistant in turns, so messages that follow each other were "
                "joined.");
        }
        return changed;
    }

    /// For templates that cannot bear a missing or null content. True if something changed.
    bool fillContents() {
        bool changed = false;
        for (Json& m : messages_) {
            if (m.contains("content") && !m["content"].is_null()) continue;
            m["content"] = "";
            changed = true;
        }
        return changed;
    }

    /// System text in places where the template refuses it. True if something changed.
    bool mergeSystem() {
        std::string system;
        Json rest = Json::array();
        for (Json& m : messages_) {
            if (!hasRole(m, "system")) {
                rest.push_back(std::move(m));
                continue;
            }
            if (!system.empty()) system += "\n\n";
            system += contentText(m);
        }
        const bool changed = rest.size() != messages_.size();
        messages_ = std::move(rest);
        if (!changed) return false;
        if (system.empty()) return true;
        const auto user =
            std::find_if(messages_.begin(), messages_.end(), [](const Json& m) { return hasRole(m, "user"); });
        if (user == messages_.end()) {
            messages_.insert(messages_.begin(), message("user", system));
        } else {
            const std::string text = contentText(*user);
            (*user)["content"] = text.empty() ? system : system + "\n\n" + text;
        }
        note("This model's template has no place for a system prompt, so it was put before the first message.");
        return true;
    }

    bool beginWithUser() {
        if (messages_.empty() || !hasRole(messages_.front(), "assistant")) return false;
        messages_.insert(messages_.begin(), message("user", ""));
        note("This model's template wants the user to begin, so an empty message was put before the first one.");
        return true;
    }

    void note(std::string text) {
        if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
    }
    const Json& messages() const { return messages_; }
    std::vector<std::string> takeNotes() { return std::move(notes_); }

private:
    void renameDeveloper(Json& m) {
        if (hasRole(m, "developer") && !can_.developer_role) m["role"] = "system";
    }

    void convertArguments(Json& m) {
        if (!m.contains("tool_calls") || !m["tool_calls"].is_array()) return;
        for (Json& call : m["tool_calls"]) {
            if (!call.is_object()) continue;
            Json& function = call.contains("function") && call["function"].is_object() ? call["function"] : call;
            if (!function.contains("arguments")) continue;
            Json& arguments = function["arguments"];
            if (can_.arguments_as_object && arguments.is_string()) {
                Json parsed = Json::parse(arguments.get_ref<const std::string&>(), nullptr, false);
                if (parsed.is_object()) arguments = std::move(parsed);
            } else if (!can_.arguments_as_object && arguments.is_object()) {
                arguments = arguments.dump();
            }
        }
    }

    void toText(Json& m) {
        if (!m.contains("content") || !m["content"].is_array()) return;
        const bool all_text = std::all_of(m["content"].begin(), m["content"].end(), [](const Json& part) {
            return part.is_object() && part.contains("text") && part["text"].is_string();
        });
        if (can_.parts_content && !all_text) return;  // the template knows what to do with them
        bool lost = false;
        m["content"] = joinParts(m["content"], lost);
        if (lost) note("This model's template takes text only, so other parts of the messages were left out.");
    }

    const TemplateCapabilities& can_;
    Json messages_;
    std::vector<std::string> notes_;
};

}  // namespace

TemplateCapabilities ChatTemplate::probe() const {
    jinja::Limits limits;
    limits.steps = 200'000;
    std::tm now{};
    now.tm_year = 126;
    now.tm_mday = 1;
    Prober prober([&](const Json& context) { return render(context, now, limits); });
    const Json user = message("user", "hearthuser");
    TemplateCapabilities can;
    const Json user_parts = message("user", textParts("hearthuser"));
    if (!prober.text(Json::array({user})) && !prober.text(Json::array({user_parts}))) {
        prober.no_tools = Json::array();
        can.null_for_no_tools = !prober.text(Json::array({user})) && !prober.text(Json::array({user_parts}));
        if (can.null_for_no_tools) prober.no_tools = nullptr;
    }
    const auto plain = prober.text(Json::array({user}));
    can.text_content = plain && mentions(*plain, "hearthuser");
    const auto parts = prober.text(Json::array({user_parts}));
    can.parts_content =
        parts && mentions(*parts, "hearthuser") && !mentions(*parts, "'type'") && !mentions(*parts, "\"type\"");
    if (!can.text_content && !can.parts_content) can.text_content = true;
    const bool wrap = !can.text_content;
    const auto content = [&](const char* text) { return wrap ? textParts(text) : Json(text); };
    const Json user_message = message("user", content("hearthuser"));
    const auto bare = prober.text(Json::array({user_message}));
    can.writes_bos = bare && bare->starts_with(Prober::kBos);
    can.system_role = prober.shows(Json::array({message("system", content("hearthsystem")), user_message}),
                                   {"hearthsystem", "hearthuser"});
    can.developer_role =
        mentions(source(), "developer") &&
        prober.shows(Json::array({message("developer", content("hearthsystem")), user_message}), {"hearthsystem"});
    can.tools = prober.shows(Json::array({user_message}), {"hearthtool"}, Json{{"tools", toolDefinition()}});
    const Json object{{"hearthkey", "hearthvalue"}}, with_tools{{"tools", toolDefinition()}};
    const auto as_object = prober.text(toolCallMessages(object, wrap), with_tools);
    const auto as_string = prober.text(toolCallMessages(object.dump(), wrap), with_tools);
    const bool object_ok = as_object && mentions(*as_object, "hearthvalue") && !mentions(*as_object, "'hearthvalue'");
    const bool string_ok = as_string && mentions(*as_string, "hearthvalue") && !mentions(*as_string, "\\\"hearthvalue");
    can.arguments_as_object = object_ok || !string_ok;
    for (const char* name : {"enable_thinking", "thinking"}) {
        if (!mentions(source(), name)) continue;
        const auto on = prober.text(Json::array({user_message}), Json{{name, true}});
        const auto off = prober.text(Json::array({user_message}), Json{{name, false}});
        if (on && off && *on != *off) can.thinking_switches.emplace_back(name);
    }
    can.reasoning_effort = mentions(source(), "reasoning_effort");
    return can;
}

RenderedConversation ChatTemplate::renderConversation(const Conversation& conversation, const std::tm& now) const {
    for (const Json* json : {&conversation.messages, &conversation.tools, &conversation.extra}) checkDepth(*json);
    const TemplateCapabilities& can = capabilities();
    Adapter adapter(can, conversation.messages);
    adapter.run();
    Json context = conversation.extra.is_object() ? conversation.extra : Json::object();
    const bool has_tools = conversation.tools.is_array() && !conversation.tools.empty();
    context["tools"] = has_tools ? conversation.tools : can.null_for_no_tools ? Json() : Json::array();
    if (!context.contains("documents")) context["documents"] = nullptr;
    context["add_generation_prompt"] = conversation.add_generation_prompt;
    context["bos_token"] = conversation.bos_token;
    context["eos_token"] = conversation.eos_token;
    if (has_tools && !can.tools)
        adapter.note("This model's template has no place for tools, so the model does not see them.");
    if (conversation.enable_thinking) {
        for (const std::string& name : can.thinking_switches) context[name] = *conversation.enable_thinking;
        if (can.thinking_switches.empty() && !*conversation.enable_thinking && !can.reasoning_effort &&
            mentions(source(), "think"))
            adapter.note("This model's template cannot switch thinking off.");
    }
    // Each retry mends one thing that templates refuse; the first error is the one worth telling.
    using Mend = bool (Adapter::*)();
    constexpr Mend kMends[] = {&Adapter::fillContents, &Adapter::joinNeighbours, &Adapter::mergeSystem,
                               &Adapter::joinNeighbours, &Adapter::beginWithUser};
    std::exception_ptr first_error;
    for (size_t next = 0;;) {
        context["messages"] = adapter.messages();
        try {
            RenderedConversation out;
            static_cast<Rendered&>(out) = render(context, now);
            out.notes = adapter.takeNotes();
            return out;
        } catch (const TemplateError& error) {
            if (!first_error) first_error = std::current_exception();
            const size_t end = dynamic_cast<const TemplateRefusal*>(&error) ? std::size(kMends) : 1;
            while (next < end && !(adapter.*kMends[next])()) ++next;
            if (next++ >= end) std::rethrow_exception(first_error);
        }
    }
}

}  // namespace hearth::text
