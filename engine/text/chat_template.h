#pragma once

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/error.h"

namespace hearth::text {

/// A stretch of rendered text. In a trusted one, which the template wrote itself, special-token text means the special
/// token; in any other one it is plain text that somebody typed.
struct Segment {
    std::string text;
    bool trusted = false;

    bool operator==(const Segment&) const = default;
};

struct Rendered {
    std::string text;
    /// Joined they are `text`; neighbours differ in `trusted`.
    std::vector<Segment> segments;
};

namespace jinja {
struct Program;
}

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

    const std::string& source() const noexcept { return source_; }

private:
    ChatTemplate(std::string source, std::shared_ptr<const jinja::Program> program)
        : source_(std::move(source)), program_(std::move(program)) {}

    std::string source_;
    std::shared_ptr<const jinja::Program> program_;
};

/// The local time of this moment, for ChatTemplate::render.
std::tm localTime();

}  // namespace hearth::text
