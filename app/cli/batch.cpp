#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/interrupt.h"
#include "app/cli/reply_arguments.h"
#include "app/cli/terminal.h"
#include "engine/base/error.h"

namespace hearth::cli {
namespace {

struct Arguments {
    ModelArguments model;
    ReplyArguments reply;
    std::string prompts_file;
    uint32_t parallel = 4;
    bool raw = false, json = false;
};

struct Answer {
    std::string text;
    runtime::EndReason reason = runtime::EndReason::none;
    uint32_t tokens = 0;
};

/// One a line, or a JSON list of strings. Empty lines are left out.
std::vector<std::string> promptsOf(const std::string& path) {
    const std::string text = readFile(path);
    const auto json = nlohmann::json::parse(text, nullptr, false);
    std::vector<std::string> prompts;
    if (json.is_array()) {
        for (const auto& one : json) {
            if (!one.is_string()) throw Error("cannot use " + path, "it is a JSON list, but not of strings");
            prompts.push_back(one.get<std::string>());
        }
    } else {
        prompts = splitLines(text);
    }
    std::erase_if(prompts,
                  [](const std::string& prompt) { return prompt.find_first_not_of(" \t") == std::string::npos; });
    if (prompts.empty()) throw Error("nothing to answer", path + " holds no prompts", "Write one a line");
    return prompts;
}

/// One prompt being answered: a session of its own, so that it is answered as if it were alone.
class Job {
public:
    virtual ~Job() = default;
    virtual runtime::Generation& generation() = 0;
    virtual Answer finish() = 0;
};

class RawJob : public Job {
public:
    RawJob(const std::shared_ptr<runtime::Model>& model, const std::string& prompt,
           const runtime::ReplyOptions& options)
        : session_(model), generation_(session_, model->tokenizer().encode(prompt), options.generation, {}) {}
    runtime::Generation& generation() override { return generation_; }
    Answer finish() override {
        return {generation_.text(), generation_.reason(), generation_.statistics().generated_tokens};
    }

private:
    runtime::Session session_;
    runtime::Generation generation_;
};

class ReplyJob : public Job {
public:
    ReplyJob(const std::shared_ptr<runtime::Model>& model, const std::string& prompt,
             const runtime::ReplyOptions& options, const std::string& system)
        : conversation_(model) {
        if (!system.empty()) conversation_.messages().push_back({.role = "system", .content = system});
        conversation_.messages().push_back({.role = "user", .content = prompt});
        generation_ = &conversation_.begin(options, {});
    }
    runtime::Generation& generation() override { return *generation_; }
    Answer finish() override {
        const runtime::Reply reply = conversation_.finish();
        return {reply.message.content, reply.reason, reply.statistics.generated_tokens};
    }
    const std::vector<std::string>& notes() const { return conversation_.notes(); }

private:
    runtime::Conversation conversation_;
    runtime::Generation* generation_ = nullptr;
};

/// Answers all prompts, `parallel` of them in each pass; when one is done the next takes its place.
class Batch {
public:
    Batch(const Arguments& arguments, std::vector<std::string> prompts)
        : arguments_(arguments),
          prompts_(std::move(prompts)),
          model_(loadModel(arguments.model)),
          options_(replyOptions(arguments.reply, *model_)),
          answers_(prompts_.size()) {
        printWarnings(*model_);
    }

    void run() {
        const InterruptibleWork work;
        Progress progress("answering");
        Matrix<float> logits;
        while (refill()) {
            std::vector<runtime::Generation*> generations;
            for (const Slot& slot : slots_) generations.push_back(&slot.job->generation());
            runtime::runPass(*model_, generations, logits, work.token());
            if (work.stopped()) throw Stopped();
            progress.show(static_cast<double>(next_ - slots_.size()) / static_cast<double>(prompts_.size()));
            collect();
        }
    }

private:
    struct Slot {
        size_t prompt;
        std::unique_ptr<Job> job;
    };

    std::unique_ptr<Job> begin(const std::string& prompt) {
        if (arguments_.raw) return std::make_unique<RawJob>(model_, prompt, options_);
        auto job = std::make_unique<ReplyJob>(model_, prompt, options_, arguments_.reply.system);
        if (next_ == 0)
            for (const std::string& sentence : job->notes()) note("note: " + sentence);
        return job;
    }

    /// False when nothing is left to do.
    bool refill() {
        for (; slots_.size() < arguments_.parallel && next_ < prompts_.size(); ++next_) {
            try {
                slots_.push_back({next_, begin(prompts_[next_])});
            } catch (const Error& error) {
                throw Error("cannot answer prompt " + std::to_string(next_ + 1),
                            error.whatFailed() + ": " + error.why(), error.nextStep());
            }
        }
        return !slots_.empty();
    }

    void collect() {
        for (Slot& slot : slots_)
            if (slot.job->generation().done()) answers_[slot.prompt] = slot.job->finish();
        std::erase_if(slots_,
                      [this](const Slot& slot) { return answers_[slot.prompt].reason != runtime::EndReason::none; });
        show();
    }

    /// In the order of the prompts, as soon as all before are there.
    void show() {
        for (; shown_ < answers_.size() && answers_[shown_].reason != runtime::EndReason::none; ++shown_) {
            const Answer& answer = answers_[shown_];
            if (!arguments_.json) {
                print((shown_ > 0 ? "\n" : "") + std::string("> ") + prompts_[shown_] + "\n" + answer.text + "\n");
                continue;
            }
            const nlohmann::ordered_json one{{"prompt", prompts_[shown_]},
                                             {"answer", answer.text},
                                             {"end", runtime::endReasonName(answer.reason)},
                                             {"tokens", answer.tokens}};
            print((shown_ == 0 ? "[\n" : ",\n") +
                  one.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                  (shown_ + 1 == answers_.size() ? "\n]\n" : ""));
        }
    }

    const Arguments& arguments_;
    std::vector<std::string> prompts_;
    std::shared_ptr<runtime::Model> model_;
    runtime::ReplyOptions options_;
    std::vector<Answer> answers_;
    std::vector<Slot> slots_;
    size_t next_ = 0, shown_ = 0;
};

}  // namespace

void addBatch(CLI::App& app) {
    auto* command = app.add_subcommand("batch", "Answer many prompts at once");
    auto arguments = std::make_shared<Arguments>();
    addModelArguments(*command, arguments->model);
    command->add_option("--prompts-file", arguments->prompts_file, "Prompts: one a line, or a JSON list of strings")
        ->required()
        ->type_name("FILE");
    command->add_option("--parallel", arguments->parallel, "Prompts answered at the same time; also -np (default 4)")
        ->check(between(1u, 256u))
        ->type_name("N");
    command->add_flag("--raw", arguments->raw, "Continue the prompts as they are, without a chat template");
    addJson(*command, arguments->json);
    addReplyArguments(*command, arguments->reply);
    command->callback([arguments] { Batch(*arguments, promptsOf(arguments->prompts_file)).run(); });
}

}  // namespace hearth::cli
