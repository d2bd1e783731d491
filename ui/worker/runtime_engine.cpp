#include "ui/worker/runtime_engine.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <chrono>
#include <deque>

#include "engine/base/error.h"
#include "engine/cpu/isa.h"
#include "engine/runtime/conversation.h"
#include "ui/worker/from_plan.h"
#include "ui/worker/placed.h"
#include "ui/worker/resident.h"

namespace hearth::ui {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct EngineWords {
    Q_DECLARE_TR_FUNCTIONS(RuntimeEngine)
};

QString fromStd(const std::string& s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

QStringList fromStd(const std::vector<std::string>& sentences) {
    QStringList all;
    for (const std::string& s : sentences) all << fromStd(s);
    return all;
}

Channel channelOf(text::Tag tag) {
    switch (tag) {
        case text::Tag::Answer: return Channel::Answer;
        case text::Tag::Thinking: return Channel::Thinking;
        case text::Tag::ToolCall: return Channel::ToolCall;
    }
    return Channel::Answer;
}

std::string roleName(Role role) {
    switch (role) {
        case Role::System: return "system";
        case Role::User: return "user";
        case Role::Assistant: return "assistant";
    }
    return {};
}

sampling::Parameters chosen(const ReplyChoices& choices, sampling::Parameters of_file) {
    of_file.temperature = choices.temperature.value_or(of_file.temperature);
    of_file.top_k = choices.top_k.value_or(of_file.top_k);
    of_file.top_p = choices.top_p.value_or(of_file.top_p);
    of_file.min_p = choices.min_p.value_or(of_file.min_p);
    of_file.penalty_repeat = choices.repeat_penalty.value_or(of_file.penalty_repeat);
    return of_file;
}

/// Tokens per second of the last second.
class Speed {
public:
    double after(uint32_t tokens, double now) {
        marks_.emplace_back(now, tokens);
        while (marks_.size() > 2 && now - marks_.front().first > 1.0) marks_.pop_front();
        const auto [begin, first] = marks_.front();
        return now > begin ? (tokens - first) / (now - begin) : 0;
    }

private:
    std::deque<std::pair<double, uint32_t>> marks_;
};

}  // namespace

struct RuntimeEngine::Loaded {
    std::shared_ptr<runtime::Model> model;
    runtime::Conversation conversation;
    sampling::Parameters sampling;   ///< what the file recommends
    quint64 resident_before = 0;     ///< bytes of this program in main memory before the model was loaded

    explicit Loaded(std::shared_ptr<runtime::Model> m)
        : model(m), conversation(std::move(m)), sampling(sampling::fromGguf(*model->description().file, {})) {}

    /// Graphics devices that the model lies on, with what their allocators count.
    QMap<QString, quint64> allocated() const {
        QMap<QString, quint64> all;
        for (const placement::Part& part : model->plan().parts)
            if (const quint64 bytes = model->allocatedOn(part.device); bytes > 0)
                all[QString::fromStdString(part.device)] = bytes;
        return all;
    }

