#include "ui/worker/runtime_machine.h"

#include <QFileInfo>
#include <QMutex>
#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/base/thread_pool.h"
#include "engine/gpu/backend.h"
#include "engine/model/description.h"
#include "engine/placement/device_file.h"
#include "engine/placement/measure.h"
#include "engine/placement/plan.h"
#include "engine/runtime/hybrid/cards.h"
#include "ui/sentence.h"
#include "ui/worker/from_plan.h"
#include "ui/worker/placed.h"

namespace hearth::ui {
namespace {

QString fromStd(std::string_view s) { return QString::fromUtf8(s.data(), static_cast<qsizetype>(s.size())); }

/// Headers that are kept open, so that dragging a slider does not read one again and again.
constexpr size_t most_kept = 8;

/// Where the engine executes unasked. On no card has the self-test been seen to pass yet; in the terminal one can be chosen.
bool executesOn(placement::Kind kind) { return kind != placement::Kind::cuda; }

/// By general.file_type where a file has it (formats §1.6), else the type of most of its bytes.
QString quantOf(const gguf::File& file) {
    static const std::map<int64_t, const char*> names = {
        {0, "F32"},     {1, "F16"},     {2, "Q4_0"},    {3, "Q4_1"},    {7, "Q8_0"},    {8, "Q5_0"},    {9, "Q5_1"},
        {10, "Q2_K"},   {11, "Q3_K_S"}, {12, "Q3_K_M"}, {13, "Q3_K_L"}, {14, "Q4_K_S"}, {15, "Q4_K_M"}, {16, "Q5_K_S"},
        {17, "Q5_K_M"}, {18, "Q6_K"},   {21, "Q2_K_S"}, {25, "IQ4_NL"}, {30, "IQ4_XS"}, {32, "BF16"}};
    std::map<gguf::Type, uint64_t> bytes;
    for (const gguf::Tensor& tensor : file.tensors())
        if (tensor.n_dims > 1) bytes[tensor.type] += tensor.bytes;
    if (bytes.empty()) return {};
    const gguf::Type most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; })->first;
    const QString type = fromStd(gguf::typeInfo(most).name);
    const gguf::Value* const said = file.value("general.file_type");
    if (said == nullptr || said->isArray()) return type;
    const auto name = names.find(said->integer());
    if (name == names.end()) return type;
    // A file that says one thing and holds another is named by what it holds.
    const QString whole = QLatin1StringView(name->second);
    return whole.startsWith(type.left(2)) || whole.startsWith(QStringLiteral("IQ")) ? whole : type;
}

}  // namespace

struct RuntimeMachine::State {
    using Described = std::shared_ptr<const model::Description>;
    struct Kept {
        QString path;
        qint64 size, modified;
        Described model;
    };

    std::filesystem::path described, speeds_folder;
    unsigned threads;
    QMutex mutex;  ///< of what follows
    std::deque<Kept> kept;
    std::vector<placement::Device> cards;  ///< that can be planned for
    std::atomic<bool> discovered = false;
    bool measured = false;
    placement::Device cpu_speeds;  ///< measured

    Described describe(const QString& path) {
        const QFileInfo info(path);
        const qint64 modified = info.lastModified().toMSecsSinceEpoch();
        {
            const QMutexLocker lock(&mutex);
            const auto same = std::ranges::find(kept, path, &Kept::path);
            if (same != kept.end() && same->size == info.size() && same->modified == modified) return same->model;
        }
        auto model =
            std::make_shared<const model::Description>(model::Description::read(gguf::File::open(path.toStdString())));
        const QMutexLocker lock(&mutex);
        std::erase_if(kept, [&path](const Kept& one) { return one.path == path; });
        kept.push_back({path, info.size(), modified, model});
        if (kept.size() > most_kept) kept.pop_front();
        return model;
    }

    placement::Device processor() {
        placement::Device cpu = placement::cpuDevice();
        const QMutexLocker lock(&mutex);
        if (!measured) return cpu;
        placement::Device fast = cpu_speeds;
        fast.bytes_total = cpu.bytes_total;
        fast.bytes_free = cpu.bytes_free;
        return fast;
    }

    gpu::Discovery discover() {
        gpu::Discovery found = gpu::discover();
        std::optional<placement::DeviceFile> known;
        if (!described.empty()) known = placement::DeviceFile::read(described);
        const QMutexLocker lock(&mutex);
        cards = runtime::usableCards(found, known ? &*known : nullptr);
        discovered = true;
        return found;
    }

