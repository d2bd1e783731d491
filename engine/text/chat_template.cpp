#include "engine/text/chat_template.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "engine/text/jinja/runtime.h"

namespace hearth::text {

namespace {

using jinja::Mark;
using jinja::Value;

/// Variables that hold the texts of special tokens: they come from the vocabulary.
constexpr std::array<std::string_view, 7> kTokenVariables = {"bos_token", "eos_token", "unk_token", "pad_token",
                                                             "sep_token", "cls_token", "mask_token"};

/// Some templates build a special token from the role ('<|' + role + '|>'), so the names that templates know are trusted.
constexpr std::array<std::string_view, 8> kRoles = {"system", "developer", "user",     "assistant",
                                                    "model",  "tool",      "function", "ipython"};

template <size_t n>
bool isOneOf(const std::array<std::string_view, n>& known, std::string_view name) {
    return std::find(known.begin(), known.end(), name) != known.end();
}

/// One message: as fromJson, but for a well-known role.
Value messageValue(const nlohmann::ordered_json& message) {
    if (!message.is_object()) return jinja::fromJson(message, Mark::Input);
    auto dict = std::make_shared<jinja::Dict>();
    for (const auto& [key, item] : message.items()) {
        const bool known_role =
            key == "role" && item.is_string() && isOneOf(kRoles, item.get_ref<const std::string&>());
        dict->set(Value::string(key, Mark::Input), jinja::fromJson(item, known_role ? Mark::Trusted : Mark::Input));
    }
    return jinja::DictPtr(std::move(dict));
}

Value variable(const std::string& name, const nlohmann::ordered_json& json) {
    if (name != "messages" || !json.is_array())
        return jinja::fromJson(json, isOneOf(kTokenVariables, name) ? Mark::Trusted : Mark::Input);
    std::vector<Value> messages;
    for (const auto& message : json) messages.push_back(messageValue(message));
    return std::make_shared<jinja::Sequence>(jinja::Sequence::Type::List, std::move(messages));
}

}  // namespace

struct ChatTemplate::Shared {
    std::string source;
    jinja::Program program;
    std::once_flag probed;
    TemplateCapabilities capabilities;
};

ChatTemplate ChatTemplate::parse(std::string source) {
    auto shared = std::make_shared<Shared>();
    shared->program = jinja::parse(source);
    shared->source = std::move(source);
    return ChatTemplate(std::move(shared));
}

const std::string& ChatTemplate::source() const noexcept { return shared_->source; }

const TemplateCapabilities& ChatTemplate::capabilities() const {
    std::call_once(shared_->probed, [&] { shared_->capabilities = probe(); });
    return shared_->capabilities;
}

Rendered ChatTemplate::render(const nlohmann::ordered_json& context, const std::tm& now) const {
    jinja::Limits limits;
    // Some templates look through all messages for each message.
    constexpr uint64_t kStepsPerMessage = 10'000;
    if (context.is_object() && context.contains("messages"))
        limits.steps += kStepsPerMessage * context["messages"].size();
    return render(context, now, limits);
}

Rendered ChatTemplate::render(const nlohmann::ordered_json& context, const std::tm& now,
                              const jinja::Limits& limits) const {
    jinja::Runtime runtime(limits, now);
    if (!context.is_object()) throw TemplateError(0, "its variables are not given as a JSON object");
    for (const auto& [name, json] : context.items()) runtime.setGlobal(name, variable(name, json));
    const jinja::TextPtr text = runtime.render(shared_->program);
    Rendered rendered{text->bytes(), {}};
    for (size_t at = 0; at < text->size();) {
        const size_t end = text->runEnd(at);
        rendered.segments.push_back({text->bytes().substr(at, end - at), text->markAt(at) == Mark::Trusted});
        at = end;
    }
    return rendered;
}

std::tm localTime() {
    const std::time_t now = std::time(nullptr);
    std::tm out{};
#ifdef _WIN32
    localtime_s(&out, &now);
#else
    localtime_r(&now, &out);
#endif
    return out;
}

}  // namespace hearth::text
