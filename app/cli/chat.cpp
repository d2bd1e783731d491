#include <algorithm>
#include <cctype>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/interrupt.h"
#include "app/cli/line_reader.h"
#include "app/cli/reply_arguments.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    ReplyArguments reply;
};

constexpr std::string_view help =
    "/regen        answer the last message once more\n"
    "/system TEXT  tell the model who it is; without TEXT: forget that\n"
    "/clear        begin anew\n"
    "/quit         leave (as Ctrl-D does)\n"
    "Ctrl-C stops a reply; at an empty prompt, twice leaves. A line that ends in \\ goes on in the next one.";

/// A conversation in the terminal. Input that is no terminal is read as one message a line.
class Chat {
public:
    explicit Chat(const Arguments& arguments)
        : arguments_(arguments),
          interactive_(inputIsTerminal()),
          conversation_(loadModel(arguments.model)),
          options_(replyOptions(arguments.reply, conversation_.model())) {
        printWarnings(conversation_.model());
        for (const std::string& sentence : conversation_.notes()) note("note: " + sentence);
        setSystem(arguments.reply.system);
        if (interactive_) note(conversation_.model().description().name + ". /help says what can be done.");
    }

    void loop() {
        std::string line;
        while (true) {
            if (interactive_) print("\n> ");
            switch (lines_.next(line)) {
                case LineReader::Event::end: return leave();
                case LineReader::Event::interrupt:
                    if (interrupted_) return leave();
                    interrupted_ = true;
                    note("\nCtrl-C once more leaves.");
                    message_.clear();
                    continue;
                case LineReader::Event::line: break;
            }
            interrupted_ = false;
            if (!take(line)) return;
        }
    }

    runtime::Model& model() { return conversation_.model(); }

private:
    void leave() {
        if (interactive_) print("\n");
    }

    /// One line: a part of a message, a command, or a message. False to leave.
    bool take(std::string line) {
        if (line.ends_with('\\')) {
            line.back() = '\n';
            message_ += line;
            return true;
        }
        message_ += line;
        const std::string text = std::exchange(message_, {});
        if (text.find_first_not_of(" \t\n") == std::string::npos) return true;
        if (text.starts_with('/')) {
            const size_t end = std::min(text.find(' '), text.size());
            const std::string word = text.substr(1, end - 1), rest = text.substr(std::min(end + 1, text.size()));
            if (word == "quit" || word == "exit") return false;
            if (command(word, rest)) return true;
        }
        conversation_.messages().push_back({.role = "user", .content = text});
        reply();
        return true;
    }

    /// False when the line is no command but a message that begins with a slash, like a path.
    bool command(const std::string& word, const std::string& rest) {
        auto& messages = conversation_.messages();
        if (word == "help") {
            note(help);
        } else if (word == "clear") {
            std::erase_if(messages, [](const runtime::Message& m) { return m.role != "system"; });
        } else if (word == "system") {
            setSystem(rest);
        } else if (word == "regen") {
            if (!messages.empty() && messages.back().role == "assistant") messages.pop_back();
            if (messages.empty() || messages.back().role != "user") note("There is no message to answer yet.");
            else reply();
        } else if (std::ranges::all_of(word, [](unsigned char c) { return std::isalpha(c) != 0; })) {
            note("There is no command /" + word + ". /help says what there is.");
        } else {
            return false;
        }
        return true;
    }

    void setSystem(const std::string& text) {
        auto& messages = conversation_.messages();
        if (!messages.empty() && messages.front().role == "system") messages.erase(messages.begin());
        if (!text.empty()) messages.insert(messages.begin(), {.role = "system", .content = text});
    }

    void reply() {
        if (!arguments_.reply.generation.set_by_user.contains("seed")) ++options_.generation.sampling.seed;
        ReplyPrinter printer(interactive_ || arguments_.reply.show_thinking);
        try {
            const InterruptibleWork work;
            const runtime::Reply reply = conversation_.reply(
                options_, [&printer](const text::Piece& piece) { printer.print(piece); }, work.token());
            interrupted_ = work.stopped();
            printer.finish();
            if (!interactive_) print("\n");
            tell(reply);
        } catch (const Error& error) {
            printer.finish();
            // Nobody is there to try again when the messages come from a file.
            if (!interactive_) throw;
            note(error.what());
            conversation_.messages().pop_back();
        }
    }

    static void tell(const runtime::Reply& reply) {
        for (const std::string& sentence : reply.notes) note("note: " + sentence);
        if (const std::string sentence = endSentence(reply.reason); !sentence.empty()) note(sentence);
        if (errorIsTerminal()) note("[" + speedSentence(reply.statistics) + "]");
    }

    const Arguments& arguments_;
    bool interactive_, interrupted_ = false;
    runtime::Conversation conversation_;
    runtime::ReplyOptions options_;
    InterruptListener listener_;   // also between a reply and the next line
    LineReader lines_;
    std::string message_;
};

}  // namespace

void addChat(CLI::App& app) {
    auto* command = app.add_subcommand("chat", "Talk with a model in the terminal");
    auto arguments = std::make_shared<Arguments>();
    addModelArguments(*command, arguments->model, true);
    arguments->model.load.count_neurons = true;
    addReplyArguments(*command, arguments->reply);
    command->footer("In the conversation:\n" + std::string(help));
    command->callback([arguments] {
        Chat chat(*arguments);
        chat.loop();
        keepProfile(chat.model());
    });
}

}  // namespace hearth::cli