    /// In the order of `choices`, the processor first.
    std::vector<placement::Device> planned(const PlacementChoices& choices, bool executed) {
        std::vector<placement::Device> all{processor()};
        if (!discovered) discover();
        const QMutexLocker lock(&mutex);
        for (const placement::Device& card : cards)
            if (!choices.unused.contains(fromStd(card.name)) && (!executed || executesOn(card.kind)))
                all.push_back(card);
        std::stable_sort(all.begin() + 1, all.end(), [&](const placement::Device& a, const placement::Device& b) {
            const auto place = [&](const placement::Device& d) {
                const qsizetype at = choices.order.indexOf(fromStd(d.name));
                return at < 0 ? choices.order.size() : at;
            };
            return place(a) < place(b);
        });
        return all;
    }
};

RuntimeMachine::RuntimeMachine(const std::filesystem::path& described, const std::filesystem::path& speeds,
                               unsigned threads)
    : state_(std::make_unique<State>()) {
    state_->described = described;
    state_->speeds_folder = speeds.empty() ? placement::CpuSpeeds::defaultFolder() : speeds;
    state_->threads = threads;
}

RuntimeMachine::~RuntimeMachine() = default;

ModelFacts RuntimeMachine::read(const QString& path) {
    const auto model = state_->describe(path);
    const gguf::File& file = *model->file;
    ModelFacts facts;
    for (const auto& shard : file.shards()) facts.files << fromStd(shard.string());
    facts.name = QFileInfo(path).completeBaseName();
    facts.architecture = fromStd(file.string("general.architecture").value_or(""));
    facts.quant = quantOf(file);
    facts.licence = fromStd(file.string("general.license").value_or(""));
    facts.bytes = file.fileBytes();
    facts.parameters = model->parameters();
    facts.context = model->context;
    facts.layers = model->layers;
    bool zeros = false;
    for (uint layer = 0; layer < model->layers; ++layer) zeros = zeros || model->hasZeros(layer);
    facts.sparsity = zeros ? ModelFacts::Zeros : model->experts.count > 0 ? ModelFacts::Experts : ModelFacts::Dense;
    return facts;
}

QList<DeviceFacts> RuntimeMachine::devices() {
    const placement::Device cpu = state_->processor();
    QList<DeviceFacts> all{{.name = QStringLiteral("cpu"),
                            .description = {},
                            .bytes_total = cpu.bytes_total,
                            .bytes_free = cpu.bytes_free,
                            .computes = true,
                            .why_not = {},
                            .threads = state_->threads > 0 ? state_->threads : ThreadPool::physicalCores(),
                            .read_bytes_per_s = cpu.read_bytes_per_s}};
    const gpu::Discovery found = state_->discover();
    for (const gpu::Found& one : found.devices) {
        all.push_back({.name = fromStd(one.name),
                       .description = fromStd(one.description),
                       .bytes_total = one.bytes_total,
                       .bytes_free = one.bytes_free,
                       .graphics = true,
                       .computes = one.why_not.empty() && executesOn(runtime::kindOf(one)),
                       .why_not = fromStd(one.why_not)});
    }
    for (const std::string& note : found.notes)
        all.push_back({.name = {}, .description = {}, .graphics = true, .why_not = fromStd(note)});
    return all;
}

Prediction RuntimeMachine::predict(const QString& path, const PlacementChoices& choices, Effort effort, bool executed) {
    try {
        const auto model = state_->describe(path);
        runtime::LoadOptions load = placed(choices, state_->planned(choices, executed));
        load.effort = effort == Quick ? placement::Effort::greedy : placement::Effort::exact;
        const quint64 memory = choices.budgets.value(QStringLiteral("cpu"), load.devices[0].bytes_free);
        if (executed) return fromPlan(runtime::Model::planFor(*model, load), memory);
        const placement::Options options{.ctx = load.ctx, .budget = load.budget, .effort = load.effort};
        return fromPlan(placement::plan(*model, nullptr, load.devices, options), memory);
    } catch (const Error& error) {
        Prediction none;
        none.fit = Prediction::TooBig;
        none.problem = sentenceOf(error);
        return none;
    }
}

std::vector<placement::Device> RuntimeMachine::executing(const PlacementChoices& choices) {
    return state_->planned(choices, true);
}

void RuntimeMachine::measure() {
    ThreadPool pool(state_->threads);
    placement::CpuSpeeds speeds(pool, state_->speeds_folder);
    placement::Device cpu = placement::cpuDevice();
    std::set<gguf::Type> types;
    {
        const QMutexLocker lock(&state_->mutex);
        for (const State::Kept& one : state_->kept)
            for (const gguf::Type type : placement::weightTypes(*one.model->file)) types.insert(type);
    }
    const std::vector<gguf::Type> wanted(types.begin(), types.end());
    speeds.describe(cpu, wanted);
    const QMutexLocker lock(&state_->mutex);
    state_->cpu_speeds = cpu;
    state_->measured = true;
}

}  // namespace hearth::ui