    Statistics statistics(const runtime::Generation& generation, uint32_t used) const {
        const runtime::GenerationStatistics& s = generation.statistics();
        Statistics now;
        now.prompt_computed = s.prompt_tokens - std::min(s.prompt_tokens, s.reused_tokens);
        now.prompt_seconds = s.prefill_s;
        const auto& neurons = model->forward().measurements().neurons;
        now.neurons = neurons.all;
        now.neurons_computed = neurons.added;
        now.prompt_tokens = s.prompt_tokens;
        now.prompt_done =
            s.generated_tokens > 0
                ? s.prompt_tokens
                : s.prompt_tokens -
                      std::min<uint32_t>(s.prompt_tokens, static_cast<uint32_t>(generation.pending().size()));
        now.tokens = s.generated_tokens;
        now.context = model->context();
        now.context_used = used;
        return now;
    }
};

RuntimeEngine::RuntimeEngine(Devices devices) : devices_(std::move(devices)) {}
RuntimeEngine::~RuntimeEngine() = default;

ModelInfo RuntimeEngine::load(const QString& path, const LoadOptions& options, std::stop_token stop) {
    const quint64 resident = residentBytes(),
                  before = loaded_ ? std::min(resident, loaded_->resident_before) : resident;
    runtime::LoadOptions load =
        placed(options.placement, devices_ ? devices_(options.placement) : std::vector{placement::cpuDevice()});
    if (options.ctx > 0) load.ctx = options.ctx;
    load.threads = options.threads;
    auto model = runtime::Model::load(path.toStdString(), load, stop);
    throwIfStopped(stop);
    auto fresh = std::make_unique<Loaded>(std::move(model));
    throwIfStopped(stop);
    fresh->resident_before = before;
    loaded_ = std::move(fresh);
    loaded_->model->prepareInBackground();   // what skipping zeros needs, for the next answers

    const runtime::Model& m = *loaded_->model;
    const uint threads = loaded_->model->pool().threads();
    ModelInfo info;
    info.path = path;
    info.name = QFileInfo(path).completeBaseName();   // what general.name says is often a training run
    for (const QString& name : loaded_->allocated().keys()) info.device += name + QStringLiteral(", ");
    info.device += QStringLiteral("cpu, %1, ").arg(QString::fromLatin1(cpu::isaName(cpu::activeIsa()).data())) +
                   (threads == 1 ? EngineWords::tr("1 thread") : EngineWords::tr("%1 threads").arg(threads));
    for (const placement::Part& part : m.plan().parts) info.bytes += part.bytes;
    info.context = m.context();
    info.plan = fromPlan(m.plan(), options.placement.budgets.value(QStringLiteral("cpu"), ~quint64{0}));
    info.can_think = !loaded_->conversation.chatTemplate().capabilities().thinking_switches.empty();
    info.count_tokens = [tokenizer = m.sharedTokenizer()](const QString& typed) {
        return static_cast<uint>(tokenizer->encode(typed.toStdString(), {.add_special = false}).size());
    };
    info.notes = fromStd(m.warnings()) + fromStd(m.placementNotes()) + fromStd(loaded_->conversation.notes());
    if (m.plan().limit.starts_with("main memory")) info.notes << fromStd(m.plan().limit) + QLatin1Char('.');
    return info;
}

void RuntimeEngine::unload() { loaded_.reset(); }

Outcome RuntimeEngine::reply(const QList<ChatMessage>& messages, const ReplyOptions& options, const Listener& listener,
                             std::stop_token stop) {
    if (!loaded_)
        throw Error(EngineWords::tr("nobody can answer").toStdString(),
                    EngineWords::tr("no model is loaded").toStdString(),
                    EngineWords::tr("Open a model file").toStdString());
    const auto begin = Clock::now();
    runtime::Conversation& conversation = loaded_->conversation;
    conversation.messages().clear();
    for (const ChatMessage& m : messages)
        conversation.messages().push_back({roleName(m.role), m.text.toStdString(), m.thinking.toStdString()});

    runtime::ReplyOptions reply;
    reply.generation.sampling = chosen(options.choices, loaded_->sampling);
    reply.generation.sampling.seed = options.seed;
    reply.generation.max_tokens = options.choices.max_tokens.value_or(-1);
    reply.enable_thinking = options.choices.thinking;
    reply.resume = options.resumes;
    // Old messages leave the prompt, in words, when they no longer fit; a reply itself ends where the context does.
    reply.generation.overflow = runtime::Overflow::shift;
    loaded_->model->forward().measurements().reset(false);
    runtime::Generation& generation = conversation.begin(
        reply, [&listener](const text::Piece& piece) { listener.text({channelOf(piece.tag), fromStd(piece.text)}); });

    const auto used = [&] { return generation.session().sequence().length(); };
    Outcome outcome;
    Speed speed;
    Matrix<float> logits;
    runtime::Generation* const all[] = {&generation};
    listener.statistics(loaded_->statistics(generation, used()));
    while (runtime::runPass(*loaded_->model, all, logits, stop)) {
        Statistics now = loaded_->statistics(generation, used());
        now.seconds = secondsSince(begin);
        now.tokens_per_s = now.tokens > 0 ? speed.after(now.tokens, now.seconds) : 0;
        listener.statistics(now);
        if (now.tokens > 0 && !generation.done() && used() + generation.pending().size() >= now.context) {
            outcome.end = End::ContextFull;
            generation.stop();
        }
    }
    const uint32_t positions = used();
    outcome.statistics = loaded_->statistics(generation, positions);
    const runtime::Reply end = conversation.finish();
    outcome.statistics.seconds = secondsSince(begin);
    if (const quint64 resident = residentBytes(); resident > loaded_->resident_before)
        outcome.statistics.counted[QStringLiteral("cpu")] = resident - loaded_->resident_before;
    outcome.statistics.counted.insert(loaded_->allocated());
    if (end.statistics.generated_tokens > 1 && end.statistics.decode_s > 0)
        outcome.statistics.tokens_per_s = (end.statistics.generated_tokens - 1) / end.statistics.decode_s;
    outcome.notes = fromStd(end.notes);
    outcome.left_out = static_cast<uint>(end.left_out);
    if (end.reason == runtime::EndReason::max_tokens) outcome.end = End::TokenLimit;
    if (end.reason == runtime::EndReason::context_full) outcome.end = End::ContextFull;
    return outcome;
}

}  // namespace hearth::ui
