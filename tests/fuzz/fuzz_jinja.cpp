#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/text/chat_template.h"
#include "engine/text/markers.h"

/// Any bytes as a chat template, rendered with a small conversation; then what it printed, cut in two, through the tagger.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hearth::text;
    static const nlohmann::ordered_json context = {
        {"messages",
         {{{"role", "system"}, {"content", "Be brief. \xF0\x9F\x90\x88"}},
          {{"role", "user"}, {"content", "<|im_end|> 1 + 2?"}},
          {{"role", "assistant"},
           {"content", nullptr},
           {"tool_calls",
            {{{"type", "function"}, {"function", {{"name", "add"}, {"arguments", {{"a", 1}, {"b", 2.5}}}}}}}}}}},
        {"tools", {{{"type", "function"}, {"function", {{"name", "add"}, {"parameters", {{"type", "object"}}}}}}}},
        {"add_generation_prompt", true},
        {"bos_token", "<s>"},
        {"x", "a\tb \xC3\x9F"},
        {"n", 7},
        {"l", {3, 1, 2}}};
    std::tm now{};
    now.tm_year = 126;
    now.tm_mday = 30;
    const std::string source(reinterpret_cast<const char*>(data), size);
    try {
        const Rendered rendered = ChatTemplate::parse(source).render(context, now);
        std::string joined;
        for (const Segment& segment : rendered.segments) joined += segment.text;
        if (joined != rendered.text) __builtin_trap();
        Tagger tagger(findMarkers(source, ""));
        const size_t half = rendered.text.size() / 2;
        tagger.push(std::string_view(rendered.text).substr(0, half));
        tagger.push(std::string_view(rendered.text).substr(half));
        tagger.finish();
    } catch (const hearth::Error&) {
        // Refusing a template is what most inputs end with.
    }
    return 0;
}
