#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"
#include "engine/gguf/file.h"
#include "engine/text/chat_template.h"

namespace hearth::cli {
namespace {

struct Arguments {
    std::string path, context, now;
};

/// A moment written as 2026-11-30T09:05:00.
std::tm parseMoment(const std::string& text) {
    std::tm moment = {};
    int* const fields[] = {&moment.tm_year, &moment.tm_mon, &moment.tm_mday,
                           &moment.tm_hour, &moment.tm_min, &moment.tm_sec};
    const std::string_view shape = "0000-00-00T00:00:00";
    bool good = text.size() == shape.size();
    for (size_t i = 0; good && i < shape.size(); ++i)
        good = shape[i] == '0' ? std::isdigit(static_cast<unsigned char>(text[i])) != 0 : text[i] == shape[i];
    if (!good) refuseArgument("--now", "\"" + text + "\" is no time like 2026-11-30T09:05:00");
    const char* at = text.data();
    for (int* field : fields) at = std::from_chars(at, text.data() + text.size(), *field).ptr + 1;
    moment.tm_year -= 1900;
    moment.tm_mon -= 1;
    moment.tm_isdst = -1;
    const std::tm written = moment;
    // Fills in the day of the week and of the year, and moves days that no month has.
    if (std::mktime(&moment) == -1 || moment.tm_mon != written.tm_mon || moment.tm_mday != written.tm_mday)
        refuseArgument("--now", "there is no day like in \"" + text + "\"");
    return moment;
}

/// A template in a file of its own, or the one of a model.
std::string templateSource(const std::string& path) {
    if (!path.ends_with(".gguf")) return readFile(path);
    const auto file = gguf::File::open(path);
    const auto source = file->string("tokenizer.chat_template");
    if (!source) throw Error("cannot render the chat template", path + " has none");
    return std::string(*source);
}

nlohmann::ordered_json readContext(const std::string& path) {
    try {
        auto context = nlohmann::ordered_json::parse(readFile(path));
        if (!context.is_object())
            throw Error("cannot use " + path, "it is no JSON object with the template's variables");
        return context;
    } catch (const nlohmann::json::exception& error) {
        throw Error("cannot read " + path, std::string("it is no JSON (") + error.what() + ")");
    }
}

void renderTemplate(const Arguments& arguments) {
    const std::tm now = arguments.now.empty() ? text::localTime() : parseMoment(arguments.now);
    const text::ChatTemplate chat_template = text::ChatTemplate::parse(templateSource(arguments.path));
    print(chat_template.render(readContext(arguments.context), now).text);
}

}  // namespace

void addTemplate(CLI::App& app) {
    auto* command = app.add_subcommand("template", "Render a chat template");
    auto arguments = std::make_shared<Arguments>();
    command->add_option("file", arguments->path, "A Jinja template, or a model (.gguf) that has one")
        ->required()
        ->type_name("FILE");
    command
        ->add_option("--context", arguments->context,
                     "JSON object with its variables: messages, tools, add_generation_prompt ...")
        ->required()
        ->type_name("FILE");
    command->add_option("--now", arguments->now, "The time that the template sees, like 2026-11-30T09:05:00")
        ->type_name("TIME");
    command->callback([arguments] { renderTemplate(*arguments); });
}

}  // namespace hearth::cli
