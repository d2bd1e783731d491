#include "engine/runtime/model.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/gpu/backend.h"
#include "engine/model/activation.h"
#include "engine/model/predictors.h"
#include "engine/runtime/hybrid/hybrid.h"

namespace hearth::runtime {

using text::Token;

namespace {

model::Description describe(std::shared_ptr<const gguf::File> file, const LoadOptions& options) {
    model::Description description = model::Description::read(std::move(file));
    description.relu_threshold = options.relu_threshold;
    if (options.activation) {
        description.architecture.activation = *options.activation;
        description.activation_source = model::ActivationSource::user;
    }
    return description;
}

/// The options without devices that cannot serve the model, and why.
LoadOptions withUsableDevices(const model::Description& description, LoadOptions options,
                              std::vector<std::string>& notes) {
    if (options.devices.size() < 2) return options;
    const std::string why = whyNotOnDevices(description, options.kv, options.sparse);
    if (why.empty()) return options;
    notes.push_back("The processor computes this model alone: " + why + ", which graphics devices cannot do yet.");
    std::erase_if(options.devices, [](const placement::Device& d) { return d.kind != placement::Kind::cpu; });
    std::erase_if(options.budget, [](const auto& budget) { return budget.first != "cpu"; });
    options.use.clear();
    return options;
}

}  // namespace

std::shared_ptr<Model> Model::load(const std::filesystem::path& path, const LoadOptions& options,
                                   const std::stop_token& stop) {
    throwIfStopped(stop);
    auto file = gguf::File::open(path);
    throwIfStopped(stop);
    return std::shared_ptr<Model>(new Model(std::move(file), options, stop));
}

Model::~Model() { build_stop_.request_stop(); }

placement::Plan Model::planFor(const model::Description& description, const LoadOptions& wanted,
                               const sparse::Profile* profile) {
    std::vector<std::string> notes;
    const LoadOptions options = withUsableDevices(description, wanted, notes);
    const placement::Device cpu = placement::cpuDevice();
    const std::span<const placement::Device> devices =
        options.devices.empty() ? std::span(&cpu, 1) : std::span(options.devices);
    return placement::plan(description, profile, devices,
                           {.ctx = options.ctx,
                            .batch = options.batch,
                            .kv = options.kv,
                            .sparse = options.sparse.mode,
                            .budget = options.budget,
                            .use = options.use,
                            .split = options.split,
                            .kv_with_layer = true,
                            .effort = options.effort});
}

Model::Model(std::shared_ptr<const gguf::File> file, LoadOptions options, const std::stop_token& stop)
    : description_(describe(file, options)),
      options_(withUsableDevices(description_, std::move(options), placement_notes_)),
      plan_(planFor(description_, options_)),
      weights_(description_, options_.sparse.mode),
      pool_(options_.threads),
      stop_build_(stop, [source = build_stop_]() mutable { source.request_stop(); }) {
    placeOnDevices();
    forward_ =
        std::make_unique<model::Forward>(description_, weights_, pool_, plan_.ctx, options_.batch, options_.sparse);
    if (hybrid_) forward_->place(hybrid_->placing());
    requirePredictors();
    if (options_.count_neurons) {
        counted_ = sparse::Profile(description_.layers);
        forward_->setProfile(&counted_);
    }
    // Building the merge tables of a large vocabulary takes a good part of a second, and only text needs them.
    tokenizer_ = std::async(std::launch::async, [file, ending = build_stop_.get_token()] {
                     return std::shared_ptr<const text::Tokenizer>(
                         std::make_shared<text::Tokenizer>(std::make_shared<text::Vocabulary>(file), ending));
                 }).share();
}

Preparation Model::preparation(unsigned threads) {
    return Preparation(description_, weights_, options_.sparse.mode, identity(), options_.sidecars, threads,
                       [this] { return tokenizer_.get(); });
}

void Model::use(Prepared prepared) {
    if (prepared.copies) weights_.useCopies(description_, std::move(prepared.copies));
    forward_->setDenseLayers(std::move(prepared.dense_layers));
}

std::string Model::prepare(MakePrepared make, const std::stop_token& stop, const Preparation::Progress& progress) {
    if (!Preparation::needed(description_, options_.sparse.mode)) return {};
    try {
        Prepared prepared = preparation(pool_.threads()).run(make, stop, progress);
        std::string problem = std::move(prepared.problem);
        use(std::move(prepared));
        return problem;
    } catch (const Error& error) {
        return error.what();
    }
}

void Model::prepareInBackground() {
    if (preparing_.joinable() || !Preparation::needed(description_, options_.sparse.mode)) return;
    prepared_share_ = 0;
    preparing_ = std::jthread([this, work = preparation(1)](const std::stop_token& stop) mutable {
        try {
            Prepared prepared = work.run(MakePrepared::yes, stop, [this](double share) { prepared_share_ = share; });
            const std::scoped_lock lock(prepared_mutex_);
            prepared_problem_ = std::exchange(prepared.problem, {});
            prepared_ = std::move(prepared);
        } catch (const Error& error) {
            const std::scoped_lock lock(prepared_mutex_);
            prepared_problem_ = error.what();
        } catch (const Stopped&) {
        }
        prepared_share_ = -1;
    });
}

std::string Model::takePreparationProblem() {
    const std::scoped_lock lock(prepared_mutex_);
    return std::exchange(prepared_problem_, {});
}

std::optional<double> Model::preparing() const {
    const double share = prepared_share_;
    return share < 0 ? std::nullopt : std::optional(share);
}

std::shared_ptr<void> Model::beginAnswer() {
    if (answers_.use_count() == 1) {
        const std::scoped_lock lock(prepared_mutex_);
        if (prepared_) use(*std::exchange(prepared_, std::nullopt));
    }
    return answers_;
}

/// Where less memory is free than the plan was made for (another program took it), the plan shrinks and the user is told.
void Model::placeOnDevices() {
    const auto onDevices = [this] {
        return plan_.output_device != "cpu" ||
               std::ranges::any_of(plan_.layers, [](const auto& l) { return l.attention_device != "cpu"; });
    };
    for (uint64_t share = 3; onDevices(); --share) {
        try {
            hybrid_ = std::make_unique<Hybrid>(
                description_, weights_, plan_,
                DeviceStepsOptions{.batch = options_.batch, .kv = options_.kv, .sparse = options_.sparse.mode},
                options_.open ? options_.open : OpenDevice(gpu::open));
            return;
        } catch (const gpu::OutOfDeviceMemory& error) {
            placement_notes_.push_back(std::string(error.what()) + " The model was placed anew with less.");
        }
        for (const placement::Device& device : options_.devices)
            if (device.kind != placement::Kind::cpu)
                options_.budget[device.name] = plan_.bytes(device.name) / 4 * share;
        plan_ = planFor(description_, options_);
    }
}

uint64_t Model::allocatedOn(std::string_view device) const { return hybrid_ ? hybrid_->allocated(device) : 0; }

std::vector<std::string> Model::warnings() const {
    std::vector<std::string> all = vocabulary().warnings();
    if (description_.activation_source == model::ActivationSource::name)
        all.push_back("the file does not say which activation its feed-forward has; going by its name it is " +
                      std::string(model::activationName(description_.architecture.activation)) +
                      " (--activation silu says otherwise)");
    return all;
}

const std::string& Model::identity() const {
    if (identity_.empty()) identity_ = sparse::identityOf(*description_.file);
    return identity_;
}

bool Model::usePredictors(std::string* why_not) {
    const auto calibration =
        sparse::Calibration::open(identity(), options_.sidecars, model::layerSizes(description_), why_not);
    if (calibration) forward_->setPredictors(std::make_shared<const model::Predictors>(calibration));
    return calibration != nullptr;
}

/// Modes that cannot run without a predictor or a calibration say so at once, not by being something else.
void Model::requirePredictors() {
    const sparse::Choice& choice = options_.sparse;
    const bool predict = choice.mode == sparse::Mode::predict;
    if (!predict && choice.mode != sparse::Mode::threshold) return;
    const bool own = description_.file->find("blk.0.fc1.weight") != nullptr, zeros = description_.activationHasZeros();
    if (predict && choice.predictor == sparse::Predictor::oracle) return;
    if (predict && !zeros)
        throw Error("cannot predict neurons of this model", "its activation leaves no zeros that could be skipped",
                    "Use --sparse threshold=0.05, which is lossy, or --sparse off");
    if (predict && choice.predictor == sparse::Predictor::file && !own)
        throw Error("cannot use the file's own predictor", "the file has none (blk.0.fc1.weight)",
                    "Use --sparse predict=lowrank after hearth-cli calibrate, or --sparse exact");
    if (predict && own && (choice.predictor == sparse::Predictor::best || choice.predictor == sparse::Predictor::file))
        return;
    std::string why_not;
    if (!usePredictors(&why_not))
        throw Error("this sparse mode needs a calibration of the model", why_not,
                    "Run hearth-cli calibrate with this model, or use --sparse exact");
}

std::optional<sparse::Profile> Model::profile() const {
    auto profile = sparse::Profile::open(identity(), options_.sidecars);
    if (profile && !profile->fits(model::neuronCounts(description_))) profile.reset();
    return profile;
}

void Model::keepProfile() {
    if (counted_.empty()) return;
    sparse::Profile all = profile().value_or(sparse::Profile(description_.layers));
    all.merge(counted_);
    all.save(identity(), options_.sidecars);
    counted_ = sparse::Profile(description_.layers);
}

std::unique_ptr<model::Sequence> Model::newSequence() const {
    auto sequence = std::make_unique<model::Sequence>(
        description_, model::SequenceOptions{.context = plan_.ctx,
                                             .batch = options_.batch,
                                             .kv = options_.kv,
                                             .elsewhere = hybrid_ ? hybrid_->layersElsewhere() : std::vector<bool>{}});
    if (hybrid_) hybrid_->prepare(*sequence);
    return sequence;
}

sampling::VocabularyView Model::vocabularyView() const {
    const text::Vocabulary& v = vocabulary();
    return {.size = v.size(),
            .bytes = [&v](Token t) { return std::string(v.pieceBytes(t)); },
            .is_end = [&v](Token t) { return v.isEog(t); },
            .is_control = [&v](Token t) { return v.isControl(t); }};
}

std::shared_ptr<const sampling::TokenTrie> Model::tokenTrie() {
    if (!token_trie_) token_trie_ = std::make_shared<sampling::TokenTrie>(vocabularyView());
    return token_trie_;
}

}  // namespace hearth::runtime
